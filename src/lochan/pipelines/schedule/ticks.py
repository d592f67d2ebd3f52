# SPDX-License-Identifier: Apache-2.0
"""Clocks as inputs: each tick is a commit of a file named by its time, in a repository of its own.

So a tick is data like any other: it starts jobs as commits do, and is in their provenance. Where
several look at the clock, the one that comes second finds the file there and nothing to commit. A
clock that nobody looked at for a while ticks once, for the newest tick: nothing is caught up with.

    2026-11-16T10:00:00Z      an empty file

The head's metadata names the newest tick, so that a clock with many costs one look. Files that are
no ticks, which only somebody who insists can put there, are left alone.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime

from lochan.errors import InvalidInput, LochanError, Unavailable
from lochan.kernel.records import Record
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.instant import NANOSECONDS
from lochan.model.records import Commit, Repository
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.delete_objects import delete_objects
from lochan.operations.lake import Lake
from lochan.operations.list_objects import list_objects
from lochan.operations.put_object import put_object
from lochan.operations.reference import commit_of
from lochan.pipelines.lineage.provenance import find_repository
from lochan.pipelines.model.failures import Failed
from lochan.pipelines.model.spec import CronInput, cron_repository, leaves
from lochan.pipelines.model.tables import PipelineTables
from lochan.pipelines.specs.cron import Schedule
from lochan.pipelines.specs.graph import TICKS, Graph, Node

TICK = "lochan.tick"
_NAME = "%Y-%m-%dT%H:%M:%SZ"


def tick(lake: Lake, graph: Graph, failed: Failed | None = None) -> tuple[Commit, ...]:
    """Commit the ticks that are due; gives the commits that were made.

    One clock that cannot tick must not keep the others waiting: `failed` hears of it. Raises:
    Unavailable; without `failed`, all that it would hear.
    """
    made: list[Commit] = []
    for node in graph.nodes:
        for leaf in leaves(node.spec.input):
            if not isinstance(leaf, CronInput) or node.paused:
                continue
            try:
                made += _tick(lake, node, leaf)
            except LochanError as error:
                if failed is None or isinstance(error, Unavailable):
                    raise
                failed(error)
    return tuple(made)


def _tick(lake: Lake, node: Node, clock: CronInput) -> list[Commit]:
    repository = find_repository(lake, cron_repository(node.pipeline, clock))
    if repository is None:
        return []  # a pipeline that is being made or deleted
    last = _last(lake, repository)
    since = _created(lake, node) if last is None else last
    found = Schedule(clock.schedule).latest(since, lake.environment.now())
    if found is None:
        return []
    name = datetime.fromtimestamp(found, UTC).strftime(_NAME)
    if clock.overwrite:
        old = [ObjectKey(each) for each in _ticks(lake, repository)]
        delete_objects(lake.forcing(), repository, BranchName(TICKS), old)
    put_object(lake.forcing(), repository, BranchName(TICKS), ObjectKey(name.encode()), b"")
    request = CommitRequest(f"pipeline {node.pipeline}", f"tick {name}", {TICK: name})
    try:
        return [commit(lake.forcing(), repository, BranchName(TICKS), request)]
    except InvalidInput as error:
        if error.code != "no-changes":
            raise
    return []  # somebody else has committed this tick


def _last(lake: Lake, repository: Repository) -> float | None:
    """Give the moment of the newest tick."""
    head = commit_of(lake, repository, f"{TICKS}@")
    said = _moment(head.metadata.get(TICK, "").encode())
    if said is not None:
        return said
    return max(filter(None, map(_moment, _ticks(lake, repository))), default=None)


def _ticks(lake: Lake, repository: Repository) -> Iterator[bytes]:
    """Name the ticks that are there, with what a scheduler put there that died before it committed.

    Oldest first: their names sort like their times.
    """
    after, has_more = b"", True
    while has_more:
        page = list_objects(lake, repository, TICKS, after=after)
        for item in page.items:
            assert isinstance(item, Record)  # noqa: S101 - without a delimiter there are no others
            after = item.key
            if _moment(item.key) is not None:
                yield item.key
        has_more = page.has_more


def _moment(name: bytes) -> float | None:
    """Read the name of a tick; None for what is no tick's."""
    with suppress(ValueError):
        return datetime.strptime(name.decode(), _NAME).replace(tzinfo=UTC).timestamp()
    return None


def _created(lake: Lake, node: Node) -> float:
    found = PipelineTables.of(lake.store).specs.get(node.pipeline.encode()).record
    return found.created / NANOSECONDS
