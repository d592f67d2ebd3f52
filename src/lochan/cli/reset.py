# SPDX-License-Identifier: Apache-2.0
"""`lochan reset`: drop what is staged on a branch and not committed."""

from typing import Annotated

import typer

from lochan.cli.address import BranchAddress, branch_at
from lochan.cli.on_lake import on_lake
from lochan.cli.options import Force, Yes, sure
from lochan.cli.show import Show
from lochan.cli.verb import new_app
from lochan.client.branch import Branch
from lochan.client.lake import Lake
from lochan.errors import InvalidInput

app = new_app()

ResetPrefix = Annotated[str, typer.Option("--prefix", help="Only what lies below this.")]
ResetObject = Annotated[str, typer.Option("--object", help="Only this object.")]


@on_lake(app, "reset")
def reset(
    show: Show,
    lake: Lake,
    branch: BranchAddress,
    *,
    prefix: ResetPrefix = "",
    object_: ResetObject = "",
    yes: Yes = False,
    force: Force = False,
) -> None:
    """Drop what is not committed: all, below a prefix, or of one object. It asks before.

    Example: lochan reset my-lake/fix --object raw/a.csv --yes
    """
    drop_staged(show, branch_at(lake, branch), prefix, object_, yes=yes, force=force)


def drop_staged(
    show: Show, branch: Branch, prefix: str, path: str, *, yes: bool, force: bool
) -> None:
    """Drop what is staged, and say so."""
    if prefix and path:
        raise InvalidInput("--prefix and --object do not go together; give one")
    what = f"{path or prefix or 'all'} on branch {branch.id}"
    sure(f"Drop what is not committed of {what}?", yes=yes)
    if path:
        branch.reset_changes(path, path_type="object", force=force)
    elif prefix:
        branch.reset_changes(prefix, path_type="common_prefix", force=force)
    else:
        branch.reset_changes(force=force)
    show.done(f"dropped what was not committed of {what}", branch=branch.id, path=path or prefix)
