# SPDX-License-Identifier: Apache-2.0
"""The scheduler: each turn looks what must run, decides it, and starts drivers for what is ready.

It plans nothing and runs no user's code. Any number of schedulers may look after one lake: what one
has decided the others find decided, and of two drivers of a job one claims it and the other ends.

Jobs of one pipeline into one branch are driven one after the other, the oldest first, each on what
the one before it published. A job whose driver ended without having claimed it is given another a
while later, each time longer: what keeps one from starting may keep them all.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from lochan.errors import LochanError, Unavailable
from lochan.operations.lake import Lake
from lochan.pipelines.jobs.after import close_ended
from lochan.pipelines.jobs.job_records import Readiness, open_jobs, readiness, upstream_of
from lochan.pipelines.model.failures import Failed
from lochan.pipelines.model.records import Job, PipelineRecord
from lochan.pipelines.schedule.sweep import sweep
from lochan.pipelines.schedule.ticks import tick
from lochan.pipelines.schedule.triggers import Grown
from lochan.pipelines.specs.graph import Graph
from lochan.pipelines.specs.registry import graph_of, list_pipelines


class Driver(Protocol):
    """A driver that was started, somewhere."""

    def is_alive(self) -> bool:
        """Say whether it still drives its job."""


Start = Callable[[Job], Driver]
_PAUSE_S: Final = 1.0
_LONGEST_S: Final = 300.0


@dataclass(frozen=True, slots=True)
class _Started:
    """A driver that was started, for which epoch, and when another one may be."""

    driver: Driver
    epoch: int
    pause_s: float
    until: float


class Scheduler:
    """One process's scheduler; a single thread calls it."""

    def __init__(self, lake: Lake, start: Start, failed: Failed, *, at_once: int = 1) -> None:
        """Start at most so many drivers at a time; `failed` is told of what the next turn mends."""
        self._lake = lake
        self._start = start
        self._failed = failed
        self._at_once = at_once
        self._started: dict[str, _Started] = {}
        self._known: tuple[tuple[PipelineRecord, ...], Graph] = ((), Graph(()))
        self._grown = Grown()

    def turn(self) -> None:
        """Look once. What fails is told, and tried again by the next turn."""
        for part in (self._close, self._decide, self._drive):
            try:
                part()
            except LochanError as error:
                self._failed(error)

    @property
    def driven(self) -> tuple[str, ...]:
        """Name the jobs whose drivers were started here and are alive."""
        return tuple(name for name, one in self._started.items() if one.driver.is_alive())

    def _close(self) -> None:
        """Take away what drivers have left that died when their jobs had ended."""
        close_ended(self._lake)

    def _decide(self) -> None:
        graph = self._graph()
        if graph.nodes:
            tick(self._lake, graph, self._failed)
            sweep(self._lake, graph, self._failed, self._grown)

    def _graph(self) -> Graph:
        """Give the graph of now: one scan, and the specs only when a pipeline was changed."""
        records = tuple(list_pipelines(self._lake))
        if records == self._known[0]:
            return self._known[1]
        failures: list[LochanError] = []
        graph = graph_of(self._lake, records, failures.append)
        for error in failures:
            self._failed(error)
        if not failures:  # a damaged row is looked at again, and told again, each turn
            self._known = records, graph
        return graph

    def _drive(self) -> None:
        self._forget()
        driven = set(self.driven)
        for job in ready_jobs(self._lake, self._failed):
            if len(driven) >= self._at_once:
                return
            if job.id not in driven and self._may_start(job):
                self._begin(job)
                driven.add(job.id)

    def _begin(self, job: Job) -> None:
        last, now = self._started.get(job.id), self._lake.environment.monotonic()
        again = last is not None and last.epoch == job.epoch
        pause_s = min(2 * last.pause_s, _LONGEST_S) if last is not None and again else _PAUSE_S
        self._started[job.id] = _Started(self._start(job), job.epoch, pause_s, now + pause_s)

    def _may_start(self, job: Job) -> bool:
        last = self._started.get(job.id)
        if last is None or last.epoch != job.epoch:
            return True
        return self._lake.environment.monotonic() >= last.until

    def _forget(self) -> None:
        """Forget drivers that ended, once their jobs had time enough to be started again."""
        now = self._lake.environment.monotonic()
        self._started = {
            name: one
            for name, one in self._started.items()
            if one.driver.is_alive() or now < one.until + _LONGEST_S
        }


def ready_jobs(lake: Lake, failed: Failed | None = None) -> Iterator[Job]:
    """Give the jobs that a driver could take now, the oldest first.

    A job whose set or whose jobs above are damaged keeps no other waiting: `failed` hears of it.
    """
    upstream = upstream_of(lake.store)
    for job in sorted(_first_in_line(open_jobs(lake.store)), key=_age):
        try:
            is_ready = readiness(lake, job, upstream) is not Readiness.WAITING
        except LochanError as error:
            if failed is None or isinstance(error, Unavailable):
                raise
            failed(error)
            continue
        if is_ready:
            yield job


def _first_in_line(jobs: Iterable[Job]) -> Iterable[Job]:
    """Give the first job of each pipeline into each branch.

    One that has begun comes before those that have not, also before older ones: clocks differ, and
    no two of a line are driven beside each other.
    """
    first: dict[tuple[str, str, str], Job] = {}
    for job in sorted(jobs, key=lambda job: (job.epoch == 0, *_age(job))):
        first.setdefault((job.pipeline, job.output_repository, job.output_branch), job)
    return first.values()


def _age(job: Job) -> tuple[int, int, str]:
    return job.created, job.order, job.id
