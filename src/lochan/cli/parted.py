# SPDX-License-Identifier: Apache-2.0
"""`lochan merge-base`: the commit where two refs parted."""

from typing import Annotated

import typer

from lochan.cli.address import RefAddress, ref_beside, reference_at
from lochan.cli.on_lake import on_lake
from lochan.cli.show import Show
from lochan.cli.shown import show_commit
from lochan.cli.verb import new_app
from lochan.client.lake import Lake

app = new_app()


@on_lake(app, "merge-base")
def merge_base(
    show: Show,
    lake: Lake,
    ref: RefAddress,
    other: Annotated[str, typer.Argument(help="Another ref of the repository.")],
) -> None:
    """Show the commit where two refs parted.

    Example: lochan merge-base my-lake/fix main
    """
    left = reference_at(lake, ref)
    parted = left.merge_base(ref_beside(lake, left.repository_id, other))
    show_commit(show, lake.repository(left.repository_id).commit(parted.base_commit_id))
