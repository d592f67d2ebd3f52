# SPDX-License-Identifier: Apache-2.0
"""`lochan provenance`: where a commit or a file came from, and what came of it."""

from collections.abc import Iterator
from enum import Enum
from typing import Annotated

import typer

from lochan.cli.on_lake import on_lake
from lochan.cli.show import Show
from lochan.cli.verb import new_app
from lochan.client.lake import Lake
from lochan.errors import InvalidInput
from lochan.pipelines.lineage.drawn import tree_lines
from lochan.pipelines.lineage.provenance import Edge, Graph, Known
from lochan.shapes.provenance import FileStep, ProvenanceGraph

app = new_app()


class Form(Enum):
    """How a graph is shown."""

    TREE = "tree"
    DOT = "dot"
    SVG = "svg"


@on_lake(app, "provenance")
def provenance(
    show: Show,
    lake: Lake,
    address: Annotated[
        str, typer.Argument(help="repository@ref, or repository@ref:path for a file.")
    ],
    *,
    down: Annotated[
        bool, typer.Option("--down/--up", help="What came of it; else where it came from.")
    ] = False,
    form: Annotated[Form, typer.Option("--as", help="tree, dot or svg.")] = Form.TREE,
) -> None:
    """Show what made a commit or a file, or what was made of it.

    Example: lochan provenance totals@main:total.txt
    """
    repository, ref, path = _parsed(address)
    found = lake.repository(repository).ref(ref).provenance("down" if down else "up", path)
    if show.json:
        show.value(found)
    elif form is Form.DOT:
        show.text(found.dot)
    elif form is Form.SVG:
        show.text(found.svg)
    else:
        for line in tree_lines(_graph(found)):
            show.line(line)
        for line in _file_lines(path, found.files, down=down):
            show.line(line)


def _parsed(address: str) -> tuple[str, str, str]:
    name, _, rest = address.removeprefix("lochan://").partition("@")
    ref, _, path = rest.partition(":")
    if not name or not ref:
        message = f"{address!r} names no commit; write repository@ref, or repository@ref:path"
        raise InvalidInput(message, code="invalid-address")
    return name, ref, path


def _graph(found: ProvenanceGraph) -> Graph:
    return Graph(
        start=found.start,
        direction=found.direction,
        commits=tuple(
            Known(
                repository=one.repository,
                commit=one.commit,
                job=one.job,
                pipeline=one.pipeline,
                message=one.message,
                is_there=one.is_there,
            )
            for one in found.commits
        ),
        edges=tuple(
            Edge(source=one.source, made=one.made, input=one.input, glob=one.glob)
            for one in found.edges
        ),
    )


def _file_lines(path: str, steps: list[FileStep], *, down: bool) -> Iterator[str]:
    if not path:
        return
    yield ""
    if not steps:
        yield f"{path}: no job {'read' if down else 'wrote'} it"
    for step in steps:
        yield f"{path}: datum {step.datum[:12]} of {step.pipeline}, job {step.job[:12]}"
        places = step.results if down else step.sources
        if not places:
            yield "   nothing that can be shown"
        for place in places:
            name = f" as {place.input}" if place.input else ""
            yield f"   {place.repository}@{place.commit[:12]}:{place.path}{name}"
