# SPDX-License-Identifier: Apache-2.0
"""How a lake's nouns show themselves in a notebook: small tables, with everything escaped.

Names, messages and metadata are other people's text. None of it may become markup.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_STEP: Final = 1024


def facts(title: str, rows: Mapping[str, object]) -> str:
    """Show one thing: a title, and what is known of it."""
    lines = (
        f"<tr><th style='text-align:left'>{escape(str(name))}</th>"
        f"<td style='text-align:left'>{escape(str(value))}</td></tr>"
        for name, value in rows.items()
    )
    return f"<table><caption>{escape(title)}</caption>{''.join(lines)}</table>"


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Show several things of one kind."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><caption>{escape(title)}</caption><tr>{head}</tr>{body}</table>"


def moment(seconds: int) -> str:
    """Show a time in UTC."""
    return (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M:%S UTC")


def size(count: int | None) -> str:
    """Show a number of bytes in the unit that people would choose."""
    if count is None:
        return ""
    amount, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        if amount < _STEP:
            break
        amount, unit = amount / _STEP, larger
    return f"{count} B" if unit == "B" else f"{amount:.1f} {unit}"
