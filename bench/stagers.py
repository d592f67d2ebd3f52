# SPDX-License-Identifier: Apache-2.0
"""Many stagers with a fixed schedule, in threads of this process or in processes of their own.

The load is open: every stager has a timetable, and a write that is late does not delay the next
one's due time. What a write took is counted from when it was due, not from when its stager got to
it, so that a pause is felt by all the writes that it holds up. At rate 0 there is no timetable:
each stager writes again as soon as it was answered, and that is the saturated load.

Times are of the clock that all processes of a machine share.
"""

import math
import multiprocessing
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from ctypes import c_double
from dataclasses import dataclass
from itertools import chain, count
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import RawValue
from time import monotonic, sleep
from typing import NamedTuple

from disk import Still
from ground import MAIN, Ground
from lochan.bootstrap.lake import open_lake, prepare_process
from lochan.environment import RealEnvironment
from lochan.errors import LochanError
from lochan.model.entry import Entry
from lochan.model.ids import ObjectKey
from lochan.model.instant import from_seconds
from lochan.model.records import Repository
from lochan.operations.lake import Lake
from lochan.operations.put_object import stage_entry

ENTRY = Entry(
    address="data/gk3v000000000000000/ck3v0111111111111111.parquet",
    last_modified=from_seconds(1_700_000_000),
    size=134_217_728,
    e_tag="2" * 32,
)
Times = tuple[float, float]  # when a write was due, and when it was answered


class Timetable(NamedTuple):
    """When a load begins, how many writes a second all stagers offer together, and its name."""

    start: float
    rate: float
    name: int  # keys of different loads differ


@dataclass(frozen=True, slots=True)
class Writes:
    """All writes of a load."""

    times: Sequence[Times]

    def within(self, start: float, end: float, stills: Sequence[Still] = ()) -> "Window":
        """Look at the writes that were due in a stretch of time.

        The p99 is of those that the disk did not hold up by standing still.
        """
        offered = [(due, done) for due, done in self.times if start <= due < end]
        waits = sorted(
            done - due for due, done in offered if not any(each.touches(due) for each in stills)
        )
        answered = sum(start <= done < end for _, done in self.times)
        return Window(
            seconds=end - start,
            offered=len(offered),
            done=sum(done <= end for _, done in offered),
            answered=answered,
            counted=len(waits),
            p99_s=_p99(waits),
            p99_of_all_s=_p99(sorted(done - due for due, done in offered)),
        )


def _p99(waits: Sequence[float]) -> float:
    return waits[math.ceil(0.99 * len(waits)) - 1] if waits else math.inf


@dataclass(frozen=True, slots=True)
class Window:
    """What happened to the writes of a stretch of time."""

    seconds: float
    offered: int  # were due in it
    done: int  # of these, answered before its end
    answered: int  # in it, whenever they were due
    counted: int  # of those offered, for the p99
    p99_s: float
    p99_of_all_s: float

    @property
    def rate(self) -> float:
        """How many were answered in a second."""
        return self.answered / self.seconds


class Crew:
    """Some of the stagers: those from `first` on, of `total` in all processes."""

    def __init__(
        self, lake: Lake, repository: Repository, first: int, size: int, total: int
    ) -> None:
        """Stage on the repository's main."""
        self._where = (lake, repository)
        self._numbers = range(first, first + size)
        self._total = total

    def work(self, timetable: Timetable, end: c_double) -> list[Times]:
        """Stage until the next write would be due at the end or later."""
        with ThreadPoolExecutor(len(self._numbers)) as threads:
            parts = threads.map(lambda number: self._stage(number, timetable, end), self._numbers)
            return list(chain(*parts))

    def _stage(self, stager: int, timetable: Timetable, end: c_double) -> list[Times]:
        period = self._total / timetable.rate if timetable.rate else 0.0
        due = timetable.start + period * stager / self._total
        written: list[Times] = []
        for number in count():
            sleep(max(0.0, due - monotonic()))
            if due >= end.value:
                return written
            key = ObjectKey(b"stream/%d/%02d/%09d" % (timetable.name, stager, number))
            written.append((due, self._answered(key)))
            due = due + period if period else monotonic()
        return written

    def _answered(self, key: ObjectKey) -> float:
        """Write, and say when it was done; a write that failed never was."""
        try:
            stage_entry(*self._where, MAIN, key, ENTRY)
        except LochanError:
            return math.inf
        return monotonic()


class Threads:
    """All stagers in this process, beside whoever commits."""

    def __init__(self, ground: Ground, total: int) -> None:
        """Stage through the ground's own lake."""
        self._crew = Crew(ground.lake, ground.repository, 0, total, total)
        self._executor = ThreadPoolExecutor(1)
        self._end = RawValue(c_double, math.inf)
        self._working: Future[list[Times]] | None = None

    def begin(self, timetable: Timetable) -> None:
        """Start a load that lasts until `finish`."""
        self._end.value = math.inf
        self._working = self._executor.submit(self._crew.work, timetable, self._end)

    def finish(self, end: float) -> Writes:
        """Offer no write that is due at `end` or later, and wait for the others."""
        assert self._working is not None, "begin comes first"
        self._end.value = end
        return Writes(self._working.result())

    def close(self) -> None:
        """End the threads."""
        self._executor.shutdown()


class Processes:
    """The stagers in several processes, each with a lake of its own, like so many servers."""

    def __init__(self, ground: Ground, total: int, processes: int) -> None:
        """Start them, and wait until each has opened the lake."""
        context = multiprocessing.get_context("spawn")
        self._end = context.RawValue(c_double, math.inf)
        self._lines: list[Connection] = []
        self._processes = []
        size = total // processes
        for first in range(0, total, size):
            ours, theirs = context.Pipe()
            part = (first, size, total)
            process = context.Process(
                target=_serve,
                args=(ground.kv, ground.repository, part, theirs, self._end),
                daemon=True,
            )
            process.start()
            theirs.close()  # or nobody hears of the process's end
            self._processes.append(process)
            self._lines.append(ours)
        for line in self._lines:
            line.recv()

    def begin(self, timetable: Timetable) -> None:
        """Start a load that lasts until `finish`."""
        self._end.value = math.inf
        for line in self._lines:
            line.send(timetable)

    def finish(self, end: float) -> Writes:
        """Offer no write that is due at `end` or later, and wait for the others."""
        self._end.value = end
        return Writes(list(chain(*(line.recv() for line in self._lines))))

    def close(self) -> None:
        """End the processes."""
        for process in self._processes:
            process.terminate()
            process.join()


def _serve(
    kv: str, repository: Repository, part: tuple[int, int, int], line: Connection, end: c_double
) -> None:
    """Be one process of stagers: work off timetables until it is ended."""
    prepare_process()
    with open_lake(kv, RealEnvironment()) as lake:
        crew = Crew(lake, repository, *part)
        line.send("ready")
        while True:
            line.send(crew.work(line.recv(), end))
