# SPDX-License-Identifier: Apache-2.0
"""The clocks of seed 002: which commit follows which, by arithmetic on two commits' clocks alone.

A lineage is one unbroken line of first parents; its commits have the places 0, 1, 2 ... A commit's
clock is the way to it along first parents, one component a lineage:

    [(foo,0)] - [(foo,1)] - [(foo,2)] - [(foo,3)]
        `------ [(foo,0),(bar,0)] - [(foo,0),(bar,1)] - [(foo,0),(bar,2)]
                                            `---------- [(foo,0),(bar,1),(buzz,0)]

The last component is the commit's own place. A branch owns at most one lineage, and only the
compare-and-swap that moves the branch hands out its next place, so that no place is given twice.
Whatever moves a branch other than by committing makes it leave its line (`leave_line`); its next
commit begins a new one. So names may be used again, and clocks are not disturbed.

Clocks know first parents only. What merges bring is kept beside them (`lochan.refs.reach`).

A commit's number, repo/branch/int, is for people. A branch numbers its own commits 0, 1, 2 ... for
as long as it exists, through resets; `ordinals` says which line had which numbers. An ordinal
without lineage is a branch that left its line and has not committed since.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lochan.errors import Internal, InvalidInput
from lochan.model.ids import (
    BranchName,
    LineageId,
    RepositoryId,
    valid_branch_name,
    valid_repository_id,
)
from lochan.model.records import Branch, Clock, Commit, Ordinal

_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}")
_NO_LINE = LineageId("")


class Span(NamedTuple):
    """Neighbours on one lineage: the places first to last, both included."""

    lineage: LineageId
    first: int
    last: int

    @property
    def length(self) -> int:
        """Count the commits; a commit of this line is at every place."""
        return self.last - self.first + 1


class NextClock(NamedTuple):
    """What the next commit of a branch, and the branch record that names it, must say."""

    clocks: tuple[Clock, ...]
    lineage: LineageId
    ordinals: tuple[Ordinal, ...]


class CommitNumber(NamedTuple):
    """A commit as people write it: repo/branch/int."""

    repository: RepositoryId
    branch: BranchName
    number: int

    def __str__(self) -> str:
        return f"{self.repository}/{self.branch}/{self.number}"


def own(commit: Commit) -> Clock:
    """Give a commit's own place, the last component of its clock."""
    if not commit.clocks:
        message = f"commit {commit.id} has no clock; restoring refs should have given it one"
        raise Internal(message, code="no-clock", commit_id=commit.id)
    return commit.clocks[-1]


def next_clock(head: Commit | None, branch: Branch, fresh: LineageId) -> NextClock:
    """Say what clock follows `head` on `branch`; `fresh` was drawn for this call and no other.

    Without head it is a root. A merge advances like any commit; `head` is its first parent.
    """
    if branch.lineage:
        if head is None or own(head).branch != branch.lineage:
            message = f"branch {branch.branch_id} owns line {branch.lineage}, but its head does not"
            raise Internal(message, code="not-on-line", branch=branch.branch_id)
        clocks = (*head.clocks[:-1], Clock(branch.lineage, own(head).commit + 1))
        return NextClock(clocks, branch.lineage, branch.ordinals)
    before = () if head is None else (*head.clocks[:-1], own(head))
    kept, first = branch.ordinals, 0
    if kept:
        if kept[-1].lineage:
            message = f"branch {branch.branch_id} left line {kept[-1].lineage} without leave_line"
            raise Internal(message, code="not-on-line", branch=branch.branch_id)
        kept, first = kept[:-1], kept[-1].first
    return NextClock((*before, Clock(fresh, 0)), fresh, (*kept, Ordinal(fresh, first)))


def leave_line(head: Commit, branch: Branch) -> tuple[LineageId, tuple[Ordinal, ...]]:
    """Give lineage and ordinals for a branch that moves from `head` other than by committing.

    Its numbers go on from where they were. The caller first puts `head` into the clock index
    (`ClockIndex.place`): nobody finds the tip of a line that has no owner.
    """
    if not branch.lineage:
        return _NO_LINE, branch.ordinals
    number = number_of(branch.ordinals, own(head))
    following = 0 if number is None else number + 1
    return _NO_LINE, (*branch.ordinals, Ordinal(_NO_LINE, following))


def caused_by(later: Sequence[Clock], earlier: Sequence[Clock], *, or_self: bool = False) -> bool:
    """Say whether `later` comes after `earlier` along first parents.

    The seed's two clauses miss [(foo,1),(bar,0)] after [(foo,0)]. This is the whole rule: `later`
    passed through the lineage of `earlier`, at its place or further on.
    """
    lineage, place = earlier[-1]
    passed = dict(later).get(lineage, -1)
    return passed >= place and (or_self or later[-1] != earlier[-1])


def parting(one: Sequence[Clock], other: Sequence[Clock]) -> tuple[Clock, ...]:
    """Give the clock of the last commit on both ways along first parents; empty if there is none.

    A lineage begins at one commit, so two clocks that share one agree on everything before it.
    """
    shared: list[Clock] = []
    for here, there in zip(one, other, strict=False):
        if here.branch != there.branch:
            break
        shared.append(min(here, there))
        if here != there:
            break
    return tuple(shared)


def ranges(reached: Iterable[Clock]) -> tuple[Span, ...]:
    """List a commit and all its ancestors as one span a lineage.

    Of a clock this is everything along first parents, and spans read in order, each upwards, give
    parents before children. Of a whole reach (`lochan.refs.kinship`) it is the full ancestry.
    """
    return between(reached)


def between(to: Iterable[Clock], since: Iterable[Clock] = ()) -> tuple[Span, ...]:
    """List what `to` has reached and `since` has not: the set difference, one span a lineage.

    `to` itself is in it, `since` is not. Both are clocks, or both are whole reaches.
    """
    seen = dict(since)
    spans = (Span(lineage, seen.get(lineage, -1) + 1, last) for lineage, last in to)
    return tuple(span for span in spans if span.first <= span.last)


def clock_of(ordinals: Sequence[Ordinal], number: int) -> Clock | None:
    """Find the place that a branch's n-th commit has; None if the branch never gave that number.

    On the branch's present line the place may not be taken yet: only the head knows.
    """
    for lineage, first in reversed(ordinals):
        if first <= number:
            return Clock(lineage, number - first) if lineage else None
    return None


def number_of(ordinals: Sequence[Ordinal], clock: Clock) -> int | None:
    """Find the number that a branch gave to a place; None if the place is on no line of its own."""
    return next((o.first + clock.commit for o in ordinals if o.lineage == clock.branch), None)


def parse_commit_number(text: str) -> CommitNumber:
    """Read repo/branch/int. Raises InvalidInput."""
    parts = text.split("/")
    if len(parts) != 3 or not _NUMBER.fullmatch(parts[2]):  # noqa: PLR2004 - repo, branch, int
        message = f"{text[:80]!r} is not a commit number: write repo/branch/integer"
        raise InvalidInput(message, code="invalid-commit-number", value=text)
    return CommitNumber(valid_repository_id(parts[0]), valid_branch_name(parts[1]), int(parts[2]))
