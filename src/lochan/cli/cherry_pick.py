# SPDX-License-Identifier: Apache-2.0
"""`lochan cherry-pick`: make the changes of a commit on a branch, too."""

from typing import Annotated

import typer

from lochan.cli.address import BranchAddress, branch_at, ref_beside
from lochan.cli.on_lake import on_lake
from lochan.cli.options import Meta, pairs
from lochan.cli.show import Show
from lochan.cli.shown import tell_commit
from lochan.cli.verb import new_app
from lochan.client.lake import Lake

app = new_app()


@on_lake(app, "cherry-pick")
def cherry_pick(
    show: Show,
    lake: Lake,
    ref: Annotated[str, typer.Argument(help="The commit, by any ref of the repository.")],
    branch: BranchAddress,
    *,
    parent_number: Annotated[
        int | None,
        typer.Option("--parent-number", min=1, help="Of a merge: against which parent, from 1."),
    ] = None,
    message: Annotated[
        str, typer.Option("--message", "-m", help="Instead of the commit's own message.")
    ] = "",
    meta: Meta = None,
) -> None:
    """Make on a branch the changes of a commit that is elsewhere.

    Example: lochan cherry-pick fix my-lake/main
    """
    named = branch_at(lake, branch)
    made = named.cherry_pick(
        ref_beside(lake, named.repository_id, ref),
        parent_number=parent_number,
        message=message,
        metadata=pairs(meta),
    )
    tell_commit(show, made, "picked as")
