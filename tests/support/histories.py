# SPDX-License-Identifier: Apache-2.0
"""Small histories for tests of refs: commits made by hand or at random, and a store that fails."""

from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import strategies as st

from lochan.environment import RealEnvironment
from lochan.errors import Unavailable
from lochan.faults import Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Faulty, Plan, fail_nth, no_faults
from lochan.kv.store import Store
from lochan.model.commit_id import new_commit
from lochan.model.ids import (
    EMPTY_TREE,
    BranchName,
    CommitId,
    RepositoryId,
    StagingToken,
    StorageNamespace,
    TagName,
    UniqueIdentifier,
)
from lochan.model.instant import EPOCH, Instant
from lochan.model.records import Branch, Clock, Commit, Repository, Tag
from lochan.refs.commits import add_commit
from lochan.refs.tables import RepositoryTables

ENVIRONMENT = RealEnvironment()
REPOSITORY = Repository(
    repository_id=RepositoryId("lake"),
    storage_namespace=StorageNamespace("local://lake"),
    default_branch=BranchName("main"),
    creation_date=EPOCH,
    unique_identifier=UniqueIdentifier("0123456789"),
)

# A random history: for each commit the places of its parents among the earlier ones, and its date.
Shape = list[tuple[tuple[int, ...], int]]


def tables_of(store: Store) -> RepositoryTables:
    """Bind the tables of the one repository of these tests."""
    return RepositoryTables.of(store, REPOSITORY)


def new_tables() -> RepositoryTables:
    """Give the tables of an empty repository."""
    return tables_of(MemoryStore(ENVIRONMENT))


def faulty(tables: RepositoryTables, plan: Plan) -> RepositoryTables:
    """Look at the same records through a store that fails."""
    return tables_of(Faulty(tables.branches.store, plan, ENVIRONMENT))


def commit_of(
    message: str,
    parents: Sequence[Commit] = (),
    date: int = 0,
    clocks: tuple[Clock, ...] = (),
) -> Commit:
    """Make a commit of the empty tree, not stored."""
    return new_commit(
        committer="somebody",
        message=message,
        creation_date=Instant(date),
        meta_range_id=EMPTY_TREE,
        clocks=clocks,
        parents=tuple(parent.id for parent in parents),
        generation=1 + max((parent.generation for parent in parents), default=0),
    )


def branch_of(
    name: str, commit: Commit | str = "", token: str = "", *, hidden: bool = False
) -> Branch:
    """Make the first record of a branch."""
    return Branch(
        branch_id=BranchName(name),
        commit_id=commit.id if isinstance(commit, Commit) else CommitId(commit),
        staging_token=StagingToken(token or f"lake-{name}:1"),
        hidden=hidden,
    )


def put_branch(tables: RepositoryTables, name: str, commit: Commit) -> Branch:
    """Put a branch on a commit, whatever was there."""
    branch = branch_of(name, commit)
    tables.branches.set(name.encode(), branch)
    return branch


def put_tag(tables: RepositoryTables, name: str, commit: Commit) -> Tag:
    """Put a tag on a commit, whatever was there."""
    tag = Tag(tag_id=TagName(name), commit_id=commit.id)
    tables.tags.set(name.encode(), tag)
    return tag


@st.composite
def shapes(draw: st.DrawFn, max_size: int = 12) -> Shape:
    """Draw a history: parents come before children, dates are equal or wrong at times."""
    shape: Shape = []
    for place in range(draw(st.integers(1, max_size))):
        earlier = st.integers(0, place - 1) if place else st.nothing()
        parents = draw(st.lists(earlier, max_size=3, unique=True)) if place else []
        shape.append((tuple(parents), draw(st.integers(0, 5))))
    return shape


def store_history(tables: RepositoryTables, shape: Shape) -> list[Commit]:
    """Store the commits of a shape, and give them in its order."""
    commits: list[Commit] = []
    for place, (parents, date) in enumerate(shape):
        commit = commit_of(f"commit {place}", [commits[parent] for parent in parents], date)
        add_commit(tables, commit)
        commits.append(commit)
    return commits


def ids(commits: Sequence[Commit] | Iterator[Commit]) -> list[CommitId]:
    """Name commits."""
    return [commit.id for commit in commits]


def assert_every_failure_is_raised(
    tables: RepositoryTables, work: Callable[[RepositoryTables], object]
) -> None:
    """Fail each call to the store in turn, rows and ends of scans too: all must be heard of."""
    work(tables)  # what is filled in on the way is there from now on
    unharmed = Faulty(tables.branches.store, no_faults, ENVIRONMENT)
    work(tables_of(unharmed))
    assert unharmed.calls
    for number in range(1, unharmed.calls + 1):
        with pytest.raises(Unavailable):
            work(faulty(tables, fail_nth(number, Fault.ERROR)))
