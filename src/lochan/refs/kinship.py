# SPDX-License-Identifier: Apache-2.0
"""How two commits are related, without walking history.

Both clocks show where the two parted along first parents. Beyond that, each side says on which
lines it got further, by its own commits and by its merges (`ReachIndex.since`); on every other line
both stand where they parted. So everything here costs a few reads a line merged since then:

    ancestor    the place of one is in the clock of the other, or a merge on its way reached it:
                one seek for each component of the clock
    merge base  on each line that both got further on, the lesser place; of these and the parting,
                one of the greatest generation. No common ancestor comes after it: it would have a
                greater generation, and would be at or before one of those places. After a
                criss-cross there are several, and all are among those places
    history     on each line, the places that one side reached and the other did not

Commits are given as records, and must be published (`ClockIndex.require_published`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from lochan.errors import InvalidInput
from lochan.kv.store import Store
from lochan.model.clock import Span, between, caused_by, own, parting
from lochan.model.ids import CommitId, LineageId
from lochan.model.records import Clock, Commit, Repository
from lochan.refs.reach import ReachIndex, Step


class AheadBehind(NamedTuple):
    """How many commits one has and the other lacks, and the other way round."""

    ahead: int
    behind: int


class _Candidate(NamedTuple):
    """A common ancestor; generation 0 is not known yet. Ties go by place, whichever side asks."""

    generation: int
    clock: Clock


@dataclass(frozen=True, slots=True)
class Kinship:
    """Questions about two commits of one repository."""

    reach: ReachIndex

    @classmethod
    def of(cls, store: Store, repository: Repository) -> "Kinship":
        """Bind the questions to a repository."""
        return cls(ReachIndex.of(store, repository))

    def is_ancestor(self, earlier: Commit, later: Commit, *, or_self: bool = False) -> bool:
        """Say whether a commit is among another's ancestors, through any parents."""
        if earlier.id == later.id:
            return or_self
        if earlier.generation >= later.generation:
            return False
        if caused_by(later.clocks, earlier.clocks):
            return True
        lineage, place = own(earlier)
        seeing = self.reach.assuming(later)
        # The last lines first: merges are more often near a head than far behind it.
        return any(seeing.reached(along, lineage) >= place for along in reversed(later.clocks))

    def merge_base(self, one: Commit, other: Commit) -> Commit | None:
        """Give a best common ancestor, the same whichever comes first; None for strangers."""
        candidates = self._candidates(one, other)
        if not candidates:
            return None
        if len(candidates) == 1:
            return self._commit(candidates.pop().clock, one, other)
        known = [self._with_generation(candidate, one, other) for candidate in candidates]
        return self._commit(max(known).clock, one, other)

    def merge_bases(self, one: Commit, other: Commit) -> tuple[Commit, ...]:
        """Give all common ancestors that are behind no other one; none for strangers."""
        clocks = {candidate.clock for candidate in self._candidates(one, other)}
        return self.latest(self._commit(clock, one, other) for clock in sorted(clocks))

    def latest(self, several: Iterable[Commit]) -> tuple[Commit, ...]:
        """Leave out the commits that are behind others of them."""
        found = {commit.id: commit for commit in several}.values()
        return tuple(
            commit for commit in found if not any(self.is_ancestor(commit, each) for each in found)
        )

    def history(
        self, to: Commit, since: Commit | None = None, *, strict: bool = False
    ) -> tuple[Span, ...]:
        """List `to` and its ancestors without `since` and its ancestors, one span a line.

        Where `since` is no ancestor of `to` this is the set difference; `strict` refuses that.
        """
        if since is None:
            return between(_clocks(self.reach.since(to)))
        if strict and not self.is_ancestor(since, to, or_self=True):
            message = f"commit {since.id} is no ancestor of {to.id}; swap them, or do without"
            raise InvalidInput(message, code="not-an-ancestor", to=to.id, since=since.id)
        parted = parting(to.clocks, since.clocks)
        reached = self.reach.since(to, parted)
        seen = self.reach.since(since, parted)
        floors = (
            Clock(lineage, max(self._reached_at(parted, lineage, to), _place(seen.get(lineage))))
            for lineage in reached
        )
        return between(_clocks(reached), floors)

    def ids(self, spans: tuple[Span, ...]) -> Iterator[CommitId]:
        """Name the commits of history's spans, line by line."""
        for span in spans:
            yield from self.reach.clocks.ids(span)

    def ahead_behind(self, one: Commit, other: Commit) -> AheadBehind:
        """Count the commits that each has and the other lacks; no commit is read."""
        return AheadBehind(
            sum(span.length for span in self.history(one, other)),
            sum(span.length for span in self.history(other, one)),
        )

    def _candidates(self, one: Commit, other: Commit) -> set[_Candidate]:
        """Find common ancestors, those among them that are behind no other one."""
        parted = parting(one.clocks, other.clocks)
        ours, theirs = self.reach.since(one, parted), self.reach.since(other, parted)
        return {
            *_last_on_way(one, theirs, parted),
            *_last_on_way(other, ours, parted),
            *_beside_both_ways(one, other, ours, theirs),
        }

    def _reached_at(self, clocks: tuple[Clock, ...], lineage: LineageId, seen_from: Commit) -> int:
        """Say how far the commit with this clock reached on a line; -1 if not at all."""
        seeing = self.reach.assuming(seen_from)
        passed = dict(clocks).get(lineage, -1)
        return max([passed, *(seeing.reached(along, lineage) for along in clocks)])

    def _with_generation(self, candidate: _Candidate, one: Commit, other: Commit) -> _Candidate:
        if candidate.generation:
            return candidate
        return _Candidate(self._commit(candidate.clock, one, other).generation, candidate.clock)

    def _commit(self, clock: Clock, *given: Commit) -> Commit:
        held = next((commit for commit in given if own(commit) == clock), None)
        return held or self.reach.clocks.commit(clock)


def _place(step: Step | None) -> int:
    return step.reached if step else -1


def _clocks(reached: dict[LineageId, Step]) -> list[Clock]:
    return [Clock(step.lineage, step.reached) for step in reached.values()]


def _last_on_way(
    commit: Commit, reached: dict[LineageId, Step], parted: tuple[Clock, ...]
) -> Iterator[_Candidate]:
    """Find the last commit on one side's way of first parents that the other side reached.

    It has all earlier ones on that way behind it, the parting too.
    """
    for clock in reversed(commit.clocks[max(len(parted) - 1, 0) :]):
        step = reached.get(clock.branch)
        if step is not None and step.reached <= clock.commit:
            yield _Candidate(step.generation, Clock(clock.branch, step.reached))
            return
        if step is not None:
            yield _Candidate(commit.generation if clock == own(commit) else 0, clock)
            return
    if parted:
        yield _Candidate(0, parted[-1])


def _beside_both_ways(
    one: Commit, other: Commit, ours: dict[LineageId, Step], theirs: dict[LineageId, Step]
) -> Iterator[_Candidate]:
    """Find the last commits that both sides reached on lines of others, by merges alone."""
    for lineage in ours.keys() & theirs.keys():
        step = min(ours[lineage], theirs[lineage], key=lambda step: step.reached)
        ways = (dict(one.clocks).get(lineage, -1), dict(other.clocks).get(lineage, -1))
        if step.reached > max(ways):
            yield _Candidate(step.generation, Clock(lineage, step.reached))
