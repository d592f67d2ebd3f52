# SPDX-License-Identifier: Apache-2.0
"""Find what must run: hold the head of each watched branch against what was last decided on.

Nobody tells the sweep of a commit, so no event can be lost, come twice or come late: it looks. Many
may sweep at once, and a sweep may break off anywhere. The decision is one conditional write under a
name that the move gives (`job_sets`); the rows of what was seen follow it, and without them the
same decision is made again, and found to be there. A set's name has the pipelines that were due, so
a decision that was left half done is finished first: else those that are left would be decided on
without the others, as another set.

    a branch moved by a job set's own commit     that set has the jobs below: noted, unless
                                                 the pipeline has read another commit since then
    the pipeline has another version             run, whatever its trigger waits for
    the head is the one that was seen            nothing: its record alone has changed
    the last job was decided for this move       noted: who decided died before all notes were there
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
from lochan.model.instant import EPOCH, from_seconds
from lochan.model.records import Commit
from lochan.operations.lake import Lake
from lochan.pipelines.jobs.job_records import list_jobs, open_jobs, open_jobs_of
from lochan.pipelines.lineage.provenance import find_repository
from lochan.pipelines.model.commit_metadata import JOB_SET
from lochan.pipelines.model.failures import Failed
from lochan.pipelines.model.records import Cause, Job, JobSet, Seen
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

COMMIT = "commit"
_LOOKED_AT: Final = 100  # jobs of a pipeline, on the way to its last one on a branch


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
    return tuple(decided for several in due.values() for decided in _decide(lake, graph, several))


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
    row = PipelineTables.of(lake.store).seen.find(
        seen_name(node.pipeline, move.repository, move.branch)
    )
    seen = row.record if row else None
    if seen is None or seen.life == node.life:
        if seen is not None and seen.commit == move.head.id:
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


def _decided_for(lake: Lake, graph: Graph, node: Node, move: Move) -> str:
    """Name the set of a pipeline's last job, if it was decided for a move, and on this graph."""
    last = _last_job(lake, node)
    found = PipelineTables.of(lake.store).job_sets.find(last.job_set.encode()) if last else None
    if found is None or found.record.graph_version != graph.version:
        return ""
    cause = found.record.cause
    return found.record.id if cause == _cause(move, move.head, cause.order) else ""


def _planned_by(lake: Lake, node: Node, move: Move) -> str:
    """Name the job set that made a head, if the pipeline's last job is of it or has read it."""
    name = move.head.metadata.get(JOB_SET, "")
    if not name:
        return ""
    last = _last_job(lake, node)
    if last is None:
        return ""
    pinned = {(pin.repository, pin.commit) for pin in last.pins}
    is_taken = (move.repository.repository_id, move.head.id) in pinned
    return name if is_taken or last.job_set == name else ""


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
    """Decide one set for the newest commit."""
    move, names = several[0].move, [one.node.pipeline for one in several]
    passed = {commit.id for one in several for commit in commits_since(lake, move, one.seen)[:-1]}
    decided = decide(
        lake, _cause(move, move.head, 0), graph, pipelines=names, skipped_commits=sorted(passed)
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
    """Note that a set will take all that its pipelines read as it is now, or newer."""
    place = Place(move.repository.repository_id, move.branch)
    moves: dict[Place, Move | None] = {place: move}
    for job in decided.jobs:
        node = graph.node(job.pipeline)
        for each in node.triggers:
            if each != place and node.spec.trigger.each_commit:
                continue  # its commits are taken one by one
            if each not in moves:
                moves[each] = _move_of(lake, each)
            found = moves[each]
            if found is not None:
                note_seen(lake, node, found, decided.id)


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
