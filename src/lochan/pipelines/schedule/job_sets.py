# SPDX-License-Identifier: Apache-2.0
"""Decide: one cause, one job set, however often and by however many it is decided.

    job set id   H(repository's unique identifier, branch, commit, graph version, the cause's kind
                   and key, branch that it runs on, pipelines that were asked for)
    job id       H(job set id, pipeline)

Both are 32 hex digits. The cause's key tells one commit that a branch gets twice from the same
event told twice: for a commit it is the branch's move ordinal, for a clock the tick, for a person
the request's idempotency key. One conditional write of jobsets/<id> is the decision. Job records
are made from what it holds, by whoever finds them missing (`open_jobs_of`): events that come
at least once give one set.
"""

from collections.abc import Sequence

from lochan.errors import InvalidInput, PredicateFailed, UnknownOutcome
from lochan.kv.store import Store
from lochan.model.instant import EPOCH, Instant, from_seconds
from lochan.operations.lake import Lake
from lochan.pipelines.jobs.job_records import open_jobs_of
from lochan.pipelines.model.datum import hashed
from lochan.pipelines.model.records import Cause, JobSet, Pin, PlannedJob
from lochan.pipelines.model.tables import PipelineTables
from lochan.pipelines.specs.graph import Graph, Node

_DIGITS = 32


def decide(  # noqa: PLR0913 - all that a set records, each by its name
    lake: Lake,
    cause: Cause,
    graph: Graph,
    *,
    pipelines: Sequence[str] = (),
    branch: str = "",
    pins: Sequence[Pin] = (),
    skipped_commits: Sequence[str] = (),
    earliest: Instant = EPOCH,
) -> JobSet | None:
    """Decide which jobs a cause calls for, and see that their records are there.

    `pipelines` are asked for by name, with all that hangs below them; without any it is what the
    cause's branch starts. A clock that went back makes no set older than `earliest`. Gives the set
    as it was decided first, or None where nothing hangs on the cause. Raises: NotFound for a
    pipeline; UnknownOutcome: decide again.
    """
    nodes = _wanted(graph, cause, pipelines)
    if not nodes:
        return None
    name = job_set_id(cause, graph.version, branch=branch, pipelines=pipelines)
    decided = JobSet(
        id=name,
        cause=cause,
        graph_version=graph.version,
        jobs=_planned(graph, name, nodes),
        created=max(earliest, from_seconds(lake.environment.now())),
        branch=branch,
        pins=tuple(pins),
        skipped_commits=tuple(skipped_commits),
    )
    found = _store(lake.store, decided)
    open_jobs_of(lake, found)
    return found


def job_set_id(
    cause: Cause, graph_version: str, *, branch: str = "", pipelines: Sequence[str] = ()
) -> str:
    """Name the job set of a cause."""
    said = (
        cause.unique_identifier,
        cause.branch,
        cause.commit,
        graph_version,
        cause.kind,
        cause.key,
        branch,
        *sorted(set(pipelines)),
    )
    return hashed([field.encode() for field in said]).hex()[:_DIGITS]


def job_id(job_set: str, pipeline: str) -> str:
    """Name the job of a pipeline in a job set."""
    return hashed([job_set.encode(), pipeline.encode()]).hex()[:_DIGITS]


def _wanted(graph: Graph, cause: Cause, pipelines: Sequence[str]) -> tuple[Node, ...]:
    if not pipelines:
        if not cause.repository:
            raise InvalidInput("say which pipelines to run", code="pipelines-needed")
        return graph.affected(cause.repository, cause.branch)
    named = {node.pipeline for name in pipelines for node in graph.below(name)}
    named |= {graph.node(name).pipeline for name in pipelines}
    return tuple(node for node in graph.nodes if node.pipeline in named)


def _planned(graph: Graph, job_set: str, nodes: Sequence[Node]) -> tuple[PlannedJob, ...]:
    planned = {node.pipeline for node in nodes}
    return tuple(
        PlannedJob(
            job=job_id(job_set, node.pipeline),
            pipeline=node.pipeline,
            version=node.version,
            upstream=tuple(
                job_id(job_set, above.pipeline)
                for above in graph.upstream(node.pipeline)
                if above.pipeline in planned
            ),
        )
        for node in nodes
    )


def _store(store: Store, decided: JobSet) -> JobSet:
    """Store a decision, or give the one that was there. Who comes second takes the first's."""
    table, name = PipelineTables.of(store).job_sets, decided.id.encode()
    found = table.find(name)
    if found is not None:
        return found.record
    try:
        table.set_if(name, decided, None)
    except (PredicateFailed, UnknownOutcome):
        found = table.find(name)
        if found is None:
            raise
        return found.record
    return decided
