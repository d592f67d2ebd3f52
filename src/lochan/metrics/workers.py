# SPDX-License-Identifier: Apache-2.0
"""The processes of one server are seen as one: any of them answers for all.

Each process publishes its numbers into a folder that they share, about once a second and when it
ends; who is asked adds those of the others to its own. A folder belongs to one run of a server:

    <id>.numbers    JSON, replaced as a whole:
                    {"api_requests_total": [[["200", "GET"], [17.0]], ...], ...}
    <id>.alive      locked (flock) for as long as the process lives

Counts of a process that has ended stay, since a counter never falls; its gauges count no more,
since what it had under way ended with it. What others show may be a second old.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import suppress
from operator import add
from pathlib import Path

import msgspec

from lochan.environment import Environment
from lochan.metrics.metrics import Metrics, Numbers

_EVERY_S = 1.0
_decode = msgspec.json.Decoder(Numbers).decode


class Workers:
    """This process among those of its server."""

    def __init__(self, folder: Path, metrics: Metrics, environment: Environment) -> None:
        """Join the processes that share a folder, which exists."""
        self._folder = folder
        self._metrics = metrics
        self._environment = environment
        self._id = environment.new_id()
        self._lock = environment.lock()
        self._published: Numbers = {}
        self._alive: int | None = os.open(
            folder / f"{self._id}.alive", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
        )
        fcntl.flock(self._alive, fcntl.LOCK_EX)

    def start(self) -> None:
        """Publish from now on, in a thread of its own."""
        self._environment.spawn(self._publish_often, name="metrics")

    def publish(self) -> None:
        """Let the others see what is counted here until now."""
        with self._lock:
            numbers = self._metrics.numbers()
            if numbers != self._published:
                partial = self._folder / f"{self._id}.partial"
                partial.write_bytes(msgspec.json.encode(numbers))
                partial.replace(self._folder / f"{self._id}.numbers")
                self._published = numbers

    def numbers(self) -> Numbers:
        """Add up what all processes have counted; of what each sees whole, the largest counts."""
        largest = {family.name for family in self._metrics.families if family.is_largest}
        total: dict[str, dict[tuple[str, ...], list[float]]] = {}
        for numbers in (self._metrics.numbers(), *self._of_others()):
            for name, series in numbers.items():
                sums = total.setdefault(name, {})
                join = max if name in largest else add
                for labels, values in series:
                    before = sums.get(labels, [0.0] * len(values))
                    sums[labels] = list(map(join, before, values))
        return {name: list(sums.items()) for name, sums in total.items()}

    def close(self) -> None:
        """Publish for the last time, and be seen as ended. Idempotent: yes."""
        if self._alive is not None:
            self.publish()
            os.close(self._alive)
            self._alive = None

    def _publish_often(self) -> None:
        while self._alive is not None:
            with suppress(OSError):  # a full disk may have room again in a second
                self.publish()
            self._environment.sleep(_EVERY_S)

    def _of_others(self) -> Iterator[Numbers]:
        gauges = {family.name for family in self._metrics.families if family.kind == "gauge"}
        for file in sorted(self._folder.glob("*.numbers")):
            if file.stem != self._id:
                numbers = _decode(file.read_bytes())
                lives = _is_locked(file.with_suffix(".alive"))
                yield {n: s for n, s in numbers.items() if lives or n not in gauges}


def _is_locked(file: Path) -> bool:
    descriptor = os.open(file, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
