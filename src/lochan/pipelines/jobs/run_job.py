# SPDX-License-Identifier: Apache-2.0
"""Run a job: the protocol from claim to success, each step of it idempotent.

     1. decide     `job_sets`: one conditional write per cause; its jobs are made from it
     2. claim      owner, epoch and lease, by compare-and-swap; an older driver is fenced off, and a
                   commit of the job is looked for: if there is one, only step 10 is left
     3. pin        which commit of every input is read, into the record; held from collection
     4. plan       which datums run, which are remembered, which are gone; nothing of it: SKIPPED
     5. run        shards, by the engine; what attempts of earlier drivers have finished is kept
     6. validate   how many datums may fail, collisions, checks on the tree that is to be
     7. squash     that tree, and the datum index
     8. commit     the record, which names the job, its pins and its datum index
     9. publish    one compare-and-swap of the output branch
    10. after      rows that lead to the commit, the memo, egress, SUCCESS

A driver may die anywhere: its lease runs out, and the next one begins at step 2. Pins, once stored,
stay; plans are made of them alone, so they come out the same. User code runs again only for datums
whose attempts came to no end. No two commits carry one job's id, whatever happens. Jobs of one
pipeline are driven one after the other; should another one publish all the same before this one
does, this one begins anew at step 3.

What the pipeline itself did wrong ends the job, and its output stays as it was. A store that does
not answer leaves the job open for another driver, as often as its rules allow.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Final

import msgspec

from lochan.errors import Conflict, Gone, InvalidInput, JobFailed, LochanError, NotFound
from lochan.model.ids import EMPTY_TREE, BranchName, CommitId, MetaRangeId
from lochan.model.instant import from_seconds
from lochan.model.records import Commit, Repository
from lochan.operations.lake import Lake
from lochan.pipelines.attempts.checks import CheckTask
from lochan.pipelines.datums.datum_index import DatumIndex
from lochan.pipelines.datums.memo import Memo
from lochan.pipelines.datums.plan import Plan, plan
from lochan.pipelines.jobs.after import Send, close_job, let_go_of, send, succeed, tell_lineage
from lochan.pipelines.jobs.driving import Driving
from lochan.pipelines.jobs.job_records import (
    Readiness,
    claim,
    end_job,
    get_job,
    get_job_set,
    is_free,
    readiness,
    release,
)
from lochan.pipelines.jobs.last_jobs import is_overtaken
from lochan.pipelines.jobs.pin import (
    Footing,
    find_base,
    hold_inputs,
    hold_output,
    moved_on,
    output_head,
    pin_inputs,
    repository_of,
)
from lochan.pipelines.jobs.publish import (
    Overtaken,
    Publication,
    fence,
    find_commit_of,
    publish,
    require_as_found,
)
from lochan.pipelines.jobs.run_datums import run_datums
from lochan.pipelines.jobs.squash import Outcome
from lochan.pipelines.model.commit_metadata import index_of
from lochan.pipelines.model.datum import DatumRow, DatumState
from lochan.pipelines.model.failures import JobKilled, JobOutdated, JobUnrunnable, LeaseLost
from lochan.pipelines.model.records import Counts, Job, JobState, PipelineVersion
from lochan.pipelines.model.spec import Egress
from lochan.pipelines.model.tables import PipelineTables, get_version
from lochan.pipelines.model.work import Engine
from lochan.pipelines.specs.registry import digest_for_job
from lochan.refs.commits import get_commit

_FIRST_PAUSE_S: Final = 5.0
_LONGEST_PAUSE_S: Final = 300.0
_END_OF: Final[Mapping[type, JobState]] = {
    JobKilled: JobState.KILLED,
    JobUnrunnable: JobState.UNRUNNABLE,
    JobOutdated: JobState.SKIPPED,
}


class Step(Enum):
    """How far a driver has come, by the numbers above."""

    CLAIMED = 2
    PINNED = 3
    PLANNED = 4
    RAN = 5
    VALIDATED = 6
    PUBLISHED = 9
    TOLD = 10


@dataclass(frozen=True, slots=True)
class Beside:
    """What a driver does beside the protocol: checks as gates, egress, and who hears of steps.

    A check is the author's code, so it is run by whoever runs that; it raises JobFailed.
    """

    check: Callable[[CheckTask], None] | None = None
    sender: Callable[[Sequence[Egress]], Send | None] | None = None
    reached: Callable[[Step], None] = lambda _: None


def run_job(lake: Lake, job_id: str, engine: Engine, beside: Beside | None = None) -> Job:
    """Drive a job to its end; gives its record.

    Raises: NotFound; Conflict, code job-claimed, job-ended or job-waiting, when it is not to be
    driven now; LeaseLost; what a store raises, after which the job can be claimed again.
    """
    _require_ready(lake, get_job(lake.store, job_id))
    job = claim(lake, job_id)
    version = get_version(lake.store, job.pipeline, job.version)
    driving = Driving(lake, job, version.spec.job.timeout_s)
    run = _Run(lake, driving, version, engine, beside or Beside())
    with driving.beating():
        try:
            ended = run.drive()
        except (JobFailed, JobKilled, JobOutdated, JobUnrunnable, InvalidInput) as error:
            state = _END_OF.get(type(error), JobState.FAILURE)
            ended = end_job(lake, driving.job, state, error.message)
        except LeaseLost:
            let_go_of(lake, driving.job)
            raise
        except (LochanError, SystemExit, KeyboardInterrupt) as error:
            is_stopped = not isinstance(error, LochanError)
            said = "its driver was stopped" if is_stopped else str(error)
            with suppress(LochanError):  # else the lease runs out by itself
                held = driving.change(_because(said))
                release(lake, held, 0.0 if is_stopped else _pause_s(held))
            raise
    close_job(lake, ended)
    return ended


class _Run:
    """One driver's way through the protocol."""

    def __init__(
        self,
        lake: Lake,
        driving: Driving,
        version: PipelineVersion,
        engine: Engine,
        beside: Beside,
    ) -> None:
        self._lake = lake
        self._driving = driving
        self._version = version
        self._spec = version.spec
        self._engine = engine
        self._beside = beside
        self._committer = driving.job.pipeline
        self._made: Collection[DatumRow] | None = None  # None: by an earlier driver
        self._has_run = False

    @property
    def _job(self) -> Job:
        return self._driving.job

    @property
    def _output(self) -> Repository:
        try:
            return repository_of(self._lake, self._job.output_repository)
        except (NotFound, Gone) as error:
            message = f"the output of {self._job.pipeline!r} is not there: {error.message}"
            raise JobUnrunnable(message) from error

    def drive(self) -> Job:
        """Go through all steps; gives the ended job."""
        commit = self._take_over()
        self._beside.reached(Step.CLAIMED)
        if commit is None:
            self._require_restarts()
            if not self._job.pins:
                self._pin()
            commit = self._make()
        if commit is None:
            return end_job(self._lake, self._job, JobState.SKIPPED, self._job.reason)
        self._beside.reached(Step.PUBLISHED)
        return self._tell(commit)

    def _take_over(self) -> Commit | None:
        """Keep older drivers from publishing, and give what one of them has published."""
        job = self._job
        if job.epoch == 1 or not job.base:
            self._driving.change(_unchanged)  # hears of a kill
            return None
        branch = BranchName(job.output_branch)
        with suppress(NotFound):  # a branch that is gone takes nothing
            fence(self._lake, self._output, branch)
        found = find_commit_of(self._lake, self._output, branch, job.id, CommitId(job.base))
        if found is None:
            self._driving.change(_unchanged)
        return found

    def _require_restarts(self) -> None:
        job, most = self._job, self._spec.job.restarts + 1
        if job.epoch > most:
            last = f"; the last one said: {job.reason}" if job.reason else ""
            message = f"{most} drivers came to no end{last}"
            raise JobFailed(message, code="job-restarts")

    def _pin(self) -> None:
        decided = get_job_set(self._lake.store, self._job.job_set)
        found = pin_inputs(self._lake, self._job, decided, self._spec)
        head = output_head(self._lake, self._job, self._spec)
        pins = moved_on(self._lake, self._job, decided, self._spec, head, found)
        self._driving.change(lambda job: msgspec.structs.replace(job, pins=pins, base=head.id))

    def _make(self) -> Commit | None:
        """Plan, run and publish; upon another job's commit, if one comes meanwhile."""
        while True:
            self._beside.reached(Step.PINNED)
            base = self._hold()
            planned, digest = self._plan(base)
            self._beside.reached(Step.PLANNED)
            try:
                return self._run(base, planned, digest)
            except Overtaken:
                self._pin()

    def _hold(self) -> Footing:
        """Keep from collection what is read and will be written; gives what the job goes upon."""
        lake, job = self._lake, self._job
        head = get_commit(lake.tables(self._output), CommitId(job.base))
        hold_inputs(lake, job, job.pins)
        hold_output(lake, job, find_base(lake, job, head), job.pins)
        return find_base(lake, job, head)  # what had expired before it was held is not built on

    def _plan(self, base: Footing) -> tuple[Plan, str]:
        record = PipelineTables.of(self._lake.store).specs.find(self._job.pipeline.encode())
        if record is None:
            raise JobUnrunnable(f"pipeline {self._job.pipeline!r} was deleted")
        self._committer = record.record.principal or self._job.pipeline
        digest = digest_for_job(record.record, self._version, self._job.id).hex()
        planned = plan(
            self._lake,
            self._spec,
            digest,
            self._job.pins,
            output=self._output,
            before=base.before,
            memo=Memo(self._lake, self._output, self._job.pipeline),
        )
        self._driving.change(_running(planned.counts))
        return planned, digest

    def _run(self, base: Footing, planned: Plan, digest: str) -> Commit | None:
        """Run what is to be run, and publish; None where there is nothing to publish."""
        lake, job = self._lake, self._job
        decided = get_job_set(lake.store, job.job_set)
        overtaken = partial(is_overtaken, lake, job, decided, self._spec, base.head)
        is_own = base.below.tree == base.head.meta_range_id
        if planned.is_nothing and is_own and not self._spec.job.empty_commit:
            require_as_found(lake, self._output, job, overtaken)
            return None
        made = run_datums(
            self._lake,
            self._driving,
            self._version,
            self._engine,
            planned.run,
            again=self._has_run,
        )
        self._has_run = True
        self._beside.reached(Step.RAN)
        self._driving.change(_finishing(planned.counts, made))
        self._require_few_failed()
        wanted = Publication(
            job=self._job,
            output=self._output,
            base=base,
            outcome=Outcome(planned.gone, (*planned.remembered, *made), planned.values),
            collision=self._spec.output.collision,
            digest=digest,
            committer=self._committer,
            message=_message(self._job),
            is_overtaken=overtaken,
        )
        commit, settled = publish(self._lake, wanted, self._gate)
        if settled is not None:
            self._made = ({row.id: row for row in made} | settled).values()
        return commit

    def _require_few_failed(self) -> None:
        counts, rule = self._job.counts, self._spec.job.max_failed
        if not counts.failed:
            return
        hold_inputs(self._lake, self._job, self._job.pins)  # else it is their loss, not the datums'
        if counts.failed > most_failed(rule, counts.total):
            message = f"{counts.failed} of {counts.total} datums failed, and {rule} is the most"
            raise JobFailed(message, code="job-too-many-failed")

    def _gate(self, tree: MetaRangeId) -> None:
        """Have checks look at a tree that nobody sees yet."""
        if self._spec.checks:
            if self._beside.check is None:
                raise JobFailed("this driver cannot run checks", code="engine-needed")
            self._beside.check(
                CheckTask(
                    job=self._job.id,
                    pipeline=self._job.pipeline,
                    code=self._version.code,
                    checks=self._spec.checks,
                    output_namespace=self._output.storage_namespace,
                    tree=tree,
                )
            )
        self._driving.change(_unchanged)
        self._beside.reached(Step.VALIDATED)

    def _tell(self, commit: Commit) -> Job:
        """Do what follows the publication; see `after`."""
        lake, job = self._lake, self._job
        tell_lineage(lake, job, commit)
        self._remember(commit)
        sender = self._beside.sender
        sent = send(lake, job, commit, sender(self._spec.egress) if sender else None)
        ended = succeed(lake, sent, commit)
        self._beside.reached(Step.TOLD)
        return ended

    def _remember(self, commit: Commit) -> None:
        """Add to the memo what this job computed, with the objects that its commit keeps.

        A resumed driver reads it from the index.
        """
        rows: Iterable[DatumRow] | None = self._made
        if rows is None:
            snapshots = self._lake.storage(self._output.storage_namespace).snapshots
            index = DatumIndex(snapshots, index_of(commit) or EMPTY_TREE)
            rows = (row for row in index.rows() if row.job == self._job.id)
        Memo(self._lake, self._output, self._job.pipeline).remember(rows)


