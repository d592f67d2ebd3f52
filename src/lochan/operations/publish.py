# SPDX-License-Identifier: Apache-2.0
"""The last step of everything that moves a branch by a new commit: record, notes, compare-and-swap.

The commit's parent is the head that the compare-and-swap expects, so a lost one makes the record
anew (H6). The cleaner's notes about tokens that are to go are written before (H10): after a crash
in between, the cleaner finds the tokens still named by the branch and leaves them alone.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

import msgspec

from lochan.errors import LochanError, PredicateFailed, UnknownOutcome
from lochan.kv.table import Stored, Table
from lochan.model.clock import next_clock
from lochan.model.commit_id import new_commit
from lochan.model.ids import CommitId, LineageId, MetaRangeId
from lochan.model.instant import Instant
from lochan.model.records import Branch, Commit, Repository
from lochan.operations.lake import Lake
from lochan.refs.clock_index import ClockIndex
from lochan.refs.notes import note_tokens
from lochan.refs.reach import ReachIndex
from lochan.staging.sealed import Tokens


@dataclass(frozen=True, slots=True)
class Said:
    """What goes into a commit record besides the tree and its place in history."""

    committer: str
    message: str
    metadata: Mapping[str, str]
    creation_date: Instant


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tree that is to become the head, the tokens that it holds, and those that stay sealed.

    `source` is what a merge brings besides the head: its second parent.
    """

    tree: MetaRangeId
    tokens: Tokens
    newer: Tokens
    source: Commit | None = None


def publish(
    lake: Lake, repository: Repository, stored: Stored[Branch], candidate: Candidate, said: Said
) -> Commit | None:
    """Move a branch to a new commit of a tree; None when the branch changed since it was read."""
    tables, branch = lake.tables(repository), stored.record
    head = tables.commits.get(branch.commit_id.encode()).record
    position = next_clock(head, branch, LineageId(lake.environment.new_id()))
    parents = (head,) if candidate.source is None else (head, candidate.source)
    made = new_commit(
        committer=said.committer,
        message=said.message,
        creation_date=said.creation_date,
        meta_range_id=candidate.tree,
        clocks=position.clocks,
        metadata=said.metadata,
        parents=tuple(parent.id for parent in parents),
        generation=1 + max(parent.generation for parent in parents),
    )
    tables.commits.set(made.id.encode(), made)
    reach = ReachIndex.of(lake.store, repository)
    if candidate.source is not None:
        reach.write(made)
    moved = msgspec.structs.replace(
        branch,
        commit_id=made.id,
        sealed_tokens=candidate.newer,
        lineage=position.lineage,
        ordinals=position.ordinals,
        compacted_base_meta_range_id=MetaRangeId(""),
    )
    if swap(lake, repository, stored, moved, candidate.tokens):
        _index(lake, repository, made)
        return made
    if candidate.source is not None:
        reach.forget(made, lake.branches.fresh(repository, branch.branch_id).record)
    return None


def _index(lake: Lake, repository: Repository, made: Commit) -> None:
    """Put a published commit into the clock index; who misses it there finds it by walking."""
    with suppress(LochanError):  # the commit is published, whatever becomes of its row
        ClockIndex.of(lake.store, repository).place(made)


def swap(
    lake: Lake, repository: Repository, stored: Stored[Branch], moved: Branch, gone: Tokens
) -> bool:
    """Replace a branch record by one that no longer names some tokens; False if it had changed."""
    tables, name = lake.tables(repository), moved.branch_id
    note_tokens(lake.store, lake.environment, repository, name, gone)
    try:
        tables.branches.set_if(name.encode(), moved, stored.predicate)
    except PredicateFailed:
        return False
    except UnknownOutcome:
        return _landed(lake, repository, stored.record, moved)
    return True


def _landed(lake: Lake, repository: Repository, before: Branch, moved: Branch) -> bool:
    """Find out whether a swap of unknown outcome took effect (H15): it did or it never will."""
    current = lake.branches.fresh(repository, moved.branch_id).record
    if current == moved:
        return True
    if moved.commit_id == before.commit_id:
        return False
    commits = lake.tables(repository).commits
    return _is_first_parent(commits, moved.commit_id, current.commit_id)


def _is_first_parent(commits: Table[Commit], wanted: CommitId, head: CommitId) -> bool:
    """Walk first parents from the head down to the generation of the commit that is looked for."""
    lowest = commits.get(wanted.encode()).record.generation
    found = commits.get(head.encode()).record
    while found.generation > lowest and found.parents:
        found = commits.get(found.parents[0].encode()).record
    return found.id == wanted
