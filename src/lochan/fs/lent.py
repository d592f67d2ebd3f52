# SPDX-License-Identifier: Apache-2.0
"""Files that threads of Arrow still hold are awaited before the interpreter ends.

Arrow reads a file of Python's in threads of its own, and lets go of it and of the filesystem there,
now and then after the read has returned. Whoever asks for Python's lock once the interpreter is
ending is ended in the midst of C++, and that aborts the process: a program that did all its work
says "terminate called without an active exception" and ends with 134 (apache/arrow, issue 34314).
"""

import atexit
import weakref
from functools import cache
from typing import Any, Final

from lochan.environment import RealEnvironment

_LOOK_S: Final = 0.001
# Who forgets to close a file ends a second later, and no more.
_LOOKS: Final = 1000
# The filesystem is let go of just after the last file, which nobody can see.
_SETTLE_S: Final = 0.02

_lent: Final[dict[int, weakref.ref[Any]]] = {}


def lend(file: Any) -> None:  # noqa: ANN401 - a file of fsspec's, which has no types
    """Await a file at the end of the process, unless it was closed or let go of before."""
    _await_at_exit()
    key = id(file)  # fsspec's hash of a file is one of its path
    _lent[key] = weakref.ref(file, lambda _: _lent.pop(key, None))


def lent() -> int:
    """Count the files that somebody still has open."""
    files = [reference() for reference in list(_lent.values())]
    return sum(file is not None and not file.closed for file in files)


@cache
def _await_at_exit() -> None:
    atexit.register(_await_lent)


def _await_lent() -> None:
    sleep = RealEnvironment().sleep
    for _ in range(_LOOKS):
        if not lent():
            break
        sleep(_LOOK_S)
    sleep(_SETTLE_S)
