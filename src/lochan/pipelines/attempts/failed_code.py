# SPDX-License-Identifier: Apache-2.0
"""What is wrong when an author's code raises: the code, or the storage below it."""

import traceback
from pathlib import Path
from typing import Final

from lochan.errors import LochanError, Throttled, Unavailable

_OURS: Final = str(Path(__file__).parent)
_MOST: Final = 1000  # characters; reasons are stored in records


def outage_behind(error: BaseException | None) -> LochanError | None:
    """Find the failure of a storage behind an error, however the code has wrapped it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, Unavailable | Throttled):
            return error
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return None


def told(error: BaseException) -> str:
    """Say in a line what was raised."""
    if isinstance(error, LochanError):
        return shown(error.message) or type(error).__name__
    return shown(f"{type(error).__name__}: {error}".removesuffix(": "))


def shown(text: str, most: int = _MOST) -> str:
    """Make a line of bounded length of any text; half characters are spelled out."""
    line = " ".join(text.split("\n"))
    cut = line if len(line) <= most else f"{line[: most - 3]}..."
    return cut.encode(errors="backslashreplace").decode()


def trace(error: BaseException) -> str:
    """Write a traceback, from the author's own code on."""
    lines = traceback.TracebackException.from_exception(error)
    while len(lines.stack) > 1 and lines.stack[0].filename.startswith(_OURS):
        lines.stack.pop(0)
    return "".join(lines.format())
