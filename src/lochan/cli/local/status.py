# SPDX-License-Identifier: Apache-2.0
"""`lochan local status` and `list`: what is changed here and there, and which folders there are."""

from pathlib import Path
from typing import Annotated

import typer

from lochan.cli.local.changes import Compared, changed_since, compare
from lochan.cli.local.index import Entry, save_index
from lochan.cli.local.link import HERE, Folder, link_of, links_below
from lochan.cli.on_lake import on_lake
from lochan.cli.show import Show
from lochan.cli.shown import SHORT, counted, show_changes
from lochan.cli.verb import new_app, verb
from lochan.client.lake import Lake
from lochan.shapes.refs import Diff

app = new_app()


@on_lake(app, "status")
def status(
    show: Show,
    lake: Lake,
    folder: Folder = HERE,
    *,
    here: Annotated[
        bool, typer.Option("--here", help="Do not ask what the branch has changed.")
    ] = False,
) -> None:
    """Show what was changed in a linked folder, and on its branch, since they were alike.

    Example: lochan local status ./raw
    """
    link = link_of(folder)
    found = compare(lake, link)
    save_index(link, found.index, lake.transport.environment)
    there: dict[str, Entry | None] = {}
    if not here:
        head = link.branch(lake).get_commit().id
        there = changed_since(lake, link, head)
    changes = local_diff(found)
    if show.json:
        show.value({"folder": str(link.root), "src": str(link.source), "at_head": link.at_head,
                    "local": changes, "remote": sorted(there)})  # fmt: skip
        return
    show.line(f"{link.root} mirrors {link.source} at {link.at_head[:SHORT]}")
    show_changes(show, changes, nothing="nothing was changed here")
    if there:
        moved = f"the branch has changed {counted(len(there), 'file')} since"
        show.line(f"{moved}; `lochan local pull` brings them")


@verb(app, "list")
def list_links(
    show: Show, folder: Annotated[Path, typer.Argument(help="Where to look.")] = HERE
) -> None:
    """List the linked folders in a folder and below it.

    Example: lochan local list ~/data
    """
    rows = [
        {"folder": str(link.root), "src": str(link.source), "at_head": link.at_head}
        for link in links_below(folder.resolve())
    ]
    show.rows(
        rows,
        {
            "folder": lambda one: one["folder"],
            "mirrors": lambda one: one["src"],
            "commit": lambda one: one["at_head"][:SHORT],
        },
    )


def local_diff(found: Compared) -> list[Diff]:
    """Give what was changed in a folder as the API tells of changes."""
    return [
        Diff(
            type=kind,
            path=path,
            path_type="object",
            size_bytes=found.index.base[path].size if kind == "removed" else found.files[path].size,
        )
        for path, kind in found.changes.items()
    ]
