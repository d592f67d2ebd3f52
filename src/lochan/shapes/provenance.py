# SPDX-License-Identifier: Apache-2.0
"""Where commits and files came from, and what came of them."""

from typing import Annotated, Literal

from msgspec import Meta, Struct


class ProvenanceQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which way to go, and from which file."""

    direction: Annotated[
        Literal["up", "down"], Meta(description="To what made it, or to what was made of it.")
    ] = "up"
    path: Annotated[
        str, Meta(max_length=1024, description="A file of the commit; empty for the whole.")
    ] = ""


class KnownCommit(Struct, frozen=True, kw_only=True):
    """A commit of the graph."""

    repository: str
    commit: str
    job: Annotated[str, Meta(description="The job that made it, if one did.")]
    pipeline: str
    message: str
    is_there: Annotated[bool, Meta(description="False where only its name is left.")]


class ProvenanceEdge(Struct, frozen=True, kw_only=True):
    """That one commit was made of another: both repository@commit."""

    source: str
    made: str
    input: str
    glob: str


class FilePlace(Struct, frozen=True, kw_only=True):
    """A file, or a folder that ends with a slash, in a commit."""

    repository: str
    commit: str
    path: str
    input: str


class FileStep(Struct, frozen=True, kw_only=True):
    """A datum: the files that it read and the files that it wrote."""

    datum: str
    job: str
    pipeline: str
    repository: str
    commit: str
    sources: list[FilePlace]
    results: list[FilePlace]


class ProvenanceGraph(Struct, frozen=True, kw_only=True):
    """Commits, each after all that it was made of; for a file, the datums that touched it."""

    start: str
    direction: Literal["up", "down"]
    commits: list[KnownCommit]
    edges: list[ProvenanceEdge]
    files: Annotated[list[FileStep], Meta(description="For a file: what was done with it.")]
    svg: Annotated[str, Meta(description="The graph as a picture.")]
    dot: Annotated[str, Meta(description="The graph for Graphviz.")]
