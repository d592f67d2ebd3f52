# SPDX-License-Identifier: Apache-2.0
"""Options that several commands take, and what is read from them."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated

import typer

from lochan.errors import InvalidInput

Message = Annotated[str, typer.Option("--message", "-m", help="What the commit is about.")]
Meta = Annotated[
    list[str] | None,
    typer.Option("--meta", metavar="KEY=VALUE", help="Attach a key and value; as often as needed."),
]
Force = Annotated[bool, typer.Option("--force", help="Write to a read-only repository, too.")]
AllowEmpty = Annotated[bool, typer.Option("--allow-empty", help="Commit even without a change.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Limit = Annotated[
    int | None, typer.Option("--limit", "-n", min=1, help="Show no more than so many.")
]
Prefix = Annotated[str, typer.Option("--prefix", help="Only what begins with this.")]
Recursive = Annotated[bool, typer.Option("--recursive", "-r", help="All that is in a folder.")]
Parallel = Annotated[
    int, typer.Option("--parallel", "-p", min=1, max=64, help="Files moved at the same time.")
]
PARALLEL = 8


def pairs(given: Iterable[str] | None) -> dict[str, str]:
    """Read KEY=VALUE texts. Raises InvalidInput."""
    found = {}
    for text in given or ():
        key, separator, value = text.partition("=")
        if not separator or not key:
            raise InvalidInput(f"{text!r} is no key=value, as in --meta source=crm")
        found[key] = value
    return found


def moment(typed: datetime | None) -> datetime | None:
    """Take a time without a zone for one of this machine's zone."""
    return typed if typed is None or typed.tzinfo else typed.astimezone()


def sure(question: str, *, yes: bool) -> None:
    """Ask before something that cannot be undone; a refusal ends the command."""
    if not yes:
        typer.confirm(question, abort=True, err=True)
