# SPDX-License-Identifier: Apache-2.0
"""Bring new commits onto a branch: all of them by one compare-and-swap, or none (M7).

Of a branch that is there every sealed token goes, and what they hold is carried along, uncommitted
(H7; see `move`). A new branch comes into being with a record that names the last of its commits.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

import msgspec

from lochan.errors import Conflict, LochanError
from lochan.kv.set_many import set_many
from lochan.model.clock import NextClock, next_clock
from lochan.model.codec import encode_commit
from lochan.model.ids import BranchName, CommitId, LineageId, MetaRangeId, new_staging_token
from lochan.model.keys import COMMITS, partition_of
from lochan.model.records import Branch, Clock, Commit, Repository
from lochan.operations.allowed import Action, require_allowed
from lochan.operations.lake import Lake
from lochan.operations.publish import Chain, said_commit
from lochan.operations.request import Candidate, Said
from lochan.operations.seal import seal
from lochan.operations.staged_tree import build
from lochan.refs.branches import create_branch, first_resets
from lochan.refs.clock_index import ClockIndex
from lochan.refs.kinship import Kinship

ATTEMPTS = 100


class Growth(Protocol):
    """Where commits are added, one on the other; nobody sees them yet."""

    @property
    def head(self) -> Commit | None:
        """What the next commit goes on; None for the first of a root branch."""

    @property
    def clocks(self) -> tuple[Clock, ...]:
        """The clock that the next commit will have."""

    @property
    def kinship(self) -> Kinship:
        """Who is whose ancestor, the head included."""

    def add(self, tree: MetaRangeId, said: Said) -> Commit:
        """Put a commit of a tree on the head."""


# Adds commits, or none. It may be asked again, of another head, and must have no effect.
Grow = Callable[[Growth], None]


def land(lake: Lake, repository: Repository, name: BranchName, action: Action, grow: Grow) -> None:
    """Publish on a branch what `grow` adds to its head; it is asked again when the head has moved.

    Raises: NotFound; Refused; what `grow` raises; Conflict when others always came first.
    """
    began = lake.branches.fresh(repository, name)
    require_allowed(began.repository, name, action, force=lake.force)
    seal(lake, repository, name)  # rows that change nothing would undo what comes (see advance)
    for _ in range(ATTEMPTS):
        stored = lake.branches.fresh(repository, name)
        require_allowed(stored.repository, name, action, force=lake.force)
        sealed = stored.record.sealed_tokens
        tree, current = build(lake, repository, name, stored, sealed)
        if tree is None or current.record.sealed_tokens != sealed:  # all of them must go
            continue
        require_allowed(current.repository, name, action, force=lake.force)
        chain = Chain(lake, repository, current)
        if tree.id != chain.tip.head.meta_range_id:
            chain.carry(tree.id)
        growing = _OnBranch(chain)
        grow(growing)
        if not growing.added or chain.publish(sealed, ()):
            return
    raise Conflict(f"branch {name!r} was changed by others {ATTEMPTS} times; try again")


def begin(
    lake: Lake,
    repository: Repository,
    name: BranchName,
    parent: Commit | None,
    action: Action,
    grow: Grow,
) -> None:
    """Make a branch of what `grow` adds behind a published commit, or behind nothing.

    Raises: NotUnique when there is such a branch; AlreadyExists for a tag of its name; Refused.
    """
    _require_allowed(lake, repository, name, action)
    growing = _NewBranch(lake, repository, name, parent)
    grow(growing)
    if not growing.made:
        return
    _require_allowed(lake, repository, name, action)  # `grow` may have taken long
    records = {COMMITS + made.id.encode(): encode_commit(made) for made in growing.made}
    set_many(lake.store, partition_of(repository), records)
    create_branch(lake.tables(repository), growing.branch)
    with suppress(LochanError):  # they are published, whatever becomes of their rows
        ClockIndex.of(lake.store, repository).place(*growing.made)


def _require_allowed(lake: Lake, repository: Repository, name: BranchName, action: Action) -> None:
    """Refuse what the repository forbids on a branch that is not there yet. Raises Refused."""
    current = lake.branches.fresh_repository(repository)
    require_allowed(current, name, action, force=lake.force)


class _OnBranch:
    """Commits on the head of a branch."""

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self.added = False

    @property
    def head(self) -> Commit | None:
        return self._chain.tip.head

    @property
    def clocks(self) -> tuple[Clock, ...]:
        return self._chain.tip.clocks

    @property
    def kinship(self) -> Kinship:
        return self._chain.tip.kinship

    def add(self, tree: MetaRangeId, said: Said) -> Commit:
        self.added = True
        return self._chain.add(Candidate(tree), said)


class _NewBranch:
    """The first commits of a branch that is not there yet."""

    def __init__(
        self, lake: Lake, repository: Repository, name: BranchName, parent: Commit | None
    ) -> None:
        unique_id = lake.environment.new_id()
        self.branch = Branch(
            branch_id=name,
            commit_id=CommitId(""),
            staging_token=new_staging_token(repository.repository_id, name, unique_id),
            resets=first_resets(unique_id),
        )
        self.head = parent
        self.made: list[Commit] = []
        self.kinship = Kinship.of(lake.store, repository)
        self._lineage = LineageId(lake.environment.new_id())

    @property
    def clocks(self) -> tuple[Clock, ...]:
        return self._next.clocks

    @property
    def _next(self) -> NextClock:
        return next_clock(self.head, self.branch, self._lineage)

    def add(self, tree: MetaRangeId, said: Said) -> Commit:
        position = self._next
        made = said_commit(said, tree, position.clocks, (self.head,) if self.head else ())
        self.head = made
        self.branch = msgspec.structs.replace(
            self.branch,
            commit_id=made.id,
            lineage=position.lineage,
            ordinals=position.ordinals,
        )
        self.made.append(made)
        return made
