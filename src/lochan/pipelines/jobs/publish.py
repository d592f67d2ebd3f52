# SPDX-License-Identifier: Apache-2.0
"""Publish: the one compare-and-swap that makes output, datum index and provenance visible together.

    published   is a commit of this job behind the head, and not behind its base?
                then somebody came to this point before
    overtaken   has another job of the pipeline published since the inputs were pinned, or read more
                of them? then they are pinned again
    fenced      is the job still this driver's? has it been killed? is the pipeline there, and the
                branch no other's?
    swap        of the branch's record, as it was before these questions were asked

A driver that takes a job over first writes its epoch into the job's record, and then bumps the
output branch (`fence`): its record becomes another, while nothing that people see changes. An older
driver that was told it may swap before that finds its swap refused, and asks again. So once `fence`
has returned, only the new driver can publish, and what an older one did publish is found.

A job's tree follows from its pins and from the commit that it was planned upon, and from nothing
that others do to the branch meanwhile, as long as they are not jobs of the pipeline. So when the
swap is lost all is asked again of the new head, and nothing of the user's code runs again; only
files that begin with the commit, those that several datums append to, are made anew, since their
epoch is its clock.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from lochan.errors import Conflict, NotFound
from lochan.model.ids import BranchName, CommitId, LineageId, MetaRangeId, RepositoryId
from lochan.model.instant import from_seconds
from lochan.model.records import Branch, Clock, Commit, Provenance, Repository
from lochan.operations.advance import advance
from lochan.operations.allowed import Action
from lochan.operations.gc.expiry import HIDDEN
from lochan.operations.lake import Lake
from lochan.operations.request import Candidate, Said, Tip
from lochan.pipelines.jobs.job_records import require_driver
from lochan.pipelines.jobs.pin import Footing
from lochan.pipelines.jobs.squash import Outcome, Squash
from lochan.pipelines.model.commit_metadata import (
    DATUMS,
    DIGEST,
    EPOCH,
    JOB,
    JOB_SET,
    PIPELINE,
    VERSION,
    counted,
    job_of,
)
from lochan.pipelines.model.datum import DatumRow
from lochan.pipelines.model.failures import JobKilled, JobUnrunnable
from lochan.pipelines.model.records import Job
from lochan.pipelines.model.spec import Collision
from lochan.pipelines.model.tables import PipelineTables
from lochan.refs.commits import get_commit
from lochan.refs.kinship import Kinship

Gate = Callable[[MetaRangeId], None]  # looks at a tree before anybody sees it; raises JobFailed


class Published(NamedTuple):
    """A job's commit, and by id the rows that name other objects in its index than they did before.

    There are none to give (None) when an earlier driver's commit was found: its index has them.
    """

    commit: Commit
    settled: dict[bytes, DatumRow] | None


class _WasPublished(Conflict):
    """A commit of the job is there already."""

    def __init__(self, commit: Commit) -> None:
        super().__init__(f"commit {commit.id} is the job's", code="job-published")
        self.commit = commit


class Overtaken(Conflict):
    """Another job of the pipeline has published or read more since a job's inputs were pinned."""

    default_code = "job-overtaken"


@dataclass(frozen=True, slots=True)
class Publication:
    """All that a job's commit is made of. `digest` is what its datum hashes are made of.

    `is_overtaken` is asked of the output's head (`last_jobs.is_overtaken`).
    """

    job: Job
    output: Repository
    base: Footing
    outcome: Outcome
    collision: Collision
    digest: str
    committer: str
    message: str
    is_overtaken: Callable[[Commit], bool] = lambda _: False


def publish(lake: Lake, wanted: Publication, gate: Gate) -> Published:
    """Squash and publish; gives the job's commit, whoever published it.

    Raises: JobFailed for a collision or by the gate; JobKilled; LeaseLost; Refused; Overtaken;
    Conflict when others always came first; UnknownOutcome.
    """
    squash = Squash(lake, wanted.output, wanted.base.below, wanted.outcome, wanted.collision)
    now = from_seconds(lake.environment.now())
    # Its clock is not known yet. Where nothing is appended the tree does not depend on it.
    made = squash.onto(Clock(LineageId(wanted.job.id), 0), now)
    gate(made.tree)
    said = Said(
        wanted.committer,
        wanted.message,
        _metadata(wanted, squash.index(), made.hidden),
        now,
        started=wanted.job.started,
        finished=now,
        provenance=provenance_of(wanted.job),
    )
    base = get_commit(lake.tables(wanted.output), CommitId(wanted.job.base))

    def make(tip: Tip) -> Candidate:
        published = _above(lake, wanted.output, tip.head, wanted.job.id, base)
        if published is not None:
            raise _WasPublished(published)
        if wanted.is_overtaken(tip.head):
            raise Overtaken(f"job {wanted.job.id} was overtaken by another one of its pipeline")
        if require_driver(lake, wanted.job).kill:
            raise JobKilled(f"job {wanted.job.id} was killed before it published")
        _require_pipeline(lake, wanted)
        return Candidate(squash.onto(tip.clocks[-1], now).tree if made.has_appended else made.tree)

    branch = BranchName(wanted.job.output_branch)
    try:
        commit = advance(
            lake, wanted.output, branch, said, make, action=Action.PUBLISH, allow_dirty=True
        )
    except _WasPublished as published:
        return Published(published.commit, None)
    return Published(commit, squash.settled)


