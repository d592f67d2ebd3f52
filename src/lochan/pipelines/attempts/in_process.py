# SPDX-License-Identifier: Apache-2.0
"""Run shards in this process: for tests, `pipeline test` and embedded lakes, never in a server.

One thread runs them one by one, where it is called. With several, datums of different shards run
beside each other in one interpreter; a function that prints, reads and writes is fit for that, one
that changes its modules' state may not be.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from itertools import islice
from typing import Final

from lochan.environment import Environment
from lochan.pipelines.attempts.attempt import run_shard
from lochan.pipelines.attempts.checks import CheckTask, Query, require_passed, run_checks
from lochan.pipelines.attempts.function_call import Function
from lochan.pipelines.attempts.places import Storages
from lochan.pipelines.model.datum import DatumRow, DatumState
from lochan.pipelines.model.work import JobTask, Manifest, Progress, Shard, Tell

_TELL_S: Final = 0.2


class InProcess:
    """An `Engine` of this process. `function` stands in for the one that transforms name."""

    def __init__(
        self,
        environment: Environment,
        storages: Storages,
        *,
        threads: int = 1,
        function: Function | None = None,
        query: Query | None = None,
    ) -> None:
        """Run so many shards at once; `query` runs checks that are queries."""
        self._query = query
        self._environment = environment
        self._storages = storages
        self._threads = threads
        self._function = function

    @property
    def cores(self) -> int:
        """Say how many shards run at once."""
        return self._threads

    def run(self, task: JobTask, shards: Sequence[Shard], tell: Tell) -> Iterator[Manifest]:
        """Give the manifest of each shard. Raises what `tell` and attempts raise."""
        counted = _Counted(len(shards), tell, self._environment)
        if self._threads == 1:
            for shard in shards:
                yield counted.shard(self._attempt(task, shard, counted))
        else:
            yield from self._beside(task, shards, counted)

    def check(self, task: CheckTask) -> None:
        """Run the checks of an output.

        Raises: JobFailed, code check-failed; InvalidInput for a query that nobody here can run.
        """
        require_passed(run_checks(task, self._environment, self._storages, self._query))

    def _attempt(self, task: JobTask, shard: Shard, counted: "_Counted") -> Manifest:
        return run_shard(
            task,
            shard,
            self._environment,
            self._storages,
            done=counted.datum,
            function=self._function,
        )

    def _beside(
        self, task: JobTask, shards: Sequence[Shard], counted: "_Counted"
    ) -> Iterator[Manifest]:
        left = iter(shards)
        running: set[Future[Manifest]] = set()
        with self._environment.executor(self._threads) as executor:
            try:
                while True:
                    for shard in islice(left, self._threads - len(running)):
                        running.add(executor.submit(self._attempt, task, shard, counted))
                    if not running:
                        return
                    ended, running = wait(running, _TELL_S, FIRST_COMPLETED)
                    for future in ended:
                        yield counted.shard(future.result())
            except BaseException:
                counted.stop()  # others end with their datum
                raise


class _Stopped(Exception):
    """Another shard failed, or the run was ended: this attempt comes to nothing."""


class _Counted:
    """How far the run is; tells it, and what that raises ends the attempt that told."""

    def __init__(self, shards: int, tell: Tell, environment: Environment) -> None:
        self._tell = tell
        self._environment = environment
        self._lock = environment.lock()
        self._progress = Progress(shards=shards)
        self._told = environment.monotonic()
        self._is_stopped = False

    def stop(self) -> None:
        self._is_stopped = True

    def datum(self, row: DatumRow) -> None:
        if self._is_stopped:
            raise _Stopped
        with self._lock:
            before = self._progress
            is_failed = row.state is DatumState.FAILED
            self._progress = Progress(
                shards=before.shards,
                shards_done=before.shards_done,
                datums_done=before.datums_done + 1,
                datums_failed=before.datums_failed + is_failed,
                bytes=before.bytes + row.bytes,
            )
            if self._environment.monotonic() - self._told < _TELL_S:
                return
            self._told = self._environment.monotonic()
            self._tell(self._progress)

    def shard(self, manifest: Manifest) -> Manifest:
        with self._lock:
            before = self._progress
            self._progress = Progress(
                shards=before.shards,
                shards_done=before.shards_done + 1,
                datums_done=before.datums_done,
                datums_failed=before.datums_failed,
                bytes=before.bytes,
            )
            self._tell(self._progress)
        return manifest
