# SPDX-License-Identifier: Apache-2.0
"""Find what must run: hold the head of each watched branch against what was last decided on.

Nobody tells the sweep of a commit, so no event can be lost, come twice or come late: it looks. Many
may sweep at once, and a sweep may break off anywhere. The decision is one conditional write under a
name that the move gives (`job_sets`); the rows of what was seen follow it, and without them the
same decision is made again, and found to be there. A set's name has the pipelines that were due, so
a decision that was left half done is finished first: else those that are left would be decided on
without the others, as another set. For the same reason nothing is decided of what another sweep
was seen to decide on meanwhile: the next sweep looks again. What one decides unseen does no harm:
no job reads an input behind what those before it have read (`jobs.last_jobs`).

    a branch moved by a job set's own commit     that set has the jobs below: noted, unless
                                                 the pipeline has read another commit since then
    the pipeline has another version             run, whatever its trigger waits for
    the head is the one that was seen            nothing, unless the branch was elsewhere meanwhile,
                                                 where a job may have read it
    the last job was decided for this move       noted: who decided died before all notes were there
    the last job has read the head               noted: another branch has started it, and its
                                                 output is as it left it
    the pipeline was decided on meanwhile        look again later: it has perhaps taken this, too
    a job of the pipeline is open                wait, and then run once on the newest commit; those
                                                 passed over are named in the set
    a job that writes the branch is open         wait for what it publishes: a job on the commit
                                                 before would come later, and set the output back
    each_commit                                  a set for every commit, oldest first
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from lochan.errors import LochanError, Unavailable
from lochan.model.ids import BranchName
from lochan.model.instant import EPOCH, Instant, from_seconds
from lochan.model.records import Commit
from lochan.operations.lake import Lake
from lochan.pipelines.jobs.job_records import list_jobs, open_jobs, open_jobs_of
from lochan.pipelines.lineage.provenance import find_repository
from lochan.pipelines.model.commit_metadata import JOB_SET
from lochan.pipelines.model.failures import Failed
from lochan.pipelines.model.records import COMMIT, Cause, Job, JobSet, PlannedJob, Seen
from lochan.pipelines.model.tables import PipelineTables, seen_name
from lochan.pipelines.schedule.job_sets import decide
from lochan.pipelines.schedule.triggers import (
    Grown,
    Move,
    commits_since,
    find_move,
    is_due,
    move_key,
)
from lochan.pipelines.specs.graph import Graph, Node, Place

_LOOKED_AT: Final = 100  # jobs of a pipeline, on the way to its last one on a branch
_NEXT: Final = 1_000_000  # ns: jobs are listed by milliseconds


@dataclass(frozen=True, slots=True)
class _Due:
    """A pipeline that a move is to start, and what it has seen of the branch before."""

    node: Node
    move: Move
    seen: Seen | None


def sweep(
    lake: Lake, graph: Graph, failed: Failed | None = None, grown: Grown | None = None
) -> tuple[JobSet, ...]:
    """Decide all that moved branches call for; gives the sets, new or found.

    One pipeline whose inputs cannot be looked at must not keep the others waiting: `failed` hears
    of it. Who sweeps again and again keeps what it knows of sizes (`grown`). Raises: Unavailable
    and UnknownOutcome, after which the next sweep goes on; without `failed`, all it would hear.
    """
    known = Grown() if grown is None else grown
    busy: set[tuple[str, str]] = set()
    moving: set[Place] = set()
    for job in _opened(lake, failed):
        busy.add((job.pipeline, job.output_branch))
        moving.add(Place(job.output_repository, job.output_branch))
    due: dict[tuple[Place, str], list[_Due]] = {}
    for node in graph.nodes:
        waits = not node.spec.trigger.each_commit and (node.pipeline, node.writes.branch) in busy
        if node.paused or waits:
            continue
        for found in _looked(lake, graph, node, moving, failed, known):
            move = found.move
            place = Place(move.repository.repository_id, move.branch)
            due.setdefault((place, move.key), []).append(found)
            moving.add(node.writes)
    decided: list[JobSet] = []
    for several in due.values():
        own = {one.id for one in decided}
        decided += _decide(lake, graph, _undecided(lake, several, own))
    return tuple(decided)


def note_seen(lake: Lake, node: Node, move: Move, job_set: str) -> None:
    """Write down that a pipeline was decided on for a move."""
    now = from_seconds(lake.environment.now())
    row = Seen(commit=move.head.id, key=move.key, life=node.life, job_set=job_set, when=now)
    name = seen_name(node.pipeline, move.repository, move.branch)
    PipelineTables.of(lake.store).seen.set(name, row)


def _opened(lake: Lake, failed: Failed | None) -> list[Job]:
    """Give the open jobs, with those that a set still lacks since its decider died."""
    found = {job.id: job for job in open_jobs(lake.store)}
    tables = PipelineTables.of(lake.store)
    for name in dict.fromkeys(job.job_set for job in found.values()):
        try:
            decided = tables.job_sets.find(name.encode())
            # They are made in this order, so the last one is there only if all are.
            if decided and tables.jobs.find(decided.record.jobs[-1].job.encode()) is None:
                found |= {job.id: job for job in open_jobs_of(lake, decided.record)}
        except Unavailable:
            raise
        except LochanError as error:
            if failed is None:
                raise
            failed(error)
    return [job for job in found.values() if not job.state.is_end]


def _looked(
    lake: Lake,
    graph: Graph,
    node: Node,
    moving: set[Place],
    failed: Failed | None,
    grown: Grown,
) -> list[_Due]:
    """Look at all that starts a pipeline and is not about to move."""
    try:
        looks = [
            _look(lake, graph, node, place, grown) for place in node.triggers if place not in moving
        ]
    except Unavailable:
        raise
    except LochanError as error:
        if failed is None:
            raise
        failed(error)
        return []
    return [found for found in looks if found is not None]


def _look(lake: Lake, graph: Graph, node: Node, place: Place, grown: Grown) -> _Due | None:
    """Say whether a pipeline is due for the state of a branch, and note what needs no decision."""
    move = _move_of(lake, place)
    if move is None:
        return None
    seen = _seen(lake, node, move)
    if seen is None or seen.life == node.life:
        if seen is not None and (seen.commit, seen.key) == (move.head.id, move.key):
            return None
        owner = _planned_by(lake, node, move)
        if owner:
            note_seen(lake, node, move, owner)
            return None
        if not is_due(lake, node.spec.trigger, move, seen, lake.environment.now(), grown):
            return None
    decided = _decided_for(lake, graph, node, move)
    if decided:
        note_seen(lake, node, move, decided)
        return None
    return _Due(node, move, seen)


def _seen(lake: Lake, node: Node, move: Move) -> Seen | None:
    """Read what a pipeline was last decided on."""
    name = seen_name(node.pipeline, move.repository, move.branch)
    row = PipelineTables.of(lake.store).seen.find(name)
    return row.record if row else None


def _undecided(lake: Lake, several: list[_Due], own: set[str]) -> list[_Due]:
    """Leave out what was decided on since it was looked at.

    By this sweep itself (`own`), for another branch, that is a pipeline here and there. What others
    have decided they may be noting right now, and for all of these together.
    """
    left: list[_Due] = []
    for one in several:
        seen = _seen(lake, one.node, one.move)
        if seen == one.seen:
            left.append(one)
        elif seen is None or seen.job_set not in own:
            return []
    return left


def _decided_for(lake: Lake, graph: Graph, node: Node, move: Move) -> str:
    """Name the set of a pipeline's last job, if it is of this graph, and for a move or has read it.

    With `each_commit` what it has read counts for nothing: commits are taken one by one.
    """
    last = _last_job(lake, node)
    found = PipelineTables.of(lake.store).job_sets.find(last.job_set.encode()) if last else None
    if last is None or found is None or found.record.graph_version != graph.version:
        return ""
    cause = found.record.cause
    is_for = cause == _cause(move, move.head, cause.order)
    is_read = not node.spec.trigger.each_commit and _has_read(last, move)
    return found.record.id if is_for or (is_read and _is_as_left(lake, node, last)) else ""


def _has_read(job: Job, move: Move) -> bool:
    """Say whether a job's inputs are pinned to the head of a move."""
    repository = move.repository
    wanted = (repository.repository_id, repository.unique_identifier, move.branch, move.head.id)
    pins = ((pin.repository, pin.unique_identifier, pin.branch, pin.commit) for pin in job.pins)
    return wanted in pins


