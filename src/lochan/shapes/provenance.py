# SPDX-License-Identifier: Apache-2.0
"""Where commits and files came from, and what came of them."""

from typing import Annotated, Literal

from msgspec import Meta, Struct


class Provenance(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One input of the work that made a commit."""

    repository_id: Annotated[str, Meta(min_length=1, description="The input's repository.")]
    commit_id: Annotated[str, Meta(min_length=1, description="Hash of the commit that was read.")]
    input: Annotated[str, Meta(description="The input's name in its pipeline.")] = ""
    glob: Annotated[str, Meta(description="Which of the input's files were read.")] = ""
    meta_range_id: Annotated[str, Meta(description="The tree that was read.")] = ""


AllProvenance = Annotated[
    list[Provenance],
    Meta(description="All that it was made of, near and far; inputs before what they made."),
]
DirectProvenance = Annotated[
    list[Provenance], Meta(description="What it was made of at once, as it is stored.")
]


class ProvenanceQuery(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """Which way to go, and from which file."""

    direction: Annotated[
        Literal["up", "down"], Meta(description="To what made it, or to what was made of it.")
    ] = "up"
    path: Annotated[
        str, Meta(max_length=1024, description="A file of the commit; empty for the whole.")
    ] = ""


class KnownCommit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A commit of the graph."""

    repository: Annotated[str, Meta(description="The commit's repository.")]
    commit: Annotated[str, Meta(description="Its hash.")]
    job: Annotated[str, Meta(description="The job that made it, if one did.")]
    pipeline: Annotated[str, Meta(description="Whose job it was.")]
    message: Annotated[str, Meta(description="What it says of itself.")]
    is_there: Annotated[bool, Meta(description="False where only its name is left.")]


class ProvenanceEdge(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """That one commit was made of another: both repository@commit."""

    source: Annotated[str, Meta(description="The input, repository@commit.")]
    made: Annotated[str, Meta(description="What was made of it.")]
    input: Annotated[str, Meta(description="The input's name in its pipeline.")]
    glob: Annotated[str, Meta(description="Which of the input's files were read.")]


class FilePlace(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file, or a folder that ends with a slash, in a commit."""

    repository: Annotated[str, Meta(description="The file's repository.")]
    commit: Annotated[str, Meta(description="The commit that has it.")]
    path: Annotated[str, Meta(description="The file, or a folder that ends with a slash.")]
    input: Annotated[str, Meta(description="The input's name, of what was read.")]


class FileStep(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A datum: the files that it read and the files that it wrote."""

    datum: Annotated[str, Meta(description="Hash of what the datum read.")]
    job: Annotated[str, Meta(description="The job that ran it.")]
    pipeline: Annotated[str, Meta(description="Whose job it was.")]
    repository: Annotated[str, Meta(description="Where it wrote.")]
    commit: Annotated[str, Meta(description="The commit that has what it wrote.")]
    sources: list[FilePlace]
    results: list[FilePlace]


class ProvenanceGraph(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Commits, each after all that it was made of; for a file, the datums that touched it."""

    start: Annotated[str, Meta(description="The commit that was asked for, repository@commit.")]
    direction: Annotated[Literal["up", "down"], Meta(description="Which way was gone.")]
    commits: list[KnownCommit]
    edges: list[ProvenanceEdge]
    files: Annotated[list[FileStep], Meta(description="For a file: what was done with it.")]
    svg: Annotated[str, Meta(description="The graph as a picture.")]
    dot: Annotated[str, Meta(description="The graph for Graphviz.")]
