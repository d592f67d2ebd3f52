# SPDX-License-Identifier: Apache-2.0
"""Work that is done for many at once: whoever asks while it is under way is gathered for the next.

One batch a key is under way. Who asks meanwhile joins the batch that has not begun, never the one
that has: so the work begins after every call that it answers. The first to join does the work, in
its own thread, for all of its batch. Nobody sleeps to let a batch fill.

        asks:     a   b c     d
        work:     [--a--][--b,c,d--]
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

from lochan.environment import Environment, Event
from lochan.errors import UnknownOutcome

Item = TypeVar("Item")
Work = Callable[[Sequence[Item]], None]


class _Batch(Generic[Item]):
    """Items that will be worked on together."""

    def __init__(self, turn: Event, done: Event) -> None:
        self.turn = turn  # set when the first of the batch may begin
        self.done = done
        self.items: list[Item] = []
        self.error: BaseException | None = None


class Turns(Generic[Item]):
    """Batches by key, one at a time for each key."""

    def __init__(self, environment: Environment) -> None:
        """Take locks and events from this environment."""
        self._environment = environment
        self._lock = environment.lock()
        self._running: set[Hashable] = set()
        self._gathering: dict[Hashable, _Batch[Item]] = {}

    def take(self, key: Hashable, item: Item, work: Work[Item]) -> None:
        """Have a batch worked on that holds `item`, begun after this call.

        The `work` of the batch's first caller is what runs. Raises: what it raises, for all;
        UnknownOutcome when another caller was interrupted at it.
        """
        with self._lock:
            if key not in self._running:
                self._running.add(key)
                batch = None
            else:
                batch = self._gathering.get(key)
                leads = batch is None
                if batch is None:
                    batch = _Batch[Item](self._environment.event(), self._environment.event())
                    self._gathering[key] = batch
                batch.items.append(item)
        if batch is None:  # nobody is at it, so nobody else can have joined
            try:
                work([item])
            finally:
                self._pass_on(key)
            return
        if leads:
            self._await_turn(key, batch, work)
        else:
            batch.done.wait()
        if batch.error is not None:
            if leads or isinstance(batch.error, Exception):
                raise batch.error
            message = f"the work on {key!r} for several callers was interrupted; look, then repeat"
            raise UnknownOutcome(message) from batch.error

    def _await_turn(self, key: Hashable, batch: _Batch[Item], work: Work[Item]) -> None:
        try:
            batch.turn.wait()
        except BaseException:
            batch.turn.wait()  # interrupted (Ctrl-C): the others wait for nobody but us
            self._lead(key, batch, work)
            raise
        self._lead(key, batch, work)

    def _lead(self, key: Hashable, batch: _Batch[Item], work: Work[Item]) -> None:
        with self._lock:
            del self._gathering[key]  # from now on nobody joins
        try:
            work(batch.items)
        except BaseException as error:  # noqa: BLE001 - every caller of the batch must hear of it
            batch.error = error
        self._pass_on(key)
        batch.done.set()

    def _pass_on(self, key: Hashable) -> None:
        """Let the batch that has gathered begin, if there is one."""
        with self._lock:
            following = self._gathering.get(key)
            if following is None:
                self._running.discard(key)
        if following is not None:
            following.turn.set()
