# SPDX-License-Identifier: Apache-2.0
"""Pin: which commit of every input a job reads, said once, and kept from collection from then on.

An input is pinned to the first of these that there is:

    what the caller of the job set fixed
    what the job above it, in the same set, published; if that had nothing to do, its output's head
    the commit that is the set's cause
    the head of its branch; on a run on another branch, of that branch if the repository has it

What was not fixed by the caller is then moved on (`moved_on`) to what the jobs before have read of
the branch, if that is later, and the branch still has it.

The output's head of that moment is the job's `base`. The commit that the job builds on is the last
one that the same pipeline made, on the way down from there: what others did to the branch since
then is undone by the job's commit, since the branch is the pipeline's own. Before there is any, it
is the head itself. Where the last one cannot be built on, all is made again, from the memo.
"""

from dataclasses import dataclass

from lochan.errors import Gone, NotFound, NotUnique
from lochan.model.ids import EMPTY_TREE, BranchName, CommitId, MetaRangeId, RepositoryId
from lochan.model.records import Commit, Repository
from lochan.operations.branches import create_branch
from lochan.operations.gc.expiry import HIDDEN
from lochan.operations.gc.held import hold
from lochan.operations.lake import Lake
from lochan.pipelines.datums.plan import Before
from lochan.pipelines.jobs.heads import pin_to
from lochan.pipelines.jobs.job_records import BROKEN, get_job
from lochan.pipelines.jobs.last_jobs import last_published, not_behind, require_current
from lochan.pipelines.jobs.squash import Below
from lochan.pipelines.model.commit_metadata import DIGEST, JOB, PIPELINE, VERSION, index_of
from lochan.pipelines.model.failures import JobUnrunnable
from lochan.pipelines.model.records import Job, JobSet, JobState, Pin
from lochan.pipelines.model.spec import CronInput, RepoInput, Spec, leaves
from lochan.pipelines.model.tables import get_version
from lochan.pipelines.specs.graph import Place, place_of
from lochan.refs.commits import get_commit
from lochan.refs.expired import require_kept
from lochan.refs.repositories import get_repository


@dataclass(frozen=True, slots=True)
class Footing:
    """What a job goes upon: the output's head, and the last commit of the pipeline, if any."""

    head: Commit
    last: Commit | None
    below: Below
    before: Before | None = None


def pin_inputs(lake: Lake, job: Job, decided: JobSet, spec: Spec) -> tuple[Pin, ...]:
    """Resolve all inputs of a job; nothing is stored.

    Raises JobUnrunnable for a missing one, and where a job above came to no good end.
    """
    above = _above(lake, job, decided)
    try:
        return tuple(_pin(lake, job, decided, above, leaf) for leaf in leaves(spec.input))
    except (NotFound, Gone) as error:
        message = f"an input of {job.pipeline!r} is not there: {error.message}"
        raise JobUnrunnable(message) from error


def moved_on(
    lake: Lake, job: Job, decided: JobSet, spec: Spec, head: Commit, pins: tuple[Pin, ...]
) -> tuple[Pin, ...]:
    """Give the pins of a job whose output has this head; none sets the output back (`last_jobs`).

    Raises: JobOutdated, when a newer version has set it on; JobUnrunnable.
    """
    last = last_published(lake, repository_of(lake, job.output_repository), job.pipeline, head)
    require_current(lake, job, last)
    try:
        return not_behind(lake, job, decided, spec, last, pins)
    except (NotFound, Gone) as error:
        message = f"an input of {job.pipeline!r} is not there: {error.message}"
        raise JobUnrunnable(message) from error


def hold_inputs(lake: Lake, job: Job, pins: tuple[Pin, ...]) -> None:
    """Keep what a job reads and writes from collection, until it is over.

    Raises JobUnrunnable when a pinned commit is older than the rules of retention keep.
    """
    by_repository: dict[str, list[CommitId]] = {}
    for pin in pins:
        by_repository.setdefault(pin.repository, []).append(CommitId(pin.commit))
    try:
        for name, commits in by_repository.items():
            repository = repository_of(lake, name)
            for pin in pins:
                if pin.repository == name:
                    _require_same(repository, pin.unique_identifier)
            if name != job.output_repository:
                hold(lake, repository, hold_name(job), commits=commits)
            require_kept(lake.store, repository, *commits)
    except (NotFound, Gone) as error:
        raise JobUnrunnable(f"an input of {job.pipeline!r} is gone: {error.message}") from error


def hold_output(lake: Lake, job: Job, base: Footing, pins: tuple[Pin, ...]) -> None:
    """Keep from collection what a job writes, and the commits it builds on."""
    output = repository_of(lake, job.output_repository)
    commits = {
        base.head.id,
        *(CommitId(p.commit) for p in pins if p.repository == output.repository_id),
    }
    if base.last is not None:
        commits.add(base.last.id)
    hold(lake, output, hold_name(job), job.started, commits)


