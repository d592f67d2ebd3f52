# SPDX-License-Identifier: Apache-2.0
"""`lochan diff`: what two refs have between them, or what a branch has not committed."""

from typing import Annotated

import typer

from lochan.cli.address import RefAddress, branch_at, ref_beside, reference_at
from lochan.cli.on_lake import on_lake
from lochan.cli.options import Limit, Prefix
from lochan.cli.show import Show
from lochan.cli.shown import show_changes
from lochan.cli.verb import new_app
from lochan.client.lake import Lake
from lochan.errors import InvalidInput

app = new_app()


@on_lake(app, "diff")
def diff(  # noqa: PLR0913 - one an option
    show: Show,
    lake: Lake,
    ref: RefAddress,
    other: Annotated[str, typer.Argument(help="Another ref of the repository.")] = "",
    *,
    two_dot: Annotated[
        bool,
        typer.Option(
            "--two-dot/--three-dot",
            help="Compare both as they are, or only what OTHER changed since the two parted.",
        ),
    ] = False,
    prefix: Prefix = "",
    directories: Annotated[
        bool, typer.Option("--directories", help="Show the first level below the prefix alone.")
    ] = False,
    limit: Limit = None,
) -> None:
    """Show what OTHER changed since it parted from REF; with one ref, what is not committed on it.

    Lines begin with + for added, - for removed, ~ for changed and x for conflicts.

    Example: lochan diff my-lake/main fix
    """
    delimiter = "/" if directories else ""
    if other:
        left = reference_at(lake, ref)
        changes = left.diff(
            ref_beside(lake, left.repository_id, other),
            type_="two_dot" if two_dot else "three_dot",
            prefix=prefix,
            delimiter=delimiter,
            max_amount=limit,
        )
    elif two_dot:
        raise InvalidInput(
            "--two-dot needs two refs, as in `lochan diff --two-dot my-lake/main fix`"
        )
    else:
        branch = branch_at(lake, ref)
        changes = branch.uncommitted(prefix, delimiter=delimiter, max_amount=limit)
    show_changes(show, changes, nothing="no differences")
