# SPDX-License-Identifier: Apache-2.0
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.errors import NotFound, UnknownOutcome
from lochan.faults import Fault
from lochan.kv.faulty import fail_nth
from lochan.model.ids import CommitId
from lochan.refs.commits import add_commit, get_commit, list_ancestry_leaves, list_commits
from lochan.refs.seek import following
from support.histories import (
    Shape,
    assert_every_failure_is_raised,
    commit_of,
    faulty,
    ids,
    new_tables,
    shapes,
    store_history,
)
from support.tree_strategies import examples


def test_a_commit_is_read_back_by_its_id() -> None:
    tables, commit = new_tables(), commit_of("a")
    assert add_commit(tables, commit) == commit.id
    assert get_commit(tables, commit.id) == commit


def test_a_commit_that_is_not_there_is_not_found() -> None:
    with pytest.raises(NotFound) as missing:
        get_commit(new_tables(), CommitId("0" * 64))
    assert missing.value.code == "commit-not-found"


def test_a_commit_may_be_added_again_after_a_lost_answer() -> None:
    tables, commit = new_tables(), commit_of("a")
    with pytest.raises(UnknownOutcome):
        add_commit(faulty(tables, fail_nth(1, Fault.LOST_RESPONSE)), commit)
    add_commit(tables, commit)
    assert ids(list_commits(tables)) == [commit.id]


@given(shapes(), st.text("0123456789abcdefg", max_size=3))
@examples(60)
def test_commits_are_listed_and_sought_by_id(shape: Shape, start: str) -> None:
    tables = new_tables()
    everything = sorted(ids(store_history(tables, shape)))
    assert ids(list_commits(tables)) == everything
    assert ids(list_commits(tables, start)) == [name for name in everything if name >= start]
    assert ids(list_commits(tables, following(everything[0]))) == everything[1:]


@given(shapes(), st.text("0123456789abcdefg", max_size=3))
@examples(60)
def test_ancestry_leaves_are_the_commits_that_are_nobodys_first_parent(
    shape: Shape, start: str
) -> None:
    tables = new_tables()
    commits = store_history(tables, shape)
    parents = {commit.parents[0] for commit in commits if commit.parents}
    leaves = sorted(commit.id for commit in commits if commit.id not in parents)
    assert ids(list_ancestry_leaves(tables)) == leaves
    assert ids(list_ancestry_leaves(tables, start)) == [name for name in leaves if name >= start]


def test_the_first_parent_of_lakefs_first_merges_is_listed_last() -> None:
    tables = new_tables()
    source, destination = commit_of("source"), commit_of("destination")
    merge = msgspec.structs.replace(commit_of("merge", [source, destination]), version=0)
    for commit in (source, destination, merge):
        add_commit(tables, commit)
    assert set(ids(list_ancestry_leaves(tables))) == {source.id, merge.id}


def test_rel_H9_a_failing_scan_of_commits_is_never_its_end() -> None:
    tables = new_tables()
    store_history(tables, [((), 0), ((0,), 1), ((0, 1), 2)])
    assert_every_failure_is_raised(tables, lambda broken: list(list_commits(broken)))
    assert_every_failure_is_raised(tables, lambda broken: list(list_ancestry_leaves(broken)))
