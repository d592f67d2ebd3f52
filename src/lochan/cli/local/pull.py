# SPDX-License-Identifier: Apache-2.0
"""`lochan local pull`: what a branch changed comes to a linked folder."""

from typing import Annotated

import typer

from lochan.cli.local.apply import bring, settle, updated
from lochan.cli.local.changes import changed_since, compare
from lochan.cli.local.link import HERE, Folder, link_of
from lochan.cli.on_lake import on_lake
from lochan.cli.options import PARALLEL, Parallel
from lochan.cli.show import Show
from lochan.cli.shown import SHORT, counted
from lochan.cli.verb import new_app
from lochan.client.lake import Lake
from lochan.errors import Conflict

app = new_app()


@on_lake(app, "pull")
def pull(
    show: Show,
    lake: Lake,
    folder: Folder = HERE,
    *,
    force: Annotated[
        bool, typer.Option("--force", help="In conflicts take what the branch has.")
    ] = False,
    parallel: Parallel = PARALLEL,
) -> None:
    """Bring what the branch has changed to a folder; other changes made here stay.

    A file that was changed on both sides, and differs, is a conflict: nothing is done, code 4.

    Example: lochan local pull ./raw
    """
    link = link_of(folder)
    found = compare(lake, link)
    head = link.branch(lake).get_commit().id
    there = changed_since(lake, link, head)
    differing = {path: entry for path, entry in there.items() if not found.is_like(path, entry)}
    conflicts = [path for path in differing if path in found.changes]
    if conflicts and not force:
        show.rows([{"conflict": path} for path in conflicts])
        message = (
            f"{len(conflicts)} files were changed here and on the branch, and nothing was pulled;"
            " put yours aside, or give --force to lose them"
        )
        raise Conflict(message, code="local-conflict", paths=conflicts)
    bring(show, lake, found, differing, head, parallel)
    settle(lake, link, found.index, head, updated(found.index.base, there))
    show.done(
        f"{link.root} is at {head[:SHORT]}; {counted(len(differing), 'file')} changed",
        folder=str(link.root),
        at_head=head,
        changed=sorted(differing),
    )
