# SPDX-License-Identifier: Apache-2.0
"""The last jobs of a pipeline into a branch: what they have published there, and what they read.

Whoever decides may be slow. While it stands still a newer commit may be decided on and run, or a
newer version. The job of the older decision comes then, too, and nothing would come behind it to
set right what it does. So it must not set the output back:

    version       where the pipeline's current one has published last, a job of another is outdated
    inputs        none is read behind what the jobs before have read of its branch, unless the
                  branch itself was set back: then it has no more what they have read. What a branch
                  has no more is not read at all, but its head: where it was set, a job may have run
    each_commit   what they have read counts for nothing: commits are taken one by one, behind the
                  head. But a move of a branch is not taken behind a later one: sets are decided in
                  the order of the moves

What the caller of a set fixed stays fixed. Jobs that had nothing to publish count as well: they
have found the output right for what they read. So do those that are driven at this moment, which
few are: jobs of one line follow each other. Those that came to no good end do not.

All that is asked when inputs are pinned, and again before a job publishes or says that it has
nothing to do (`is_overtaken`); then it pins its inputs again.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

import msgspec

from lochan.model.ids import CommitId, RepositoryId
from lochan.model.records import Commit, Repository
from lochan.operations.lake import Lake
from lochan.pipelines.jobs.job_records import BROKEN, list_jobs
from lochan.pipelines.model.commit_metadata import DATUMS, DIGEST, JOB, PIPELINE, VERSION
from lochan.pipelines.model.failures import JobOutdated
from lochan.pipelines.model.records import COMMIT, Job, JobSet, Pin
from lochan.pipelines.model.spec import Spec
from lochan.pipelines.model.tables import PipelineTables
from lochan.refs.commits import get_commit
from lochan.refs.kinship import Kinship
from lochan.refs.repositories import get_repository

_OWN: Final = frozenset({JOB, VERSION, DIGEST, DATUMS})
_COMMITS: Final = 1_000  # of others, at most, on the way to the pipeline's last
_JOBS: Final = 100  # that have not begun, at most, on the way to those that count
_COUNTED: Final = 10


class _Place(NamedTuple):
    """A branch of one incarnation of a repository."""

    repository: str
    unique_identifier: str
    branch: str


class _Read(NamedTuple):
    """A commit that a job has read. `jumps`: how often the branch was set elsewhere until then."""

    place: _Place
    jumps: int
    commit: str


def last_published(lake: Lake, output: Repository, pipeline: str, head: Commit) -> Commit | None:
    """Find the last commit that a pipeline has published, at a head of its output or below."""
    commits, found = lake.tables(output).commits, head
    for _ in range(_COMMITS):
        if found.metadata.get(PIPELINE) == pipeline and _is_published(lake, found):
            return found
        if not found.parents:
            return None
        found = commits.get(found.parents[0].encode()).record
    return None


def require_current(lake: Lake, job: Job, last: Commit | None) -> None:
    """Refuse a job of an older version than has published last. Raises JobOutdated.

    Until the current version has published, jobs of those before it run as they were decided.
    """
    found = PipelineTables.of(lake.store).specs.find(job.pipeline.encode())
    if last is None or found is None or job.version == found.record.version:
        return
    if last.metadata[VERSION] == found.record.version:
        raise JobOutdated(f"another version of {job.pipeline!r} has run since this was decided")


def not_behind(
    lake: Lake,
    job: Job,
    decided: JobSet,
    spec: Spec,
    last: Commit | None,
    pins: tuple[Pin, ...],
    *,
    on_branch: bool = True,
) -> tuple[Pin, ...]:
    """Give the pins of a job, each moved on to the last commit that was read before, if it must be.

    `last` is the last commit that the pipeline has published. Without `on_branch` what a branch has
    no more may be read.
    """
    is_each = spec.trigger.each_commit
    own, before = _caused(decided), set[_Read]()
    for one in _jobs_before(lake, job, last):
        before.update(_taken(lake, one) if is_each else _reads(one))

    def moved_on(pin: Pin) -> Pin:
        place = _Place(pin.repository, pin.unique_identifier, pin.branch)
        is_fixed = pin in decided.pins or (is_each and (own is None or own.place != place))
        if is_fixed:
            return pin
        jumps = own.jumps if own and is_each else 0
        known = sorted(read for read in before if read.place == place)
        return _moved_on(lake, pin, jumps, known, on_branch=on_branch and not is_each)

    return tuple(map(moved_on, pins))


def is_overtaken(
    lake: Lake, job: Job, decided: JobSet, spec: Spec, base: Commit, head: Commit
) -> bool:
    """Say whether another job of the pipeline has published or read more since a job was pinned.

    `base` is the output's head of then, `head` that of now.
    """
    output = get_repository(lake.store, lake.environment, RepositoryId(job.output_repository))
    last = last_published(lake, output, job.pipeline, head)
    kinship = Kinship.of(lake.store, output)
    if last is not None and not kinship.is_ancestor(last, base, or_self=True):
        return True
    return not_behind(lake, job, decided, spec, last, job.pins, on_branch=False) != job.pins


def _moved_on(lake: Lake, pin: Pin, jumps: int, before: Iterable[_Read], *, on_branch: bool) -> Pin:
    """Move a pin on to what was read before, if that is later, and the branch still has it.

    With `on_branch` a commit that the branch has no more is not read, but its head.
    """
    repository = get_repository(lake.store, lake.environment, RepositoryId(pin.repository))
    tables, kinship = lake.tables(repository), Kinship.of(lake.store, repository)
    branch = tables.branches.find(pin.branch.encode())
    if branch is None or branch.record.commit_id == pin.commit:
        return pin
    head = get_commit(tables, branch.record.commit_id)
    found = get_commit(tables, CommitId(pin.commit))
    if on_branch and not kinship.is_ancestor(found, head):
        found = head
    for read in before:
        other = get_commit(tables, CommitId(read.commit))
        is_later = read.jumps > jumps or kinship.is_ancestor(found, other)
        if is_later and kinship.is_ancestor(other, head, or_self=True):
            found, jumps = other, read.jumps
    return msgspec.structs.replace(pin, commit=found.id, meta_range_id=found.meta_range_id)


def _jobs_before(lake: Lake, job: Job, last: Commit | None) -> Iterator[Job]:
    """Give the job that has published last, and the newest others into its branch that count."""
    jobs = PipelineTables.of(lake.store).jobs
    publisher = jobs.find(last.metadata[JOB].encode()) if last else None
    if publisher is not None:
        yield publisher.record
    place = (job.output_repository, job.output_branch)
    others = (
        one
        for one in islice(list_jobs(lake.store, job.pipeline), _JOBS)
        if (one.output_repository, one.output_branch) == place
        and one.id != job.id
        and one.pins
        and one.state not in BROKEN
    )
    yield from islice(others, _COUNTED)


def _reads(job: Job) -> Iterator[_Read]:
    for pin in job.pins:
        yield _Read(_Place(pin.repository, pin.unique_identifier, pin.branch), 0, pin.commit)


def _taken(lake: Lake, job: Job) -> Iterator[_Read]:
    """Give the commit that was a job's cause."""
    found = PipelineTables.of(lake.store).job_sets.find(job.job_set.encode())
    taken = _caused(found.record) if found else None
    if taken is not None:
        yield taken


def _caused(decided: JobSet) -> _Read | None:
    """Give the commit that was a set's cause; its key begins with the branch's jumps."""
    cause = decided.cause
    jumps, dash, _ = cause.key.partition("-")
    if cause.kind != COMMIT or not dash:  # a key of earlier lakes tells no jumps
        return None
    place = _Place(cause.repository, cause.unique_identifier, cause.branch)
    return _Read(place, int(jumps), cause.commit)


def _is_published(lake: Lake, commit: Commit) -> bool:
    """Say whether a commit is what its job published; a copy says the same, of another tree."""
    if not commit.metadata.keys() >= _OWN:
        return False
    found = PipelineTables.of(lake.store).jobs.find(commit.metadata[JOB].encode())
    if found is None:
        return True
    job = found.record
    return job.commit == commit.id or not (job.commit or job.state.is_end)
