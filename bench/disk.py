# SPDX-License-Identifier: Apache-2.0
"""Whether the disk itself stood still: it was asked, and for a while answered nobody at all.

A virtual machine shares its disk with strangers. Where it keeps every sync waiting for a tenth of a
second, a p99 tells of them and not of us. Linux counts what a disk has answered and what it has yet
to answer; a process of its own looks at both every few milliseconds.
"""

import multiprocessing
import os
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic
from typing import NamedTuple

STILL_S = 0.02  # what a disk does takes well below a millisecond, and tens of megabytes take ten
_DRAINS = 2  # so long, in lengths of it, what gathered in a stretch was seen to take
_LOOK_S = 0.004
_ANSWERED = (0, 4, 11, 15)  # reads, writes, discards, flushes; Documentation/block/stat.rst
_UNANSWERED = 8


class Still(NamedTuple):
    """A stretch of time in which the disk answered nothing."""

    start: float
    end: float

    def touches(self, due: float) -> bool:
        """Say whether it holds up a write that is due then.

        Also those that come after it, until what has gathered is done.
        """
        return self.start <= due < self.end + _DRAINS * (self.end - self.start)


class DiskWatch:
    """Looks at the disk that holds a folder, until it is closed."""

    def __init__(self, folder: Path) -> None:
        """Begin to look; where the system does not count, nothing is ever seen."""
        device = folder.stat().st_dev
        counts = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/stat")
        context = multiprocessing.get_context("spawn")
        self._line, theirs = context.Pipe()
        self._process = context.Process(target=_look, args=(counts, theirs), daemon=True)
        self._process.start()
        theirs.close()
        self._line.recv()
        self._seen: list[Still] = []

    def stills(self) -> Sequence[Still]:
        """Give all stretches that have ended."""
        self._line.send("what was seen")
        self._seen += self._line.recv()
        return self._seen

    def close(self) -> None:
        """Look no longer."""
        self._process.terminate()
        self._process.join()


def _look(counts: Path, line: Connection) -> None:
    """Be the process that looks; whoever asks is told what came since the last time."""
    line.send("ready")
    seen: list[Still] = []
    looks = Looks()
    while True:
        if line.poll(_LOOK_S):
            line.recv()
            line.send(seen)
            seen = []
        if still := looks.ended(monotonic(), _counted(counts)):
            seen.append(still)


class Looks:
    """What the disk had answered when it was last looked at."""

    def __init__(self) -> None:
        """Begin before the first look."""
        self._answered = -1
        self._since = self._last = 0.0

    def ended(self, now: float, found: Sequence[int]) -> Still | None:
        """Give the stretch that this look ends.

        It goes up to the look before: that one still saw requests that waited, and nothing
        answered. Of the time since then nothing is known; who looks may have been held up himself.
        """
        answered = sum(found[place] for place in _ANSWERED if place < len(found))
        moves = answered != self._answered
        still = Still(self._since, self._last) if moves else None
        if moves or not found[_UNANSWERED]:
            self._answered, self._since = answered, now
        self._last = now
        return still if still and still.end - still.start >= STILL_S else None


def _counted(counts: Path) -> Sequence[int]:
    try:
        return [int(word) for word in counts.read_text().split()]
    except OSError:
        return [0] * (_UNANSWERED + 1)
