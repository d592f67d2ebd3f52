# SPDX-License-Identifier: Apache-2.0
"""`lochan revert`: undo a commit by a new one."""

from typing import Annotated

import typer

from lochan.cli.address import BranchAddress, branch_at, ref_beside
from lochan.cli.on_lake import on_lake
from lochan.cli.options import AllowEmpty, Meta, Yes, pairs, sure
from lochan.cli.show import Show
from lochan.cli.shown import tell_commit
from lochan.cli.verb import new_app
from lochan.client.lake import Lake

app = new_app()


@on_lake(app, "revert")
def revert(  # noqa: PLR0913 - one an option
    show: Show,
    lake: Lake,
    branch: BranchAddress,
    ref: Annotated[str, typer.Argument(help="The commit to undo, by any ref.")],
    *,
    parent_number: Annotated[
        int,
        typer.Option("--parent-number", min=0, help="Of a merge: against which parent, from 1."),
    ] = 0,
    message: Annotated[
        str, typer.Option("--message", "-m", help="Instead of the message that is made up.")
    ] = "",
    meta: Meta = None,
    allow_empty: AllowEmpty = False,
    yes: Yes = False,
) -> None:
    """Undo on a branch what a commit did, by a new commit. It asks before.

    Example: lochan revert my-lake/main main~1 --yes
    """
    named = branch_at(lake, branch)
    undone = ref_beside(lake, named.repository_id, ref)
    sure(f"Undo {undone} on branch {named.id}?", yes=yes)
    made = named.revert(
        undone,
        parent_number=parent_number,
        message=message,
        metadata=pairs(meta),
        allow_empty=allow_empty,
    )
    tell_commit(show, made, "reverted by")
