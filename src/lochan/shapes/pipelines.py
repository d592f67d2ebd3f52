# SPDX-License-Identifier: Apache-2.0
"""Pipelines: said as YAML with the files of their code, shown with what they run."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from lochan.shapes.fields import Timestamp
from lochan.shapes.pages import Pagination

PipelineName = Annotated[
    str,
    Meta(
        pattern="^[a-z0-9][a-z0-9-]{0,62}$",
        min_length=1,
        max_length=63,
        description="Name of a pipeline: lower-case letters, digits and hyphens.",
        examples=["thumbs"],
    ),
]


class PipelineCreation(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A pipeline to be made, or to become what an existing one is."""

    spec: Annotated[
        str, Meta(min_length=1, max_length=1 << 20, description="The spec, in YAML or JSON.")
    ]
    files: Annotated[
        dict[str, str],
        Meta(description="Files of its code by their paths, each in base64."),
    ] = {}


class PipelineUpdateQuery(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """How a pipeline is updated."""

    reprocess: Annotated[bool, Meta(description="Run every datum again.")] = False


class Pipeline(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A pipeline as it is now."""

    pipeline: PipelineName
    version: Annotated[str, Meta(description="Hash of spec and code.")]
    state: Annotated[
        Literal["active", "paused"], Meta(description="Whether new commits start jobs.")
    ]
    created: Timestamp
    updated: Timestamp
    principal: Annotated[str, Meta(description="Who made it.")]
    spec: Annotated[dict[str, Any], Meta(description="What it says, with all defaults.")]
    digest: Annotated[str, Meta(description="What datums go by: another one runs them again.")]
    hashed: Annotated[list[str], Meta(description="Files of the code that are in the digest.")]


class PipelineList(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A page of pipelines, by name."""

    pagination: Pagination
    results: list[Pipeline]


class PipelineState(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether new commits start jobs."""

    state: Annotated[
        Literal["active", "paused"], Meta(description="Whether new commits start jobs.")
    ]


class PipelineCheck(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a pipeline would do on the newest commits of its inputs."""

    pipeline: PipelineName
    datums: Annotated[int, Meta(ge=0, description="How many datums its inputs give.")]
    first: Annotated[list[list[str]], Meta(description="What the first few of them read.")]
    hashed: Annotated[list[str], Meta(description="Files of the code that are in the digest.")]
    notes: Annotated[list[str], Meta(description="What to look at before it is made.")]


class GraphNode(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A pipeline in the graph: what it reads and writes, repository@branch."""

    pipeline: PipelineName
    reads: Annotated[list[str], Meta(description="Branches it reads.")]
    triggers: Annotated[list[str], Meta(description="Those on which a commit starts it.")]
    writes: Annotated[str, Meta(description="The branch that it owns.")]
    paused: Annotated[bool, Meta(description="Whether it rests.")]


class PipelineGraph(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All pipelines, those that write before those that read."""

    version: Annotated[str, Meta(description="Hash of all versions in it.")]
    nodes: list[GraphNode]
    dot: Annotated[str, Meta(description="The same for Graphviz.")]


class RunRequest(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A run that somebody asks for."""

    key: Annotated[
        str, Meta(max_length=256, description="Requests with one key are one run; drawn if empty.")
    ] = ""
    branch: Annotated[
        str,
        Meta(
            pattern="^([A-Za-z0-9_][A-Za-z0-9_-]*)?$",
            description="Read inputs that have this branch there, and write all outputs there.",
        ),
    ] = ""
    commits: Annotated[
        dict[str, str], Meta(description="Refs that inputs are fixed to, by the inputs' names.")
    ] = {}
