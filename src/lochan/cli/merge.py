# SPDX-License-Identifier: Apache-2.0
"""`lochan merge`: bring what a ref changed to a branch."""

from enum import StrEnum
from typing import Annotated, Final, Literal

import typer

from lochan.cli.address import RefAddress, ref_beside, reference_at
from lochan.cli.on_lake import on_lake
from lochan.cli.options import AllowEmpty, Force, Meta, pairs
from lochan.cli.show import Show, size
from lochan.cli.shown import tell_commit
from lochan.cli.verb import new_app
from lochan.client.lake import Lake
from lochan.client.reference import Reference
from lochan.errors import Conflict

app = new_app()

CONFLICT: Final = "merge-conflict"  # the code of the error


class Strategy(StrEnum):
    """Who wins where both sides changed an object."""

    NOBODY = ""
    SOURCE = "source-wins"
    DESTINATION = "dest-wins"


@on_lake(app, "merge")
def merge(  # noqa: PLR0913 - one an option
    show: Show,
    lake: Lake,
    source: RefAddress,
    destination: Annotated[str, typer.Argument(help="The branch that gets the changes.")],
    *,
    message: Annotated[str, typer.Option("--message", "-m", help="What the merge is about.")] = "",
    meta: Meta = None,
    strategy: Annotated[
        Strategy,
        typer.Option("--strategy", help="Who wins conflicts; without it they end the merge."),
    ] = Strategy.NOBODY,
    squash: Annotated[
        bool, typer.Option("--squash", help="Make one commit without the source's history.")
    ] = False,
    allow_empty: AllowEmpty = False,
    force: Force = False,
) -> None:
    """Bring what SOURCE changed to a branch. Conflicts are listed, and nothing is done: code 4.

    Example: lochan merge my-lake/fix main -m "mended prices"
    """
    begins = reference_at(lake, source)
    ends = lake.repository(begins.repository_id).branch(
        ref_beside(lake, begins.repository_id, destination)
    )
    try:
        made = begins.merge_into(
            ends,
            message=message,
            metadata=pairs(meta),
            strategy=_WORDS[strategy],
            squash=squash,
            allow_empty=allow_empty,
            force=force,
        )
    except Conflict as error:
        if error.code == CONFLICT:
            show_conflicts(show, begins, ends)
        raise
    tell_commit(show, lake.repository(begins.repository_id).commit(made), f"merged {begins.id} as")


def show_conflicts(show: Show, source: Reference, destination: Reference) -> None:
    """List what both sides changed."""
    found = (one for one in destination.diff(source) if one.type == "conflict")
    show.rows(
        found,
        {
            "conflict": lambda one: one.path,
            f"size in {source.id}": lambda one: (
                "" if one.size_bytes is None else size(one.size_bytes)
            ),
        },
    )


_WORDS: Final[dict[Strategy, Literal["", "source-wins", "dest-wins"]]] = {
    Strategy.NOBODY: "",
    Strategy.SOURCE: "source-wins",
    Strategy.DESTINATION: "dest-wins",
}
