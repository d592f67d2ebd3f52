# SPDX-License-Identifier: Apache-2.0
"""`lochan log`: the commits that led to a ref."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated

import typer
from rich.text import Text

from lochan.cli.address import RefAddress, reference_at
from lochan.cli.graph import Graph
from lochan.cli.on_lake import on_lake
from lochan.cli.options import Limit, moment
from lochan.cli.show import Show, when
from lochan.cli.shown import SHORT, first_line
from lochan.cli.verb import new_app
from lochan.client.commit import Commit
from lochan.client.lake import Lake

app = new_app()


@on_lake(app, "log")
def log(  # noqa: PLR0913 - one an option
    show: Show,
    lake: Lake,
    ref: RefAddress,
    *,
    oneline: Annotated[
        bool, typer.Option("--oneline", help="A line a commit: id and message.")
    ] = False,
    graph: Annotated[
        bool, typer.Option("--graph", help="Draw how commits follow one another.")
    ] = False,
    prefix: Annotated[
        list[str] | None,
        typer.Option("--prefix", help="Only commits that changed something below this."),
    ] = None,
    object_: Annotated[
        list[str] | None, typer.Option("--object", help="Only commits that changed this object.")
    ] = None,
    since: Annotated[
        datetime | None, typer.Option("--since", help="Only commits from then on.")
    ] = None,
    limit: Limit = None,
    first_parent: Annotated[
        bool, typer.Option("--first-parent", help="Of merges follow the branch alone.")
    ] = False,
) -> None:
    """Show the commits that led to a ref, newest first.

    Example: lochan log my-lake/main --oneline --limit 10
    """
    found = reference_at(lake, ref).log(
        max_amount=limit,
        prefixes=prefix or (),
        objects=object_ or (),
        since=moment(since),
        first_parent=first_parent,
    )
    if show.json:
        show.rows(commit.record for commit in found)
    elif graph:
        _draw(show, found)
    elif oneline:
        for commit in found:
            show.line(_short(commit))
    else:
        _table(show, found)


def _table(show: Show, commits: Iterable[Commit]) -> None:
    show.rows(
        commits,
        {
            "commit": lambda one: Text(one.id[:SHORT], style="yellow"),
            "date": lambda one: when(one.record.creation_date),
            "author": lambda one: one.committer,
            "message": lambda one: first_line(one.message),
        },
    )


def _draw(show: Show, commits: Iterable[Commit]) -> None:
    graph = Graph()
    for commit in commits:
        before, row, behind = graph.add(commit.id, commit.parents)
        for line in before:
            show.line(line, style="dim")
        show.line(f"{row} {_short(commit)}")
        for line in behind:
            show.line(line, style="dim")


def _short(commit: Commit) -> str:
    return f"{commit.id[:SHORT]} {first_line(commit.message)}".rstrip()
