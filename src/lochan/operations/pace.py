# SPDX-License-Identifier: Apache-2.0
"""How a long story gives way to short ones.

All threads of a process share one interpreter, and all processes of a machine its processors, its
memory and its disk. A story of seconds therefore works in small pieces. While others are at work it
rests after each of them, for twice as long as the piece took: whatever a short piece is, and
whatever holds it up, two thirds of the time are theirs. Beside nobody it does not rest. No rest is
longer than LONGEST_S.

Who waits for an answer asks nothing meanwhile: were that taken for idleness, whoever is held up
would be held up still longer. So others count as at work for a while after they were last seen.
"""

from typing import Final

from lochan.operations.lake import Lake

TIMES: Final = 2  # as long as the work took
SHORTEST_S: Final = 0.002  # what is shorter is lost in the system's own turns
LONGEST_S: Final = 0.02  # a piece that waited for a far store has kept nobody from working
BUSY_S: Final = 0.1  # others count as at work for so long after they were last seen


class Pace:
    """The rests of one story. Used by the one thread that does its work."""

    def __init__(self, lake: Lake) -> None:
        """Begin with the first `breathe`."""
        self._lake = lake
        self._seen: tuple[int, int] | None = None
        self._busy_until = 0.0
        self._began = 0.0

    def breathe(self) -> None:
        """End one piece of work and begin the next; rest in between while others are at work."""
        environment = self._lake.environment
        now, others = environment.monotonic(), self._others()
        if self._seen is None:
            self._seen = others
        elif others != self._seen:
            self._seen, self._busy_until = others, now + BUSY_S
        if now < self._busy_until:
            took = now - self._began
            environment.sleep(max(SHORTEST_S, min(TIMES * took, LONGEST_S)))
        self._began = environment.monotonic()

    def _others(self) -> tuple[int, int]:
        """Count what shows that others are at work; only a change says so.

        Stories of this process ask for branches, and those of others take this thread's processor.
        """
        return self._lake.branches.asked, self._lake.environment.preemptions()
