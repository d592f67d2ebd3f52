# SPDX-License-Identifier: Apache-2.0
"""Reads that are surely fresh, shared by all who ask at the same time (seed 004: amortised reads).

A reader or writer must know the branch as it was *after* its own work. So a caller may share a read
only if that read begins after the call: it joins the batch that has not begun yet, never the one
under way. Nobody sleeps to let a batch fill: while one read runs, the next batch gathers.

        asks:     a   b c     d
        reads:    [--a--][--b,c,d--]
"""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from lochan.environment import Environment, Event

Value = TypeVar("Value")


class _Batch(Generic[Value]):
    """Callers that will share one read."""

    def __init__(self, turn: Event, done: Event) -> None:
        self.turn = turn  # set when the first caller may begin to read
        self.done = done
        self.value: Value | None = None
        self.error: BaseException | None = None


class FreshReads(Generic[Value]):
    """Reads by key, each begun after every caller that it answers."""

    def __init__(self, read: Callable[[Hashable], Value], environment: Environment) -> None:
        """Share calls of `read`."""
        self._read = read
        self._environment = environment
        self._lock = environment.lock()
        self._running: set[Hashable] = set()
        self._gathering: dict[Hashable, _Batch[Value]] = {}

    def read(self, key: Hashable) -> Value:
        """Give a value that was read after this call began; what the read raises goes to all."""
        with self._lock:
            batch = self._gathering.get(key)
            leads = batch is None
            if batch is None:
                batch = _Batch[Value](self._environment.event(), self._environment.event())
                if key in self._running:
                    self._gathering[key] = batch
                else:
                    self._running.add(key)
                    batch.turn.set()
        if not leads:
            batch.done.wait()
        else:
            batch.turn.wait()
            self._lead(key, batch)
        if batch.error is not None:
            raise batch.error
        return batch.value  # type: ignore[return-value]  # set whenever there is no error

    def _lead(self, key: Hashable, batch: _Batch[Value]) -> None:
        try:
            batch.value = self._read(key)
        except BaseException as error:  # noqa: BLE001 - every caller of the batch must hear of it
            batch.error = error
        with self._lock:
            following = self._gathering.pop(key, None)
            if following is None:
                self._running.discard(key)
        batch.done.set()
        if following is not None:
            following.turn.set()
