# SPDX-License-Identifier: Apache-2.0
"""Whether a branch has moved far enough that a pipeline should run.

A *move* is a branch's coming to a head, by a commit, a hard reset or anything else; its key is
never given twice, so a branch that comes back to an old commit has moved again. While the head
stays the key does, whatever is staged or forgotten meanwhile: by it a decision is found that was
made and not noted. What a pipeline has last been decided on is its `Seen` row. Terms count from it:

    commits    that the head has and the seen commit lacks, by clocks, without reading any
    size       bytes of objects added or changed since, by the difference of the two trees; these
               never change, so `Grown` remembers what was too little
    cron       the clock has ticked since the row was written

A pipeline that has seen nothing yet counts from the beginning of the branch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from lochan.errors import NotFound
from lochan.model.clock import own
from lochan.model.codec import decode_entry
from lochan.model.ids import EMPTY_TREE, BranchName, MetaRangeId
from lochan.model.instant import NANOSECONDS
from lochan.model.records import Commit, Repository
from lochan.operations.lake import Lake
from lochan.operations.tree_changes import TreeChanges
from lochan.pipelines.model.records import Seen
from lochan.pipelines.model.spec import Trigger, TriggerTerm
from lochan.pipelines.specs.cron import Schedule
from lochan.refs.kinship import Kinship
from lochan.refs.log import log

MOST_NAMED: Final = 1000  # commits between two decisions that are told by name
_MOST_REMEMBERED: Final = 10_000  # pairs of trees


@dataclass(frozen=True, slots=True)
class Move:
    """Where a branch stands. `key` names this move of it, and no other."""

    repository: Repository
    branch: BranchName
    head: Commit
    key: str
    jumps: int


def find_move(lake: Lake, repository: Repository, branch: BranchName) -> Move | None:
    """Look where a branch stands; None where there is no such branch."""
    try:
        found = lake.branches.fresh(repository, branch).record
    except NotFound:
        return None
    head = lake.tables(repository).commits.get(found.commit_id.encode()).record
    jumps = found.resets - found.resets_in_place
    return Move(repository, branch, head, move_key(jumps, head), jumps)


def move_key(jumps: int, head: Commit) -> str:
    """Name a move: commits advance the head's clock, whatever else moves it advances `jumps`."""
    clock = own(head)
    return f"{jumps}-{clock.branch}-{clock.commit}"


class Grown:
    """How many bytes lie between two trees, for those that were compared to the end."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._bytes: dict[tuple[str, str, str], int] = {}

    def reaches(self, lake: Lake, move: Move, before: MetaRangeId, wanted: int) -> bool:
        """Say whether a move brought so much that is new; reads no further than that."""
        namespace, now = move.repository.storage_namespace, move.head.meta_range_id
        grown = self._bytes.get((namespace, before, now))
        if grown is None:
            changes = TreeChanges(lake.storage(namespace).snapshots, before, now, None)
            grown, is_all = _added_up(changes, wanted)
            if is_all:
                self._remember((namespace, before, now), grown)
        return grown >= wanted

    def _remember(self, trees: tuple[str, str, str], grown: int) -> None:
        if len(self._bytes) >= _MOST_REMEMBERED:
            self._bytes.pop(next(iter(self._bytes)))
        self._bytes[trees] = grown


def _added_up(changes: TreeChanges, wanted: int) -> tuple[int, bool]:
    """Add up what is new, until it is enough; says also whether that is all."""
    changes.seek(b"")
    grown = 0
    while grown < wanted:
        change = changes.next()
        if change is None:
            return grown, True
        if change.right is not None:
            grown += decode_entry(change.right.data).size
    return grown, False


def is_due(
    lake: Lake,
    trigger: Trigger,
    move: Move,
    seen: Seen | None,
    now: float,
    grown: Grown | None = None,
) -> bool:
    """Say whether a move, another than the one seen, is one to run for.

    Raises: Unavailable. A seen commit that is gone counts as nothing seen.
    """
    if seen is not None and seen.key == move.key:
        return False
    since = _Since(lake, move, seen, now, grown or Grown())
    if trigger.all and not all(map(since.meets, trigger.all)):
        return False
    return not trigger.any or any(map(since.meets, trigger.any))


def commits_since(lake: Lake, move: Move, seen: Seen | None) -> tuple[Commit, ...]:
    """Give the commits that followed a seen one on a branch, oldest first.

    Where it was not followed, since the branch was moved elsewhere, or by more than a thousand, it
    is the head alone.
    """
    found: list[Commit] = []
    tables = lake.tables(move.repository)
    for commit in log(tables, move.head.id, first_parent=True, limit=MOST_NAMED):
        if seen is not None and commit.id == seen.commit:
            return tuple(reversed(found))
        found.append(commit)
    return (move.head,)


@dataclass(frozen=True, slots=True)
class _Since:
    """What happened on a branch since a pipeline was last decided on."""

    lake: Lake
    move: Move
    seen: Seen | None
    now: float
    grown: Grown

    def meets(self, term: TriggerTerm) -> bool:
        """Say whether every field of a term is met; the cheap ones are asked first."""
        asked: list[Callable[[], bool]] = []
        if term.cron:
            asked.append(lambda: self._has_ticked(term.cron))
        if term.commits:
            asked.append(lambda: self._commits() >= term.commits)
        if term.size:
            asked.append(lambda: self._has_grown_by(term.size))
        return all(ask() for ask in asked)

    def _has_ticked(self, schedule: str) -> bool:
        if self.seen is None:
            return True
        return Schedule(schedule).after(self.seen.when / NANOSECONDS) <= self.now

    def _commits(self) -> int:
        head, before = self.move.head, self._before()
        kinship = Kinship.of(self.lake.store, self.move.repository)
        return sum(span.length for span in kinship.history(head, before))

    def _has_grown_by(self, wanted: int) -> bool:
        before = self._before()
        left = before.meta_range_id if before else EMPTY_TREE
        return self.grown.reaches(self.lake, self.move, left, wanted)

    def _before(self) -> Commit | None:
        if self.seen is None:
            return None
        stored = self.lake.tables(self.move.repository).commits.find(self.seen.commit.encode())
        return stored.record if stored else None
