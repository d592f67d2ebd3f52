# SPDX-License-Identifier: Apache-2.0
"""`lochan local init` and `clone`: link a folder to a branch."""

from pathlib import Path
from typing import Annotated

import typer

from lochan.cli.address import FolderAddress
from lochan.cli.local.apply import bring, settle
from lochan.cli.local.changes import compare, entries_at
from lochan.cli.local.index import Index
from lochan.cli.local.link import HERE, LINK_FILE, Link, new_link
from lochan.cli.on_lake import on_lake
from lochan.cli.options import PARALLEL, Parallel
from lochan.cli.show import Show, size
from lochan.cli.shown import counted
from lochan.cli.verb import new_app
from lochan.client.lake import Lake
from lochan.errors import AlreadyExists, Refused

app = new_app()

NewFolder = Annotated[Path | None, typer.Argument(help="The folder; it is made if need be.")]


@on_lake(app, "init")
def init(
    show: Show,
    lake: Lake,
    source: FolderAddress,
    folder: NewFolder = None,
    *,
    force: Annotated[
        bool, typer.Option("--force", help="Link anew, and count objects as deleted here.")
    ] = False,
) -> None:
    """Link a folder with files in it to a prefix of a branch that has none; nothing is moved yet.

    Example: lochan local init my-lake/main/raw/ ./raw
    """
    root = (folder or HERE).resolve()
    _require_unlinked(root, force=force)
    link = new_link(root, source, lake)
    there = entries_at(lake, link, link.at_head)
    if there and not force:
        message = (
            f"{len(there)} objects are there already; `lochan local clone` them to an empty folder,"
            " or give --force to count what is not here as deleted"
        )
        raise Refused(message, code="prefix-not-empty")
    root.mkdir(parents=True, exist_ok=True)
    settle(lake, link, Index(), link.at_head, there)
    _tell(show, link, f"linked {root} to {link.source}")


@on_lake(app, "clone")
def clone(
    show: Show,
    lake: Lake,
    source: FolderAddress,
    folder: NewFolder = None,
    *,
    parallel: Parallel = PARALLEL,
) -> None:
    """Download a prefix of a branch to an empty folder, and link the two.

    Example: lochan local clone my-lake/main/raw/ ./raw
    """
    name = source.rstrip("/").rpartition("/")[2]
    root = (folder or Path(name)).resolve()
    _require_unlinked(root)
    if root.is_dir() and any(root.iterdir()):
        message = f"{root} is not empty; choose another folder, or link this one by `local init`"
        raise Refused(message, code="folder-not-empty")
    link = new_link(root, source, lake)
    root.mkdir(parents=True, exist_ok=True)
    found = compare(lake, link)
    bring(show, lake, found, found.index.base, link.at_head, parallel)
    link = settle(lake, link, found.index, link.at_head, found.index.base)
    amount = sum(entry.size for entry in found.index.base.values())
    count = len(found.index.base)
    _tell(show, link, f"cloned {counted(count, 'file')}, {size(amount)}, to {root}", files=count)


def _tell(show: Show, link: Link, message: str, **facts: object) -> None:
    show.done(message, folder=str(link.root), src=str(link.source), at_head=link.at_head, **facts)


def _require_unlinked(root: Path, *, force: bool = False) -> None:
    if (root / LINK_FILE).exists() and not force:
        message = f"{root} is linked already; `lochan local status` says to what"
        raise AlreadyExists(message, code="linked-already")