def _is_as_left(lake: Lake, node: Node, job: Job) -> bool:
    """Say whether the output of a pipeline is what a job has published or found there."""
    stands = _move_of(lake, node.writes)
    return stands is not None and stands.head.id == (job.commit or job.base)


def _planned_by(lake: Lake, node: Node, move: Move) -> str:
    """Name the job set that made a head, if the pipeline's last job is of it or has read it.

    A job of another version may have read it for other reasons, or be of the set for others.
    """
    name = move.head.metadata.get(JOB_SET, "")
    last = _last_job(lake, node) if name else None
    if last is None or last.version != node.version:
        return ""
    return name if _has_read(last, move) or last.job_set == name else ""


def _last_job(lake: Lake, node: Node) -> Job | None:
    """Give the newest job of a pipeline into the branch that it owns."""
    for job in islice(list_jobs(lake.store, node.pipeline), _LOOKED_AT):
        if (job.output_repository, job.output_branch) == node.writes:
            return job
    return None


def _decide(lake: Lake, graph: Graph, several: Iterable[_Due]) -> Iterator[JobSet]:
    together: list[_Due] = []
    for one in several:
        if one.node.spec.trigger.each_commit:
            yield from _each(lake, graph, one)
        else:
            together.append(one)
    if together:
        yield from _once(lake, graph, together)


