# SPDX-License-Identifier: Apache-2.0
"""Jobs: their records, who drives them, and how they end.

    CREATED -> STARTING -> RUNNING -> FINISHING -> EGRESSING -> SUCCESS
    any of these                                             -> FAILURE, KILLED, UNRUNNABLE, SKIPPED

Every change is a compare-and-swap of jobs/<id>. A driver *claims* a job: it becomes the owner, the
epoch goes up by one, and a lease runs, which it renews. When the lease has run out another driver
may claim the job and go on where the first one stopped. From then on whatever the first one writes
is refused, since each of its writes says its epoch (`change_job`); that it cannot publish any more
either is the work of `publish.fence`. An end never changes: a rerun is another job.

A kill is an intent in the record. The driver sees it when it renews its lease; a job without a
driver is ended by whoever claims it next, and that may be the killer.
"""

from collections.abc import Callable, Iterator, Mapping
from enum import Enum, auto
from functools import cache
from typing import Final

import msgspec

from lochan.errors import Conflict, NotFound
from lochan.kv.read import scan_prefix
from lochan.kv.store import Store
from lochan.model.instant import NANOSECONDS, Instant, from_seconds
from lochan.operations.lake import Lake
from lochan.pipelines.model.failures import LeaseLost
from lochan.pipelines.model.records import PIPELINES, Job, JobSet, JobState, PlannedJob
from lochan.pipelines.model.tables import PipelineTables, by_pipeline_name, get_version
from lochan.refs.outcomes import surely

LEASE_S: Final = 60.0
RENEWED_S: Final = 10.0
FARTHEST_S: Final = 3600.0  # that clocks of two machines may differ
# Ends below which nothing can run.
BROKEN: Final = frozenset({JobState.FAILURE, JobState.KILLED, JobState.UNRUNNABLE})

Change = Callable[[Job], Job]
Upstream = Callable[[Job], tuple[str, ...]]


class Readiness(Enum):
    """Whether a job can be driven now."""

    READY = auto()
    WAITING = auto()  # for a job above, or another driver has it
    UNRUNNABLE = auto()  # a job above did not come to a good end; a driver writes that down


def get_job(store: Store, job_id: str) -> Job:
    """Read a job. Raises NotFound."""
    found = PipelineTables.of(store).jobs.find(job_id.encode())
    if found is None:
        raise NotFound(f"there is no job {job_id!r}", code="job-not-found", job=job_id)
    return found.record


def get_job_set(store: Store, job_set: str) -> JobSet:
    """Read a job set. Raises NotFound."""
    found = PipelineTables.of(store).job_sets.find(job_set.encode())
    if found is None:
        message = f"there is no job set {job_set!r}"
        raise NotFound(message, code="job-set-not-found", job_set=job_set)
    return found.record


def list_jobs(store: Store, pipeline: str, after: str = "") -> Iterator[Job]:
    """Give the jobs of a pipeline, newest first, from behind a job on."""
    tables = PipelineTables.of(store)
    prefix, start = tables.by_pipeline.prefix + f"{pipeline}/".encode(), b""
    if after:
        last = get_job(store, after)
        start = tables.by_pipeline.prefix + by_pipeline_name(pipeline, last.created, after)
    for key, _ in scan_prefix(store, PIPELINES, prefix, start):
        found = tables.jobs.find(key.rsplit(b"/", 1)[1])
        if found is not None:
            yield found.record


def open_jobs(store: Store) -> Iterator[Job]:
    """Give the jobs that have not come to an end, by id. Raises when a scan fails."""
    tables = PipelineTables.of(store)
    for name, _ in tables.open.scan():
        found = tables.jobs.find(name)
        if found is not None and not found.record.state.is_end:
            yield found.record


def open_jobs_of(lake: Lake, decided: JobSet) -> tuple[Job, ...]:
    """Make the records of a job set that are missing, and give all. Idempotent.

    The open row comes first: a job that nobody finds would never be driven.
    """
    tables = PipelineTables.of(lake.store)
    return tuple(_opened(lake, tables, decided, planned) for planned in decided.jobs)


def _opened(lake: Lake, tables: PipelineTables, decided: JobSet, planned: PlannedJob) -> Job:
    name = planned.job.encode()
    found = tables.jobs.find(name)
    if found is not None:
        return found.record
    output = get_version(lake.store, planned.pipeline, planned.version).spec.output
    made = Job(
        id=planned.job,
        job_set=decided.id,
        pipeline=planned.pipeline,
        version=planned.version,
        order=decided.cause.order,
        output_repository=output.repo,
        output_branch=decided.branch or output.branch,
        created=decided.created,
    )
    listed = by_pipeline_name(made.pipeline, made.created, made.id)
    surely(lambda: tables.open.set(name, b""))
    surely(lambda: tables.by_pipeline.set(listed, b""))
    # Whoever else makes it makes the same bytes, so a lost answer is no question.
    found_now = tables.jobs.update(name, lambda job: job or made, lake.environment, landed=bool)
    assert found_now is not None  # noqa: S101 - the change never gives None
    return found_now


def readiness(lake: Lake, job: Job, upstream: Upstream | None = None) -> Readiness:
    """Say whether a job can be driven: nobody does, and what is above has ended, or need not.

    `upstream` names what is above a job, for whoever asks of many jobs of a set.
    """
    if job.state.is_end or not is_free(job, from_seconds(lake.environment.now())):
        return Readiness.WAITING
    if job.kill:
        return Readiness.READY
    names = (upstream or upstream_of(lake.store))(job)
    above = [get_job(lake.store, name).state for name in names]
    if any(state in BROKEN for state in above):
        return Readiness.UNRUNNABLE
    return Readiness.READY if all(state.is_end for state in above) else Readiness.WAITING


