# SPDX-License-Identifier: Apache-2.0
"""Jobs: looked at, waited for, stopped; what their datums did and said."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from lochan.client import html
from lochan.client.pages import items
from lochan.client.transport import Transport
from lochan.errors import Conflict, JobFailed
from lochan.shapes.jobs import (
    Datum,
    DatumList,
    Job,
    JobList,
    JobQuery,
    JobSet,
    LineageEvents,
    LogLine,
    LogLines,
    LogQuery,
    Shard,
    ShardList,
)

ENDS: Final = frozenset({"success", "failure", "killed", "unrunnable", "skipped"})
GOOD: Final = frozenset({"success", "skipped"})
_LOOK_S: Final = 0.5
_LOG: Final = "; its log ends: "  # what follows in a reason is for who looks at one job

Watch = Callable[[JobSet], object]
"""Told how far the jobs of a run are, whenever somebody looked."""
Drive = Callable[[str], object]
"""Drives the jobs of a set to their ends, in this process: for a lake that is in it, too."""


def reason_of(job: Job) -> str:
    """Say in short why a job ended as it did: without the end of a datum's log."""
    return job.reason.partition(_LOG)[0]


class Jobs:
    """The jobs of a lake's pipelines."""

    def __init__(self, transport: Transport, drive: Drive | None = None) -> None:
        """Speak through a transport; who waits for a run may have to drive it."""
        self._transport = transport
        self._drive = drive

    def of(self, pipeline: str, *, max_amount: int | None = None) -> Iterator[Job]:
        """Give the jobs of a pipeline, newest first."""

        def fetch(behind: str, amount: int) -> JobList:
            query = JobQuery(after=behind, amount=amount)
            return self._transport.call(
                "GET", ("pipelines", pipeline, "jobs"), JobList, query=query
            )

        return items(fetch, max_amount=max_amount)

    def get(self, job: str) -> Job:
        """Give a job as it is now. Raises NotFound."""
        return self._transport.call("GET", ("jobs", job), Job)

    def stop(self, job: str) -> Job:
        """Ask for the end of a job."""
        return self._transport.call("POST", ("jobs", job, "stop"), Job)

    def datums(self, job: str, *, max_amount: int | None = None) -> Iterator[Datum]:
        """Give the datums of what a job published."""

        def fetch(behind: str, amount: int) -> DatumList:
            query = JobQuery(after=behind, amount=amount)
            return self._transport.call("GET", ("jobs", job, "datums"), DatumList, query=query)

        return items(fetch, max_amount=max_amount)

    def logs(self, job: str, datum: str = "") -> list[LogLine]:
        """Give what a job's code printed, of one datum or of all."""
        query = LogQuery(datum=datum)
        return self._transport.call("GET", ("jobs", job, "logs"), LogLines, query=query).results

    def shards(self, job: str) -> list[Shard]:
        """Give the shards of a job that have finished so far."""
        return self._transport.call("GET", ("jobs", job, "shards"), ShardList).results

    def show_shard(self, job: str, number: int) -> Shard:
        """Make a hidden branch of the output that shows what a shard wrote."""
        return self._transport.call("POST", ("jobs", job, "shards", str(number)), Shard)

    def events(self, job: str) -> list[dict[str, Any]]:
        """Give a job as events of OpenLineage."""
        return self._transport.call("GET", ("jobs", job, "events"), LineageEvents).results

    def run(self, job_set: str) -> "Run":
        """Name the run of a job set. Raises NotFound."""
        path = ("job-sets", job_set)
        return Run(self._transport, self._transport.call("GET", path, JobSet), self._drive)


class Run:
    """A job set that was decided: all jobs that one cause calls for."""

    def __init__(self, transport: Transport, decided: JobSet, drive: Drive | None = None) -> None:
        """Stand for a decided set."""
        self._transport = transport
        self._known = decided
        self._drive = drive

    @property
    def id(self) -> str:
        """Name the job set."""
        return self._known.id

    @property
    def jobs(self) -> list[Job]:
        """Give its jobs as last seen, upstream first."""
        return self._known.jobs

    @property
    def is_over(self) -> bool:
        """Say whether all of them had ended when last looked at."""
        return all(job.state in ENDS for job in self._known.jobs)

    def look(self) -> JobSet:
        """Ask how far it is."""
        self._known = self._transport.call("GET", ("job-sets", self.id), JobSet)
        return self._known

    def wait(self, watch: Watch | None = None, *, timeout_s: float | None = None) -> list[Job]:
        """Wait until all jobs have ended; those of a lake in this process are run meanwhile.

        Raises: JobFailed when one came to no good end; Conflict, code run-not-over, when
        `timeout_s` seconds have passed.
        """
        environment = self._transport.environment
        give_up = None if timeout_s is None else environment.monotonic() + timeout_s
        if self._drive is not None and timeout_s is None:
            self._drive(self.id)
        while True:
            found = self.look()
            if watch is not None:
                watch(found)
            if self.is_over:
                break
            if give_up is not None and environment.monotonic() >= give_up:
                message = f"the run {self.id} is not over; is a scheduler or a worker running?"
                raise Conflict(message, code="run-not-over")
            environment.sleep(_LOOK_S)
        self.require_good()
        return self.jobs

    def require_good(self) -> None:
        """Raise JobFailed if a job, when last looked at, had come to no good end."""
        for job in self.jobs:
            if job.state in ENDS - GOOD:
                message = f"{job.pipeline} ended as {job.state}: {reason_of(job)}"
                raise JobFailed(f"{message}; see `lochan job logs {job.id}`", job=job.id)

    def _repr_html_(self) -> str:
        rows = [(job.pipeline, job.state, job.reason, job.commit[:12]) for job in self.jobs]
        return html.table(f"run {self.id}", ("pipeline", "state", "reason", "commit"), rows)
