# SPDX-License-Identifier: Apache-2.0
"""Run jobs beside the caller and take their results in order, a bounded number ahead."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Generic, TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Job(Generic[Result]):
    """Work that gives a result when it is run."""

    work: Callable[[], Result]


@dataclass(frozen=True, slots=True)
class Crew:
    """Threads, and how many results may wait: this bounds the memory of every pass."""

    executor: Executor
    threads: int

    @property
    def ahead(self) -> int:
        """How many jobs may be started before the first result is taken."""
        return 2 * self.threads

    def in_order(self, pieces: Iterable[Result | Job[Result]]) -> Iterator[Result]:
        """Give ready pieces as they are and jobs' results in their places.

        The first error ends it; jobs that have not begun are then cancelled.
        """
        waiting: deque[Result | Future[Result]] = deque()
        running = 0
        try:
            for piece in pieces:
                if isinstance(piece, Job):
                    waiting.append(self.executor.submit(piece.work))
                    running += 1
                else:
                    waiting.append(piece)
                while waiting and (running > self.ahead or not isinstance(waiting[0], Future)):
                    first = waiting.popleft()
                    if isinstance(first, Future):
                        running -= 1
                        yield first.result()
                    else:
                        yield first
            for rest in waiting:
                yield rest.result() if isinstance(rest, Future) else rest
        finally:
            for left in waiting:
                if isinstance(left, Future):
                    left.cancel()
