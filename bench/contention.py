# SPDX-License-Identifier: Apache-2.0
"""One contended branch, eight threads, SQLite with fsync: commits, merges, and both together.

A committer puts an object and commits it, again and again. A merger merges branches that were
prepared before, each with an object and a commit of its own. Afterwards the head must hold every
object, and its history every commit; trees that were built are counted, since a commit that is done
again in full builds its tree again. The yardstick is how often the disk can be synced in a second.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import msgspec

from ground import MAIN, Ground, new_ground
from lochan.committed import Applied, Files, Snapshots
from lochan.committed.merge import Merged
from lochan.kernel.records import Records
from lochan.model.entry import Entry
from lochan.model.ids import BranchName, MetaRangeId, ObjectKey
from lochan.model.instant import EPOCH
from lochan.model.records import Commit
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.lake import Storage
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.put_object import stage_entry
from lochan.refs.ancestry import ancestry
from measure import Row, chosen

THREADS = 8
EACH = chosen(50, small=2)  # commits or merges of a thread
TARGET = 100
LAKEFS = 1.66  # merges a second: what lakeFS publishes

Made = tuple[ObjectKey, Commit]


class CountedSnapshots(Snapshots):
    """Snapshots that count the trees that are built."""

    built = 0
    _lock = threading.Lock()

    def apply(
        self,
        base: MetaRangeId,
        changes: Iterable[Records],
        *,
        breathe: Callable[[], None] | None = None,
    ) -> Applied:
        """Count a tree of staged rows."""
        with self._lock:
            self.built += 1
        return super().apply(base, changes, breathe=breathe)

    def merge(
        self, base: MetaRangeId, dest: MetaRangeId, source: MetaRangeId, strategy: str = ""
    ) -> Merged:
        """Count a merged tree."""
        with self._lock:
            self.built += 1
        return super().merge(base, dest, source, strategy)


@dataclass(frozen=True, slots=True)
class Contest:
    """A lake whose trees are counted."""

    ground: Ground
    snapshots: CountedSnapshots

    @classmethod
    def on(cls, ground: Ground) -> "Contest":
        """Count the trees of a lake."""
        lake, namespace = ground.lake, ground.repository.storage_namespace
        found = lake.storage(namespace)
        files = Files(found.objects, lake.environment)
        snapshots = CountedSnapshots(files, lake.environment)
        storage = Storage(found.objects, found.addresses, snapshots)
        return cls(replace(ground, lake=replace(lake, storage=lambda _: storage)), snapshots)

    def put(self, branch: BranchName, key: ObjectKey) -> None:
        """Stage a small object; its bytes are not what is measured."""
        entry = Entry(address=f"data/{key.decode()}", last_modified=EPOCH, size=1, e_tag="0" * 32)
        stage_entry(self.ground.lake, self.ground.repository, branch, key, entry)

    def commit(self, branch: BranchName, key: ObjectKey) -> Made:
        """Put an object and commit it."""
        self.put(branch, key)
        said = CommitRequest("bench", key.decode())
        return key, commit(self.ground.lake, self.ground.repository, branch, said)

    def prepare(self, key: ObjectKey) -> Made:
        """Make a branch with one commit, to be merged."""
        branch = BranchName(key.decode())
        create_branch(self.ground.lake, self.ground.repository, branch, self.ground.head)
        return self.commit(branch, key)

    def merge(self, prepared: Made) -> Made:
        """Merge a prepared commit into main, whatever is staged there."""
        key, source = prepared
        said = MergeRequest("bench", key.decode(), allow_dirty=True)
        return key, merge(self.ground.lake, self.ground.repository, MAIN, source, said)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What eight threads got done."""

    made: Sequence[Made]
    wall_s: float
    built: int

    @property
    def rate(self) -> float:
        """How many were published in a second."""
        return len(self.made) / self.wall_s


def main() -> list[Row]:
    """Measure the three kinds of contest on one lake."""
    with new_ground() as ground:
        contest = Contest.on(ground)
        with closing(contest.snapshots), ThreadPoolExecutor(THREADS) as threads:
            syncs = fdatasync_rate(ground.folder)
            outcomes = _measured(contest, threads)
    return [_row(what, outcome, syncs) for what, outcome in outcomes.items()] + [
        Row(
            "the same merges, beside lakeFS",
            f"{outcomes['merges'].rate:,.0f}/s",
            f"published: {LAKEFS}/s",
            outcomes["merges"].rate / LAKEFS,
            "report",
            None,
        )
    ]


def _measured(contest: Contest, threads: ThreadPoolExecutor) -> dict[str, Outcome]:
    prepared: list[Made] = []

    def committer(thread: int, folder: bytes = b"puts") -> list[Made]:
        keys = (ObjectKey(b"%s/%d/%d" % (folder, thread, number)) for number in range(EACH))
        return [contest.commit(MAIN, key) for key in keys]

    def merger(_thread: int) -> list[Made]:
        return [contest.merge(prepared.pop()) for _ in range(EACH)]

    def either(thread: int) -> list[Made]:
        return merger(thread) if thread % 2 else committer(thread, b"more")

    outcomes: dict[str, Outcome] = {}
    for what, work, mergers in (
        ("commits", committer, 0),
        ("merges", merger, THREADS),
        ("both together", either, THREADS // 2),
    ):
        names = (ObjectKey(b"%s-%d" % (what[:4].encode(), n)) for n in range(mergers * EACH))
        prepared.extend(threads.map(contest.prepare, names))
        outcomes[what] = _raced(contest, threads, work)
        check_nothing_is_lost(contest, outcomes[what].made)
    return outcomes


def _raced(
    contest: Contest, threads: ThreadPoolExecutor, work: Callable[[int], list[Made]]
) -> Outcome:
    built, began = contest.snapshots.built, perf_counter()
    made = [each for done in threads.map(work, range(THREADS)) for each in done]
    wall_s = perf_counter() - began
    return Outcome(made, wall_s, contest.snapshots.built - built)


def check_nothing_is_lost(contest: Contest, made: Sequence[Made]) -> None:
    """Find every object in the head and every commit behind it, each under an id of its own."""
    ground = contest.ground
    tables = ground.lake.tables(ground.repository)
    history = {found.id: found for found in ancestry(tables, ground.head)}
    tree = history[ground.head].meta_range_id
    assert all(contest.snapshots.get(tree, key) for key, _ in made), "an object was lost"
    assert {each.id for _, each in made} <= history.keys(), "a commit was lost"
    assert len({each.id for _, each in made}) == len(made), "two requests share a commit"


def fdatasync_rate(folder: Path, seconds: float = chosen(1.0, small=0.1)) -> float:
    """Append to a file and sync it, again and again: what one durable write costs at least."""
    file = os.open(folder / "synced", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    page, count, began = bytes(4096), 0, perf_counter()
    while perf_counter() - began < seconds:
        os.write(file, page)
        os.fdatasync(file)
        count += 1
    rate = count / (perf_counter() - began)
    os.close(file)
    return rate


def _row(what: str, outcome: Outcome, syncs: float) -> Row:
    needed = min(TARGET, syncs / 10)
    built = outcome.built / len(outcome.made)
    return Row(
        f"{what} on one branch, {THREADS} threads",
        f"{outcome.rate:,.0f}/s; {built:.2f} trees built for each, none lost",
        f"fdatasync {syncs:,.0f}/s",
        outcome.rate / syncs,
        f">= {needed:,.0f}/s, <= 1 tree each",
        outcome.rate >= needed and built <= 1,
    )


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(main()))
