# SPDX-License-Identifier: Apache-2.0
"""How often each story asks the key-value store: the table in docs/guarantees.md is true.

Nobody else is at work. A scan is one call, and so is a call of a capability.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import PredicateFailed
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.store import Pair, Place, Present, Versioned
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.records import Commit
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.lake import Lake
from lochan.operations.list_objects import list_objects
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.put_object import put_object
from lochan.operations.read_object import stat_object
from support.lakes import MAIN, Stage, open_stage

PAGE = Path(__file__).resolve().parents[3] / "docs" / "guarantees.md"
ROW = re.compile(r"^\| ([a-z][^|]*?) \| ((?:\w+ \d+(?:, )?)+) \| (\d+) \| (\d+) \|$", re.MULTILINE)
DEV, OTHER = BranchName("dev"), BranchName("other")
OLD, NEW = ObjectKey(b"old"), ObjectKey(b"new")


class StillClock(RealEnvironment):
    """An environment in which what was seen never grows old."""

    def monotonic(self) -> float:
        return 0.0


class CountingStore:
    """A store with the six calls of the seam alone, which are counted by name."""

    def __init__(self) -> None:
        self._kept = MemoryStore(StillClock())
        self.calls = Counter[str]()
        self.lost_swap = 0  # the n-th swap from now on is lost, as to somebody else

    def get(self, partition: bytes, key: bytes) -> Versioned:
        self.calls["get"] += 1
        return self._kept.get(partition, key)

    def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        self.calls["set"] += 1
        self._kept.set(partition, key, value)

    def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Present | None) -> None:
        self.calls["set_if"] += 1
        self.lost_swap -= 1
        if self.lost_swap == 0:
            raise PredicateFailed("somebody else came first")
        self._kept.set_if(partition, key, value, predicate)

    def delete(self, partition: bytes, key: bytes) -> None:
        self.calls["delete"] += 1
        self._kept.delete(partition, key)

    def delete_if(self, partition: bytes, key: bytes, predicate: Present) -> None:
        self.calls["delete_if"] += 1
        self._kept.delete_if(partition, key, predicate)

    def scan(self, partition: bytes, start: bytes = b"") -> Iterator[Pair]:
        self.calls["scan"] += 1
        return self._kept.scan(partition, start)

    def close(self) -> None:
        self._kept.close()


class CapableStore(CountingStore):
    """The same with the capabilities that SQLite offers; each of their calls is one call."""

    def set_many(self, partition: bytes, records: Mapping[bytes, bytes]) -> None:
        self.calls["set_many"] += 1
        self._kept.set_many(partition, records)

    def set_then_get(
        self, partition: bytes, records: Mapping[bytes, bytes], *places: Place
    ) -> list[Versioned | None]:
        self.calls["set_then_get"] += 1
        return self._kept.set_then_get(partition, records, *places)

    def set_if_all(
        self, partition: bytes, key: bytes, value: bytes, predicates: Mapping[Place, Present | None]
    ) -> None:
        self.calls["set_if_all"] += 1
        self._kept.set_if_all(partition, key, value, predicates)


def put(stage: Stage, branch: BranchName, key: ObjectKey) -> None:
    put_object(stage.lake, stage.repository, branch, key, key)


def head(stage: Stage, branch: BranchName) -> Commit:
    named = stage.lake.branches.fresh(stage.repository, branch).record.commit_id
    return stage.lake.tables(stage.repository).commits.get(named.encode()).record


def commit_all(stage: Stage, branch: BranchName) -> Commit:
    return commit(stage.lake, stage.repository, branch, CommitRequest("ada", "some message"))


def stat(stage: Stage, key: ObjectKey) -> None:
    stat_object(stage.lake, stage.repository, MAIN, key)


def nothing(stage: Stage) -> Commit:
    return head(stage, MAIN)


def staged(stage: Stage) -> Commit:
    put(stage, MAIN, OLD)
    return head(stage, MAIN)


def committed(stage: Stage) -> Commit:
    put(stage, MAIN, OLD)
    commit_all(stage, MAIN)
    stat(stage, OLD)
    return head(stage, MAIN)


def parted(stage: Stage) -> Commit:
    create_branch(stage.lake, stage.repository, DEV, head(stage, MAIN).id)
    put(stage, DEV, NEW)
    source = commit_all(stage, DEV)
    committed(stage)
    return source


def branched(stage: Stage) -> Commit:
    at = head(stage, MAIN)
    create_branch(stage.lake, stage.repository, DEV, at.id)
    return at


def first_write(stage: Stage, _: Commit) -> None:
    lake = Lake.of(stage.lake.store, stage.lake.environment, lambda _: stage.storage)
    put(Stage(lake, stage.repository, stage.storage), MAIN, NEW)


def losing_commit(stage: Stage, _: Commit) -> None:
    """Commit, and lose the second swap once; the calls that this adds are left in the counter."""
    store = stage.lake.store
    assert isinstance(store, CountingStore)
    commit_all(stage, MAIN)
    undisturbed = store.calls.copy()
    put(stage, MAIN, NEW)
    store.calls.clear()
    store.lost_swap = 2
    commit_all(stage, MAIN)
    store.calls.subtract(undisturbed)
    store.calls = +store.calls


# What is there before, and gives a commit; what is counted.
STORIES: dict[str, tuple[Callable[[Stage], Commit], Callable[[Stage, Commit], object]]] = {
    "staged write, the first of a process": (nothing, first_write),
    "staged write": (staged, lambda stage, _: put(stage, MAIN, NEW)),
    "stat of a staged object": (staged, lambda stage, _: stat(stage, OLD)),
    "stat of a committed object": (committed, lambda stage, _: stat(stage, OLD)),
    "page of a listing": (
        committed,
        lambda stage, _: list_objects(stage.lake, stage.repository, MAIN),
    ),
    "commit": (staged, lambda stage, _: commit_all(stage, MAIN)),
    "commit, each lost try more": (staged, losing_commit),
    "branch creation": (
        nothing,
        lambda stage, at: create_branch(stage.lake, stage.repository, DEV, at.id),
    ),
    "branch creation, another of the same commit": (
        branched,
        lambda stage, at: create_branch(stage.lake, stage.repository, OTHER, at.id),
    ),
    "merge": (
        parted,
        lambda stage, source: merge(
            stage.lake, stage.repository, MAIN, source, MergeRequest("ada")
        ),
    ),
}


def counted(store: CountingStore, story: str) -> Counter[str]:
    stage = open_stage(store, StillClock())
    before, measured = STORIES[story]
    given = before(stage)
    store.calls.clear()
    measured(stage, given)
    return store.calls


@pytest.mark.parametrize("story", STORIES)
def test_a_story_makes_the_calls_that_the_page_says(story: str) -> None:
    rows = {row[0]: row for row in ROW.findall(PAGE.read_text())}
    calls = counted(CountingStore(), story)
    shown = ", ".join(f"{name} {calls[name]}" for name in sorted(calls))
    capable = counted(CapableStore(), story).total()

    wanted = (story, shown, str(calls.total()), str(capable))
    assert rows.get(story) == wanted, f"| {' | '.join(wanted)} |"
