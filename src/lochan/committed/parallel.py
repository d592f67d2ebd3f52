# SPDX-License-Identifier: Apache-2.0
"""Run jobs beside the caller and take their results in order, a bounded number ahead."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Generic, ParamSpec, TypeVar, cast

from lochan.kernel.interface import Breathe

P = ParamSpec("P")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Job(Generic[Result]):
    """Work that gives a result when it is run."""

    work: Callable[[], Result]


@dataclass(frozen=True, slots=True)
class Crew:
    """Threads, and how many results may wait: this bounds the memory of every pass.

    `breathe` is called between small pieces of long work, where others are to have their turn.
    """

    executor: Executor
    threads: int
    breathe: Breathe = None

    @property
    def ahead(self) -> int:
        """How many jobs may be started before the first result is taken."""
        return 2 * self.threads

    def in_order(self, pieces: Iterable[Result | Job[Result]]) -> Iterator[Result]:
        """Give ready pieces as they are and jobs' results in their places.

        The first jobs begin at once, before a result is asked for: streams that are read side by
        side are then loaded side by side. The first error ends it; jobs that have not begun are
        then cancelled.
        """
        queue = _Queue(self, iter(pieces))
        queue.fill()
        return queue.results()


class OwnThread(Executor):
    """Runs each piece of work by who submits it, before `submit` returns."""

    def submit(
        self, fn: Callable[P, Result], /, *args: P.args, **named: P.kwargs
    ) -> Future[Result]:
        """Do it now; the future is done when it is given."""
        future: Future[Result] = Future()
        try:
            future.set_result(fn(*args, **named))
        except Exception as error:  # noqa: BLE001 - the future carries it
            future.set_exception(error)
        return future


def alone(breathe: Callable[[], None]) -> Crew:
    """Make a crew of nobody but the caller."""
    return Crew(OwnThread(), 1, breathe)


class _Queue(Generic[Result]):
    """Pieces that were taken and not yet handed out."""

    def __init__(self, crew: Crew, pieces: Iterator[Result | Job[Result]]) -> None:
        self._crew = crew
        self._pieces = pieces
        self._waiting: deque[Result | Future[Result]] = deque()
        self._running = 0

    def fill(self) -> None:
        """Take pieces until enough jobs run, or a ready piece stands first."""
        while self._running < self._crew.ahead:
            if self._waiting and not isinstance(self._waiting[0], Future):
                return
            piece = next(self._pieces, self)
            if piece is self:
                return
            if isinstance(piece, Job):
                self._waiting.append(self._crew.executor.submit(piece.work))
                self._running += 1
            else:
                self._waiting.append(cast("Result", piece))

    def results(self) -> Iterator[Result]:
        """Hand out results in order, taking more pieces on the way."""
        try:
            while self._waiting:
                first = self._waiting.popleft()
                if isinstance(first, Future):
                    found = first.result()
                    self._running -= 1
                else:
                    found = first
                yield found
                self.fill()
        finally:
            for left in self._waiting:
                if isinstance(left, Future):
                    left.cancel()
