# SPDX-License-Identifier: Apache-2.0
"""Lines at the end of a file: each is one write, so those of several processes do not mix.

A file is opened to append, and never truncated here; who rotates it copies it first and truncates
it then. A line that cannot be written is counted and dropped: a full disk must not stop the lake.
Nothing is synchronised: what a crash of the machine takes is at most the last seconds.
"""

import os
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from lochan.errors import InvalidInput

_STDERR = 2
_MODE = 0o600  # who did what is not everybody's business


class Lines:
    """A place for lines: a file, or the standard error stream."""

    def __init__(self, file: Path | None = None) -> None:
        """Open a file to append to, or stderr. Raises: InvalidInput."""
        self.lost = 0
        self._descriptor = _STDERR if file is None else _opened(file)

    @property
    def is_terminal(self) -> bool:
        """Say whether a person is looking on."""
        return os.isatty(self._descriptor)

    def write(self, line: bytes) -> bool:
        """Write one line, which ends with a newline; say whether it was written."""
        try:
            while line := line[os.write(self._descriptor, line) :]:
                pass  # a signal or a full pipe cut it short; the rest follows
        except OSError:
            self.lost += 1
            return False
        return True

    def close(self) -> None:
        """Close the file; stderr stays open. Idempotent: yes."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor > _STDERR:
            os.close(descriptor)


def timestamp(now: float) -> str:
    """Write a time of the wall clock as logs have it: UTC, in milliseconds."""
    whole = int(now)
    return f"{_second(whole)}.{int((now - whole) * 1000):03d}Z"


@lru_cache(8)  # many lines are of one second
def _second(whole: int) -> str:
    return datetime.fromtimestamp(whole, UTC).isoformat()[:19]


def _opened(file: Path) -> int:
    try:
        return os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, _MODE)
    except OSError as error:
        message = f"the log file {file} cannot be opened ({error.strerror}); name another"
        raise InvalidInput(message, code="invalid-log-file", file=str(file)) from error
