# SPDX-License-Identifier: Apache-2.0
"""Which commit has which place: rows clock/<lineage>/<n> -> commit id.

A row is written after the compare-and-swap that published its commit (`place`), so a row never lies
about a commit that lost. A crash in between leaves a place without a row. Whoever misses a row
finds the commit by walking first parents, from the nearest row above it or from the head of the
branch that owns the line, and fills in what it passed. Only these starts are trusted: the record of
a commit that was never published may claim a place that somebody else was given.

Two rules keep that walk possible, and both are the writers':

    a branch that leaves its line (reset, delete)   places its head before its compare-and-swap
    a commit that comes in by its bare id           is checked by `require_published` first

So a line without owner has a row at its top, and a place above every row and every owner's head was
never given.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from lochan.errors import Conflict, Corruption, NotFound
from lochan.kv.read import find, scan_prefix
from lochan.kv.set_many import set_many
from lochan.kv.store import Store
from lochan.kv.table import Table
from lochan.model.clock import Span, own
from lochan.model.ids import CommitId
from lochan.model.keys import CLOCKS, clock_key, partition_of
from lochan.model.records import Branch, Clock, Commit, Repository
from lochan.refs.tables import RepositoryTables


@dataclass(frozen=True, slots=True)
class ClockIndex:
    """The places of one repository's commits."""

    store: Store
    partition: bytes
    commits: Table[Commit]
    branches: Table[Branch]

    @classmethod
    def of(cls, store: Store, repository: Repository) -> "ClockIndex":
        """Bind the index to a repository."""
        tables = RepositoryTables.of(store, repository)
        return cls(store, partition_of(repository), tables.commits, tables.branches)

    def place(self, *published: Commit) -> None:
        """Write the rows of commits that a branch names, or named, for certain.

        Idempotent: yes. Raises: Unavailable, UnknownOutcome; the rows are then found again later.
        """
        set_many(
            self.store,
            self.partition,
            {clock_key(*own(commit)): commit.id.encode() for commit in published},
        )

    def find(self, clock: Clock) -> CommitId | None:
        """Name the commit at a place; None where none was published there.

        A missing row is filled in. Raises: Unavailable, UnknownOutcome when that fails.
        """
        if named := self._row(clock):
            return named
        start = self._nearest_above(clock) or self._head_of_owner(clock)
        if start is not None:
            return self._walk(start, clock)
        # The owner may have left the line since the first look, and placed its head before that.
        start = self._nearest_above(clock)
        return self._row(clock) if start is None else self._walk(start, clock)

    def commit(self, clock: Clock) -> Commit:
        """Read the commit at a place. Raises NotFound."""
        named = self.find(clock)
        if named is None:
            message = f"no commit has place {clock.commit} of line {clock.branch}"
            raise NotFound(message, code="commit-not-found", clock=clock)
        return self.commits.get(named.encode()).record

    def ids(self, span: Span) -> Iterator[CommitId]:
        """Name the commits of a span upwards, by one scan. Raises NotFound at a place not taken."""
        expected = span.first
        prefix = CLOCKS + f"{span.lineage}/".encode()
        before = clock_key(span.lineage, span.first - 1) if span.first else b""
        for key, value in scan_prefix(self.store, self.partition, prefix, before):
            place = min(int(key.removeprefix(prefix)), span.last + 1)
            while expected < place:
                yield self.commit(Clock(span.lineage, expected)).id
                expected += 1
            if place > span.last:
                return
            yield CommitId(value.decode())
            expected += 1
            if expected > span.last:
                return
        while expected <= span.last:
            yield self.commit(Clock(span.lineage, expected)).id
            expected += 1

    def require_published(self, commit: Commit) -> None:
        """Refuse a commit whose place was given to another, or to nobody: an attempt that lost."""
        named = self.find(own(commit))
        if named != commit.id:
            taken = f"its place is {named}'s" if named else "no branch was ever moved to it"
            message = f"commit {commit.id} was never published: {taken}; commit it again"
            raise Conflict(message, code="never-published", commit_id=commit.id)

    def _row(self, clock: Clock) -> CommitId | None:
        found = find(self.store, self.partition, clock_key(*clock))
        return CommitId(found.value.decode()) if found else None

    def _nearest_above(self, clock: Clock) -> Commit | None:
        prefix = CLOCKS + f"{clock.branch}/".encode()
        rows = scan_prefix(self.store, self.partition, prefix, clock_key(*clock))
        named = next((value for _, value in rows), None)
        return self.commits.get(named).record if named else None

    def _head_of_owner(self, clock: Clock) -> Commit | None:
        """Look through the branches: slow, and only for a place above every row of its line."""
        for _, branch in self.branches.scan():
            if branch.lineage == clock.branch:
                head = self.commits.get(branch.commit_id.encode()).record
                return head if own(head).commit >= clock.commit else None
        return None

    def _walk(self, start: Commit, clock: Clock) -> CommitId:
        passed = [start]
        while own(passed[-1]).commit > clock.commit:
            passed.append(self.commits.get(passed[-1].parents[0].encode()).record)
        found = passed[-1]
        if own(found) != clock:
            reason = (
                f"walking first parents from {start.id} never met {clock.branch}/{clock.commit}"
            )
            raise Corruption(reason, file=f"commit {found.id}")
        self.place(*passed)
        return found.id
