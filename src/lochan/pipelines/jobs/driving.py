# SPDX-License-Identifier: Apache-2.0
"""A driver's hold on its job: the lease, renewed while it works, and what it must hear of.

The lease is renewed when the engine tells how far it is, at every step of the protocol, and by a
thread beside, since planning and squashing may take long. That thread raises nothing: what it meets
is met again where the work goes on. A store that does not answer is asked again soon; a lease that
has run out meanwhile is somebody else's to take, and then the driver learns that.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from lochan.errors import JobFailed, Unavailable
from lochan.model.instant import NANOSECONDS, Instant, from_seconds
from lochan.operations.lake import Lake
from lochan.pipelines.jobs.job_records import RENEWED_S, Change, renew
from lochan.pipelines.model.failures import JobKilled, LeaseLost
from lochan.pipelines.model.records import Job
from lochan.pipelines.model.work import Progress

TOLD_S: Final = 1.0  # between two notes of how far a job is


class Driving:
    """One driver of one job. `job` is its record as last written by this driver."""

    def __init__(self, lake: Lake, job: Job, timeout_s: float = 0.0) -> None:
        """Drive a job that was just claimed; a job that takes longer than a time-out fails."""
        self._lake = lake
        self.job = job
        self._timeout = int(timeout_s * NANOSECONDS)
        self._renewed = lake.environment.monotonic()
        self._progress = job.progress
        self._told = job.progress
        self._lock = lake.environment.lock()
        self._is_over = False

    def change(self, change: Change) -> Job:
        """Write a change of the job, with a new lease. Raises LeaseLost, JobKilled, JobFailed."""
        with self._lock:
            self._write(change)
        self._listen()
        return self.job

    def tell(self, progress: Progress) -> None:
        """Take note of how far the engine is. Raises as `change`, which ends the engine's run."""
        self._progress = progress
        now = self._lake.environment.monotonic()
        if now - self._renewed >= (TOLD_S if progress != self._told else RENEWED_S):
            self.change(lambda job: job)
        self._listen()

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Keep the lease while the caller works, whatever it does."""
        self._lake.environment.spawn(self._beat, name="lochan-job")
        try:
            yield
        finally:
            with self._lock:  # whoever drives may close the stores next
                self._is_over = True

    def _write(self, change: Change) -> None:
        progress = self._progress
        self.job = renew(
            self._lake,
            self.job,
            lambda job: msgspec.structs.replace(change(job), progress=progress),
        )
        self._told = progress
        self._renewed = self._lake.environment.monotonic()

    def _listen(self) -> None:
        """Raise what is to be heard."""
        if self.job.kill:
            raise JobKilled(f"job {self.job.id} was killed")
        if self._timeout and self._age() > self._timeout:
            seconds = self._timeout / NANOSECONDS
            raise JobFailed(f"the job took longer than {seconds:g} s", code="job-timeout")

    def _age(self) -> int:
        now: Instant = from_seconds(self._lake.environment.now())
        return now - self.job.started

    def _beat(self) -> None:
        environment = self._lake.environment
        while not self._is_over:
            environment.sleep(TOLD_S)
            with self._lock:
                if self._is_over or environment.monotonic() - self._renewed < RENEWED_S:
                    continue
                try:
                    self._write(_same)
                except LeaseLost:
                    return  # the next word of the driver meets it, too
                except Unavailable:
                    continue  # asked again in a second; the lease stands it for a while


def _same(job: Job) -> Job:
    return job