def _once(lake: Lake, graph: Graph, several: list[_Due]) -> Iterator[JobSet]:
    """Decide one set for the newest commit.

    Its jobs come behind the last ones of their pipelines, whatever the clock says.
    """
    move, names = several[0].move, [one.node.pipeline for one in several]
    passed = {commit.id for one in several for commit in commits_since(lake, move, one.seen)[:-1]}
    nodes = (node for one in several for node in (one.node, *graph.below(one.node.pipeline)))
    before = [job.created for node in nodes if (job := _last_job(lake, node))]
    decided = decide(
        lake,
        _cause(move, move.head, 0),
        graph,
        pipelines=names,
        skipped_commits=sorted(passed),
        earliest=Instant(max(before) + _NEXT) if before else EPOCH,
    )
    if decided is not None:
        _note_all(lake, graph, move, decided)
        yield decided


def _each(lake: Lake, graph: Graph, one: _Due) -> Iterator[JobSet]:
    """Decide a set for every commit since the last one; at the beginning, for the newest alone.

    Their jobs stand in line as the commits follow each other, whatever the clock does meanwhile:
    no set is older than the one before it, and of one moment the later commit has the higher order.
    """
    move, last = one.move, _last_set(lake, one.seen)
    for commit in commits_since(lake, move, one.seen) or (move.head,):
        cause = _cause(move, commit, last.cause.order + 1 if last else 0)
        earliest = last.created if last else EPOCH
        decided = decide(lake, cause, graph, pipelines=[one.node.pipeline], earliest=earliest)
        if decided is not None:
            last = decided
            yield decided
    if decided is not None:
        _note_all(lake, graph, move, decided)


def _last_set(lake: Lake, seen: Seen | None) -> JobSet | None:
    """Find the set that was decided for what a pipeline has seen last."""
    if seen is None or not seen.job_set:
        return None
    found = PipelineTables.of(lake.store).job_sets.find(seen.job_set.encode())
    return found.record if found else None


def _note_all(lake: Lake, graph: Graph, move: Move, decided: JobSet) -> None:
    """Note that the pipelines of a set take what has moved, and what else they are to read.

    Where each branch stands is read before the job is: one without a driver will pin it later, as
    it is now, or newer.
    """
    place = Place(move.repository.repository_id, move.branch)
    moves: dict[Place, Move | None] = {place: move}
    writers = {graph.node(job.pipeline).writes: job for job in decided.jobs}
    for job in decided.jobs:
        node = graph.node(job.pipeline)
        for each in node.triggers:
            if each != place and node.spec.trigger.each_commit:
                continue  # its commits are taken one by one
            if each not in moves:
                moves[each] = _move_of(lake, each)
            found = moves[each]
            if found is None:
                continue
            if each == place or _is_to_read(lake, found, job, writers.get(each)):
                note_seen(lake, node, found, decided.id)


def _is_to_read(lake: Lake, move: Move, planned: PlannedJob, writer: PlannedJob | None) -> bool:
    """Say whether a job reads a branch as it was when it was looked at, or newer.

    What a job of the set writes is read as that job leaves it, which must not be there yet.
    """
    jobs = PipelineTables.of(lake.store).jobs
    job, *above = (
        jobs.get(each.job.encode()).record for each in (planned, writer) if each is not None
    )
    return _has_read(job, move) or all(each.epoch == 0 for each in (job, *above))


def _move_of(lake: Lake, place: Place) -> Move | None:
    repository = find_repository(lake, place.repo)
    return find_move(lake, repository, BranchName(place.branch)) if repository else None


def _cause(move: Move, commit: Commit, order: int) -> Cause:
    """Say why. A commit's key is its own, whatever has followed it when it is decided on."""
    return Cause(
        kind=COMMIT,
        key=move_key(move.jumps, commit),
        repository=move.repository.repository_id,
        unique_identifier=move.repository.unique_identifier,
        branch=move.branch,
        commit=commit.id,
        order=order,
    )
