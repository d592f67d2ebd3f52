# SPDX-License-Identifier: Apache-2.0
"""Clocks as inputs: each tick is a commit of a file named by its time, in a repository of its own.

So a tick is data like any other: it starts jobs as commits do, and is in their provenance. Where
several look at the clock, the one that comes second finds the file there and nothing to commit. A
clock that nobody looked at for a while ticks once, for the newest tick: nothing is caught up with.

    2026-11-16T10:00:00Z      an empty file
"""

from contextlib import suppress
from datetime import UTC, datetime

from lochan.errors import InvalidInput
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.instant import NANOSECONDS
from lochan.model.records import Commit, Repository
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.delete_objects import delete_objects
from lochan.operations.lake import Lake
from lochan.operations.put_object import put_object
from lochan.operations.reference import commit_of
from lochan.pipelines.cron import Schedule
from lochan.pipelines.graph import TICKS, Graph, Node
from lochan.pipelines.provenance import find_repository
from lochan.pipelines.spec import CronInput, cron_repository, leaves
from lochan.pipelines.tables import PipelineTables

TICK = "lochan.tick"
_NAME = "%Y-%m-%dT%H:%M:%SZ"


def tick(lake: Lake, graph: Graph) -> tuple[Commit, ...]:
    """Commit the ticks that are due; gives the commits that were made."""
    made = []
    for node in graph.nodes:
        for leaf in leaves(node.spec.input):
            if isinstance(leaf, CronInput) and not node.paused:
                made += _tick(lake, node, leaf)
    return tuple(made)


def _tick(lake: Lake, node: Node, clock: CronInput) -> list[Commit]:
    repository = find_repository(lake, cron_repository(node.pipeline, clock))
    if repository is None:
        return []  # a pipeline that is being made or deleted
    ticks = _ticks(lake, repository)
    since = _moment(ticks[-1]) if ticks else _created(lake, node)
    found = Schedule(clock.schedule).latest(since, lake.environment.now())
    if found is None:
        return []
    name = datetime.fromtimestamp(found, UTC).strftime(_NAME)
    if clock.overwrite and ticks:
        old = [ObjectKey(each) for each in ticks]
        delete_objects(lake.forcing(), repository, BranchName(TICKS), old)
    put_object(lake.forcing(), repository, BranchName(TICKS), ObjectKey(name.encode()), b"")
    request = CommitRequest(f"pipeline {node.pipeline}", f"tick {name}", {TICK: name})
    with suppress(InvalidInput):  # no-changes: somebody else has committed this tick
        return [commit(lake.forcing(), repository, BranchName(TICKS), request)]
    return []


def _ticks(lake: Lake, repository: Repository) -> list[bytes]:
    """Name the ticks that are there, oldest first; their names sort like their times."""
    tree = commit_of(lake, repository, TICKS).meta_range_id
    snapshots = lake.storage(repository.storage_namespace).snapshots
    return [row.key for row in snapshots.cursor(tree)]


def _moment(name: bytes) -> float:
    return datetime.strptime(name.decode(), _NAME).replace(tzinfo=UTC).timestamp()


def _created(lake: Lake, node: Node) -> float:
    found = PipelineTables.of(lake.store).specs.get(node.pipeline.encode()).record
    return found.created / NANOSECONDS
