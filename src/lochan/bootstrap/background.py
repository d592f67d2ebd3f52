# SPDX-License-Identifier: Apache-2.0
"""What a server does beside answering: cleaning, compacting, clearing, in every worker.

Each of these looks after the lake about once a minute, and the cleaner at once as well: a lake in a
folder may be open for no longer than one command. Workers and servers know nothing of each other:
runs may overlap and repeat each other, and jitter keeps them from doing so always. A run that fails
is logged and counted, and the next one tries again.
"""

from collections.abc import Callable, Mapping
from threading import Event, Thread
from typing import Final

from lochan.errors import LochanError
from lochan.logs.log import Log
from lochan.metrics import Metrics
from lochan.operations.compactor import Compactor
from lochan.operations.gc.abandoned import clear_abandoned
from lochan.operations.lake import Lake
from lochan.refs.cleaner import Cleaner
from lochan.refs.repositories import list_repositories

PAUSE_S: Final = 60.0
_END_S: Final = 5.0  # how long the end of a run is waited for; all may end anywhere
_STEPS: Final = 1 << 16


class Background:
    """The threads that look after one lake, between `start` and `close`."""

    def __init__(self, lake: Lake, log: Log, metrics: Metrics, *, pause_s: float = PAUSE_S) -> None:
        """Look after a lake, about every `pause_s` seconds."""
        self._environment = lake.environment
        self._log = log
        self._metrics = metrics
        self._pause_s = pause_s
        self._stopping = Event()
        self._cleaner = Cleaner(lake.store, lake.environment)
        self._compactor = Compactor(lake)
        metrics.longest_sealed.watch(lambda: self._compactor.longest)
        self._lake = lake
        work: Mapping[str, Callable[[], str]] = {
            "clean": self._clean,
            "compact": self._compact,
            "clear": self._clear,
        }
        self._threads = [
            Thread(target=self._repeat, args=(name, run), name=f"lochan {name}", daemon=True)
            for name, run in work.items()
        ]

    def start(self) -> None:
        """Clean, and begin the others after a part of a pause."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Begin no further run, and wait a little for those under way. Idempotent."""
        self._stopping.set()
        self._cleaner.stop()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(_END_S)

    def _repeat(self, name: str, run: Callable[[], str]) -> None:
        pause = 0.0 if name == "clean" else self._pause_s * self._share()
        while not self._stopping.wait(pause):
            try:
                outcome = run()
            except Exception:  # noqa: BLE001 - the next run may do better, whatever this was
                outcome = "failed"
                if not self._stopping.is_set():  # a store that closes is no news
                    self._log.exception("background work failed", work=name)
            self._metrics.background_runs.of(name, outcome).add()
            pause = self._pause_s * (0.75 + self._share() / 2)

    def _share(self) -> float:
        return int.from_bytes(self._environment.random_bytes(2), "big") / _STEPS

    def _clean(self) -> str:
        cleaned = self._cleaner.run()
        for skipped in cleaned.skipped:
            self._log.warning(
                "cleaning was put off",
                partition=skipped.partition.decode(errors="replace"),
                key=skipped.key.decode(errors="replace"),
                error=str(skipped.error),
            )
        if done := cleaned.done.total():
            self._log.info("cleaned", done=done)
        return "partly" if cleaned.skipped else "done"

    def _compact(self) -> str:
        outcome = "done"
        for found in self._compactor.run():
            place = {"repository": found.repository_id, "branch": found.branch_id}
            if found.error is None:
                self._log.info("compacted", **place)
            else:
                outcome = "partly"
                self._log.warning("compaction was put off", error=str(found.error), **place)
        return outcome

    def _clear(self) -> str:
        """Delete private branches that were left behind."""
        outcome = "done"
        for repository in list_repositories(self._lake.store):
            if repository.read_only:
                continue
            place = {"repository": repository.repository_id}
            try:
                cleared = clear_abandoned(self._lake, repository)
            except LochanError as error:  # one repository must not keep the others waiting
                outcome = "partly"
                self._log.warning("clearing was put off", error=str(error), **place)
                continue
            for branch in cleared:
                self._log.info("cleared a private branch", branch=branch, **place)
        return outcome
