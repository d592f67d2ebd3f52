# SPDX-License-Identifier: Apache-2.0
"""`lochan commit`: what is staged on a branch becomes a commit."""

from datetime import datetime
from typing import Annotated

import typer

from lochan.cli.address import BranchAddress, branch_at
from lochan.cli.on_lake import on_lake
from lochan.cli.options import AllowEmpty, Force, Message, Meta, moment, pairs
from lochan.cli.show import Show
from lochan.cli.shown import tell_commit
from lochan.cli.verb import new_app
from lochan.client.lake import Lake

app = new_app()


@on_lake(app, "commit")
def commit(  # noqa: PLR0913 - one an option
    show: Show,
    lake: Lake,
    branch: BranchAddress,
    *,
    message: Message,
    meta: Meta = None,
    allow_empty: AllowEmpty = False,
    date: Annotated[
        datetime | None, typer.Option("--date", help="When it was made; else now.")
    ] = None,
    force: Force = False,
) -> None:
    """Commit what is staged on a branch.

    Example: lochan commit my-lake/fix -m "mend prices" --meta source=crm
    """
    made = branch_at(lake, branch).commit(
        message, pairs(meta), date=moment(date), allow_empty=allow_empty, force=force
    )
    tell_commit(show, made, "committed")