def fence(lake: Lake, output: Repository, branch: BranchName) -> None:
    """See that no swap of a branch succeeds whose maker read it before this call. Idempotent.

    Raises: NotFound; UnknownOutcome: do it again.
    """
    before = lake.branches.fresh(output, branch).record.resets

    def bumped(current: Branch | None) -> Branch | None:
        if current is None or current.resets != before:
            return current  # it is another record than any that was read before
        return msgspec.structs.replace(
            current, resets=before + 1, resets_in_place=current.resets_in_place + 1
        )

    lake.tables(output).branches.update(
        branch.encode(),
        bumped,
        lake.environment,
        landed=lambda now: now is None or now.resets != before,
    )


def require_as_found(
    lake: Lake, output: Repository, job: Job, is_overtaken: Callable[[Commit], bool]
) -> None:
    """See that a job which has nothing to publish is right: no other publishes behind its back.

    One that asked whether it may before this job's inputs were pinned is fenced off, and asks
    again. Raises Overtaken.
    """
    branch = BranchName(job.output_branch)
    try:
        fence(lake, output, branch)
        head = lake.branches.fresh(output, branch).record.commit_id
    except NotFound:
        return  # a branch that is gone takes nothing
    if is_overtaken(get_commit(lake.tables(output), head)):
        raise Overtaken(f"job {job.id} has nothing to do, but upon another commit of its pipeline")


def find_commit_of(
    lake: Lake, output: Repository, branch: BranchName, job: str, base: CommitId
) -> Commit | None:
    """Look for the commit of a job on a branch, above a base."""
    tables = lake.tables(output)
    found = tables.branches.find(branch.encode())
    if found is None or not base:
        return None
    head = get_commit(tables, found.record.commit_id)
    return _above(lake, output, head, job, get_commit(tables, base))


def _above(lake: Lake, output: Repository, head: Commit, job: str, base: Commit) -> Commit | None:
    """Walk back to what was there before the job, by all parents, first parents first.

    The branch may have been reset since, below its base, or to a merge that brings the job's
    commit. Nearly always the head is the base, and nothing is walked.
    """
    commits, kinship = lake.tables(output).commits, Kinship.of(lake.store, output)
    waiting, seen = deque([head]), {head.id}
    while waiting:
        found = waiting.popleft()
        if kinship.is_ancestor(found, base, or_self=True):
            continue
        if job_of(found) == job:
            return found
        parents = [name for name in found.parents if name not in seen]
        seen.update(parents)
        waiting.extend(commits.get(name.encode()).record for name in parents)
    return None


def _require_pipeline(lake: Lake, wanted: Publication) -> None:
    """Refuse to write over what others have made of a branch. Raises JobUnrunnable."""
    pipeline, branch = wanted.job.pipeline, BranchName(wanted.job.output_branch)
    if PipelineTables.of(lake.store).specs.find(pipeline.encode()) is None:
        raise JobUnrunnable(f"pipeline {pipeline!r} was deleted")
    owner = lake.branches.fresh_repository(wanted.output).branch_owners.get(branch, pipeline)
    if owner != pipeline:
        raise JobUnrunnable(f"branch {branch!r} belongs to pipeline {owner!r} now")


def _metadata(wanted: Publication, index: MetaRangeId, hidden: MetaRangeId) -> Mapping[str, str]:
    job = wanted.job
    said = {
        JOB: job.id,
        JOB_SET: job.job_set,
        PIPELINE: job.pipeline,
        VERSION: job.version,
        DIGEST: wanted.digest,
        DATUMS: index,
        EPOCH: str(job.epoch),
        **counted(job.counts),
    }
    return {**said, HIDDEN: hidden} if hidden else said


def provenance_of(job: Job) -> tuple[Provenance, ...]:
    """Name what a job reads, as its commit does."""
    return tuple(
        Provenance(
            repository_id=RepositoryId(pin.repository),
            commit_id=CommitId(pin.commit),
            input=pin.input,
            glob=pin.glob,
            meta_range_id=MetaRangeId(pin.meta_range_id),
        )
        for pin in job.pins
    )