def hold_name(job: Job) -> str:
    """Name what a driver of a job holds; each has rows of its own, and takes away its own alone."""
    return f"{job.id}-{job.epoch}"


def find_base(lake: Lake, job: Job, head: Commit) -> Footing:
    """Say what a job goes upon, whose output has this head."""
    output = repository_of(lake, job.output_repository)
    last = last_published(lake, output, job.pipeline, head)
    if last is None:
        return Footing(head, None, Below(tree=head.meta_range_id))
    try:
        require_kept(lake.store, output, last.id)
        before = _before(lake, last)
    except (Gone, NotFound):  # its objects may be gone, or the rows that say what it was made of
        return Footing(head, None, Below())
    policy = get_version(lake.store, job.pipeline, job.version).spec.output.collision
    if before.spec.output.collision not in {"error", policy}:
        return Footing(head, None, Below())  # paths that nothing touches are other ones, too
    hidden = MetaRangeId(last.metadata.get(HIDDEN, ""))
    return Footing(head, last, Below(last.meta_range_id, before.index, hidden), before)


def output_head(lake: Lake, job: Job, spec: Spec) -> Commit:
    """Give the head of a job's output; a branch that is missing starts where the spec's own is.

    Raises JobUnrunnable where there is no repository, or nothing to start from.
    """
    name = BranchName(job.output_branch)
    try:
        output = repository_of(lake, job.output_repository)
        tables = lake.tables(output)
        found = tables.branches.find(name.encode())
        if found is None:
            own = tables.branches.find(spec.output.branch.encode())
            start = own or tables.branches.get(output.default_branch.encode())
            _begin(lake, output, name, start.record.commit_id)
            found = tables.branches.get(name.encode())
        return get_commit(tables, found.record.commit_id)
    except (NotFound, Gone) as error:
        message = f"the output of {job.pipeline!r} is not there: {error.message}"
        raise JobUnrunnable(message) from error


def repository_of(lake: Lake, name: str) -> Repository:
    """Give the repository of a name. Raises RepositoryNotFound, RepositoryDeleting."""
    return get_repository(lake.store, lake.environment, RepositoryId(name))


def _begin(lake: Lake, output: Repository, name: BranchName, head: CommitId) -> None:
    try:
        create_branch(lake, output, name, head)
    except NotUnique:
        return  # another job was first


def _above(lake: Lake, job: Job, decided: JobSet) -> dict[Place, Job]:
    """Give the jobs of a set that this one waits for, by the branch that the spec says they own."""
    planned = {each.job: each for each in decided.jobs}
    found: dict[Place, Job] = {}
    for name in planned[job.id].upstream:
        one = planned[name]
        output = get_version(lake.store, one.pipeline, one.version).spec.output
        upper = get_job(lake.store, name)
        if upper.state in BROKEN:
            message = (
                f"job {upper.id} of {upper.pipeline!r}, above it, ended as {upper.state.value}"
            )
            raise JobUnrunnable(message)
        found[Place(output.repo, output.branch)] = upper
    return found


def _pin(
    lake: Lake,
    job: Job,
    decided: JobSet,
    above: dict[Place, Job],
    leaf: RepoInput | CronInput,
) -> Pin:
    place = place_of(job.pipeline, leaf)
    repository = repository_of(lake, place.repo)
    tables = lake.tables(repository)
    fixed = next(
        (p for p in decided.pins if p.input == leaf.name and p.repository == place.repo), None
    )
    if fixed is not None:
        return fixed
    branch = place.branch
    if decided.branch and tables.branches.find(decided.branch.encode()) is not None:
        branch = decided.branch
    upper, cause = above.get(place), decided.cause
    if upper is not None and upper.state is JobState.SUCCESS:
        commit = upper.commit
    elif (
        upper is None and (cause.repository, cause.branch) == (place.repo, branch) and cause.commit
    ):
        _require_same(repository, cause.unique_identifier)
        commit = cause.commit
    else:
        commit = _head(lake, repository, branch)
    return pin_to(leaf, repository, branch, get_commit(tables, CommitId(commit)))


def _head(lake: Lake, repository: Repository, branch: str) -> str:
    return lake.branches.fresh(repository, BranchName(branch)).record.commit_id


def _require_same(repository: Repository, unique_identifier: str) -> None:
    if unique_identifier and unique_identifier != repository.unique_identifier:
        message = f"repository {repository.repository_id!r} was made again since"
        raise NotFound(message, code="repository-not-found")


def _before(lake: Lake, last: Commit) -> Before:
    """Say what a pipeline's commit was made of. Raises NotFound when its version or job is gone."""
    said = last.metadata
    version = get_version(lake.store, said[PIPELINE], said[VERSION])
    pins = get_job(lake.store, said[JOB]).pins
    return Before(index_of(last) or EMPTY_TREE, version.spec, said[DIGEST], pins)