def upstream_of(store: Store) -> Upstream:
    """Give what names the jobs above a job; each job set is read once."""

    @cache
    def planned(job_set: str) -> Mapping[str, tuple[str, ...]]:
        return {each.job: each.upstream for each in get_job_set(store, job_set).jobs}

    return lambda job: planned(job.job_set).get(job.id, ())


def is_free(job: Job, now: Instant) -> bool:
    """Say whether a job has no driver: never had one, or its lease has run out.

    A lease that ends far ahead was taken by a clock that was wrong, and would never run out.
    """
    return not now < job.lease_until <= _until(now, FARTHEST_S)


def claim(lake: Lake, job_id: str, lease_s: float = LEASE_S) -> Job:
    """Become the driver of a job; gives it with the new owner and epoch.

    Raises: NotFound; Conflict, code job-claimed or job-ended.
    """
    owner, now = lake.environment.new_id(), from_seconds(lake.environment.now())
    until = _until(now, lease_s)

    def claimed(job: Job | None) -> Job:
        if job is None:
            raise NotFound(f"there is no job {job_id!r}", code="job-not-found", job=job_id)
        if job.state.is_end:
            raise Conflict(f"job {job_id} ended as {job.state.value}", code="job-ended", job=job_id)
        if not is_free(job, now):
            message = f"job {job_id} has a driver until its lease runs out; wait"
            raise Conflict(message, code="job-claimed", job=job_id, owner=job.owner)
        begins = job.state is JobState.CREATED
        return msgspec.structs.replace(
            job,
            state=JobState.STARTING if begins else job.state,
            started=now if begins else min(now, job.started),
            owner=owner,
            epoch=job.epoch + 1,
            lease_until=until,
        )

    table = PipelineTables.of(lake.store).jobs
    found = table.update(
        job_id.encode(),
        claimed,
        lake.environment,
        landed=lambda job: None if job is None else job.owner == owner,
    )
    assert found is not None  # noqa: S101 - claimed never gives None
    return found


def change_job(lake: Lake, job: Job, change: Change) -> Job:
    """Change a job that is ours; `change` is pure, and sets what it sets whatever was there.

    Raises: LeaseLost when another driver has it, or it was ended; UnknownOutcome.
    """

    def changed(current: Job | None) -> Job:
        _require_ours(current, job)
        assert current is not None  # noqa: S101 - just looked at
        return change(current)

    table = PipelineTables.of(lake.store).jobs
    found = table.update(
        job.id.encode(), changed, lake.environment, landed=lambda now: _is_in(now, job, change)
    )
    assert found is not None  # noqa: S101 - changed never gives None
    return found


def renew(lake: Lake, job: Job, change: Change = lambda job: job, lease_s: float = LEASE_S) -> Job:
    """Keep a job for another lease, and write down what has changed. Raises as `change_job`."""
    until = _until(from_seconds(lake.environment.now()), lease_s)
    return change_job(
        lake, job, lambda current: msgspec.structs.replace(change(current), lease_until=until)
    )


def require_driver(lake: Lake, job: Job) -> Job:
    """Read a job that must still be ours. Raises LeaseLost."""
    found = PipelineTables.of(lake.store).jobs.find(job.id.encode())
    current = None if found is None else found.record
    _require_ours(current, job)
    assert current is not None  # noqa: S101 - just looked at
    return current


def end_job(lake: Lake, job: Job, state: JobState, reason: str = "") -> Job:
    """Write down how a job of ours ended. Raises as `change_job`."""
    now = from_seconds(lake.environment.now())
    return change_job(
        lake,
        job,
        lambda current: msgspec.structs.replace(current, state=state, reason=reason, finished=now),
    )


def release(lake: Lake, job: Job, after_s: float = 0.0) -> Job:
    """Let go of a job that is to be driven again, at once or after a while."""
    free = _until(from_seconds(lake.environment.now()), after_s)
    return change_job(lake, job, lambda current: msgspec.structs.replace(current, lease_until=free))


def ask_kill(lake: Lake, job_id: str) -> Job:
    """Ask for the end of a job; one that has ended stays as it is. Raises NotFound."""

    def asked(job: Job | None) -> Job:
        if job is None:
            raise NotFound(f"there is no job {job_id!r}", code="job-not-found", job=job_id)
        return job if job.state.is_end else msgspec.structs.replace(job, kill=True)

    found = PipelineTables.of(lake.store).jobs.update(
        job_id.encode(),
        asked,
        lake.environment,
        landed=lambda job: None if job is None else job.kill or job.state.is_end,
    )
    assert found is not None  # noqa: S101 - asked never gives None
    return found


def _until(now: Instant, lease_s: float) -> Instant:
    return Instant(now + int(lease_s * NANOSECONDS))


def _require_ours(current: Job | None, job: Job) -> None:
    if current is None or current.owner != job.owner or current.epoch != job.epoch:
        message = f"job {job.id} was taken over by another driver; this one stops"
        raise LeaseLost(message, job=job.id, epoch=job.epoch)
    if current.state.is_end:
        raise LeaseLost(f"job {job.id} ended as {current.state.value}", job=job.id)


def _is_in(now: Job | None, job: Job, change: Change) -> bool | None:
    """Find out whether a change of ours is in: doing it again would change nothing.

    When somebody else has the job nobody can say, and nothing depends on it any more.
    """
    if now is None or now.owner != job.owner or now.epoch != job.epoch:
        return None
    return change(now) == now
