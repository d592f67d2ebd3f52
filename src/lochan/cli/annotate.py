# SPDX-License-Identifier: Apache-2.0
"""`lochan annotate`: for each object, the commit that last changed it."""

from typing import Annotated

import typer
from rich.text import Text

from lochan.cli.address import FolderAddress, place_at
from lochan.cli.blame import Blamed, blame
from lochan.cli.on_lake import on_lake
from lochan.cli.show import Columns, Show, when
from lochan.cli.shown import SHORT, first_line
from lochan.cli.verb import new_app
from lochan.client.lake import Lake
from lochan.errors import NotFound

app = new_app()

_COLUMNS: Columns[Blamed] = {
    "path": lambda one: one.path,
    "commit": lambda one: Text(one.commit.id[:SHORT], style="yellow"),
    "date": lambda one: when(one.commit.record.creation_date),
    "author": lambda one: one.commit.committer,
    "message": lambda one: first_line(one.commit.message),
}


@on_lake(app, "annotate")
def annotate(
    show: Show,
    lake: Lake,
    folder: FolderAddress,
    *,
    first_parent: Annotated[
        bool, typer.Option("--first-parent", help="Name merges, not the commits behind them.")
    ] = False,
) -> None:
    """Show for each object under a prefix the commit that last changed it.

    Example: lochan annotate my-lake/main/raw/
    """
    place = place_at(lake, folder)
    repository = lake.repository(place.branch.repository_id)
    with show.count_bar("looking through commits") as bar:
        found = blame(
            repository,
            repository.ref(place.branch.id),
            place.path,
            first_parent=first_parent,
            progress=bar.reach,
        )
    if place.path and not found:
        raise NotFound(f"there is no object at or below {place.uri}, committed")
    if show.json:
        show.value([{"path": one.path, "commit": one.commit.record} for one in found])
        return
    show.rows(found, _COLUMNS)