def most_failed(rule: str, total: int) -> float:
    """Say how many of so many datums may fail: a share ("1%") or a number."""
    if rule.endswith("%"):
        return float(rule.removesuffix("%")) / 100 * total
    return float(rule)


def _require_ready(lake: Lake, job: Job) -> None:
    """Refuse a job that waits for others; that it has a driver, or has ended, `claim` says."""
    now = from_seconds(lake.environment.now())
    if job.state.is_end or not is_free(job, now):
        return
    if readiness(lake, job) is Readiness.WAITING:
        message = f"job {job.id} waits for jobs above it; drive those first"
        raise Conflict(message, code="job-waiting", job=job.id)


def _pause_s(job: Job) -> float:
    """Say when to try a job again that met a store which failed: later each time."""
    return min(_FIRST_PAUSE_S * 2.0**job.epoch, _LONGEST_PAUSE_S)


def _unchanged(job: Job) -> Job:
    return job


def _because(reason: str) -> Callable[[Job], Job]:
    return lambda job: msgspec.structs.replace(job, reason=reason)


def _running(counts: Counts) -> Callable[[Job], Job]:
    return lambda job: msgspec.structs.replace(job, state=JobState.RUNNING, counts=counts)


def _finishing(counts: Counts, made: Sequence[DatumRow]) -> Callable[[Job], Job]:
    failed = sum(row.state is DatumState.FAILED for row in made)
    told = msgspec.structs.replace(counts, processed=len(made) - failed, failed=failed)
    return lambda job: msgspec.structs.replace(job, state=JobState.FINISHING, counts=told)


def _message(job: Job) -> str:
    counts = job.counts
    said = f"{job.pipeline}: {counts.processed} datums processed"
    unchanged = counts.skipped + counts.remembered
    said += f", {unchanged} as before" if unchanged else ""
    return said + (f", {counts.failed} failed" if counts.failed else "")
