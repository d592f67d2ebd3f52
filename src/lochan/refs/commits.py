# SPDX-License-Identifier: Apache-2.0
"""Commits: records that never change, under the hash of what they say.

Storing one again stores the same bytes, so a plain set is enough and may be repeated after a lost
answer. A commit is part of history once a branch or a tag leads to it. Attempts that lost their
race or their process leave records to which nothing leads; they are found by their whole id alone,
never by a listing of history (`log`, `ancestry`) or by the beginning of their id (`resolve`). The
iterators below give every record, those too: collection needs them.
"""

from collections.abc import Iterator

from lochan.errors import NotFound
from lochan.model.ids import CommitId
from lochan.model.records import Commit
from lochan.refs.seek import scan_from
from lochan.refs.tables import RepositoryTables

# Merges of lakeFS's first version list the destination last; since then it comes first.
_PARENTS_SWITCHED = 1


def add_commit(tables: RepositoryTables, commit: Commit) -> CommitId:
    """Store a commit and give its id. Idempotent. Raises: Unavailable, UnknownOutcome."""
    tables.commits.set(commit.id.encode(), commit)
    return commit.id


def get_commit(tables: RepositoryTables, commit_id: CommitId) -> Commit:
    """Read a commit by its whole id. Raises NotFound."""
    found = tables.commits.find(commit_id.encode())
    if found is None:
        raise NotFound(f"there is no commit {commit_id}", code="commit-not-found", commit=commit_id)
    return found.record


def list_commits(tables: RepositoryTables, start: str = "") -> Iterator[Commit]:
    """Give every commit record whose id is `start` or greater, by id."""
    for _, commit in scan_from(tables.commits, start):
        yield commit


def list_ancestry_leaves(tables: RepositoryTables, start: str = "") -> Iterator[Commit]:
    """Give the commits that are no commit's first parent, from id `start` on, by id.

    The first pass collects the first parents of all commits, since the child of a commit may have
    any id; the second gives the rest. A commit stored between the two is given, and so may be its
    parent.
    """
    parents = {main_parent(commit) for commit in list_commits(tables)}
    for commit in list_commits(tables, start):
        if commit.id not in parents:
            yield commit


def main_parent(commit: Commit) -> CommitId | None:
    """Give the parent on the branch that the commit was made on, or None for a first commit."""
    if not commit.parents:
        return None
    return commit.parents[-1 if commit.version < _PARENTS_SWITCHED else 0]
