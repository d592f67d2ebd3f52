# SPDX-License-Identifier: Apache-2.0
"""The scheduler: each turn looks what must run, decides it, and starts drivers for what is ready.

It plans nothing and runs no user's code. Any number of schedulers may look after one lake: what one
has decided the others find decided, and of two drivers of a job one claims it and the other ends.

Jobs of one pipeline into one branch are driven one after the other, the oldest first, each on what
the one before it published.
"""

from collections.abc import Callable, Iterator
from typing import Protocol

from lochan.errors import LochanError, Unavailable
from lochan.operations.lake import Lake
from lochan.pipelines.after import close_ended
from lochan.pipelines.jobs import Readiness, open_jobs, readiness, upstream_of
from lochan.pipelines.records import Job
from lochan.pipelines.registry import load_graph
from lochan.pipelines.sweep import Failed, sweep
from lochan.pipelines.ticks import tick


class Driver(Protocol):
    """A driver that was started, somewhere."""

    def is_alive(self) -> bool:
        """Say whether it still drives its job."""


Start = Callable[[Job], Driver]


class Scheduler:
    """One process's scheduler; a single thread calls it."""

    def __init__(self, lake: Lake, start: Start, failed: Failed, *, at_once: int = 1) -> None:
        """Start at most so many drivers at a time; `failed` is told of what the next turn mends."""
        self._lake = lake
        self._start = start
        self._failed = failed
        self._at_once = at_once
        self._driven: dict[str, Driver] = {}

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
        self._driven = {name: one for name, one in self._driven.items() if one.is_alive()}
        return tuple(self._driven)

    def _close(self) -> None:
        """Take away what drivers have left that died when their jobs had ended."""
        close_ended(self._lake)

    def _decide(self) -> None:
        graph = load_graph(self._lake)
        if graph.nodes:
            tick(self._lake, graph, self._failed)
            sweep(self._lake, graph, self._failed)

    def _drive(self) -> None:
        driven = set(self.driven)
        for job in ready_jobs(self._lake, self._failed):
            if len(driven) >= self._at_once:
                return
            if job.id not in driven:
                self._driven[job.id] = self._start(job)
                driven.add(job.id)


def ready_jobs(lake: Lake, failed: Failed | None = None) -> Iterator[Job]:
    """Give the jobs that a driver could take now, the oldest first.

    A job whose set or whose jobs above are damaged keeps no other waiting: `failed` hears of it.
    """
    taken: set[tuple[str, str, str]] = set()
    upstream = upstream_of(lake.store)
    for job in sorted(open_jobs(lake.store), key=_place_in_line):
        place = (job.pipeline, job.output_repository, job.output_branch)
        if place in taken:
            continue
        taken.add(place)
        try:
            is_ready = readiness(lake, job, upstream) is not Readiness.WAITING
        except LochanError as error:
            if failed is None or isinstance(error, Unavailable):
                raise
            failed(error)
            continue
        if is_ready:
            yield job


def _place_in_line(job: Job) -> tuple[int, int, str]:
    return job.created, job.order, job.id
