# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.errors import NotFound
from lochan.kv.faulty import Faulty, no_faults
from lochan.model.ids import CommitId
from lochan.model.records import Commit
from lochan.refs.ancestry import ancestry
from support.histories import (
    ENVIRONMENT,
    Shape,
    assert_every_failure_is_raised,
    ids,
    new_tables,
    shapes,
    store_history,
    tables_of,
)
from support.tree_strategies import examples


def depths(commits: list[Commit], head: Commit) -> dict[CommitId, int]:
    """The least number of steps from the head, found by relaxing until nothing changes."""
    found = {head.id: 0}
    for _ in commits:
        for commit in commits:
            for parent in commit.parents if commit.id in found else ():
                found[parent] = min(found.get(parent, len(commits)), found[commit.id] + 1)
    return found


@given(shapes(), st.data())
@examples(80)
def test_ancestry_is_breadth_first_and_gives_each_commit_once(
    shape: Shape, data: st.DataObject
) -> None:
    tables = new_tables()
    commits = store_history(tables, shape)
    head = data.draw(st.sampled_from(commits))
    given_ids = ids(ancestry(tables, head.id))
    expected = depths(commits, head)
    assert len(given_ids) == len(expected)
    assert set(given_ids) == set(expected)
    assert [expected[name] for name in given_ids] == sorted(expected.values())


@given(shapes(), st.data())
@examples(40)
def test_ancestry_is_sought_by_a_commit_in_it(shape: Shape, data: st.DataObject) -> None:
    tables = new_tables()
    head = store_history(tables, shape)[-1]
    everything = ids(ancestry(tables, head.id))
    place = data.draw(st.integers(0, len(everything) - 1))
    assert ids(ancestry(tables, head.id, everything[place])) == everything[place:]


def test_parents_come_in_their_order() -> None:
    tables = new_tables()
    a, b, c, d = store_history(tables, [((), 9), ((0,), 1), ((0,), 5), ((1, 2), 0)])
    assert ids(ancestry(tables, d.id)) == [d.id, b.id, c.id, a.id]


def test_seeking_a_commit_that_is_no_ancestor_is_not_an_empty_answer() -> None:
    tables = new_tables()
    a, b = store_history(tables, [((), 0), ((), 1)])
    with pytest.raises(NotFound):
        list(ancestry(tables, a.id, b.id))


def test_ancestry_costs_one_get_for_each_commit() -> None:
    tables = new_tables()
    commits = store_history(tables, [((), 0), ((0,), 1), ((0,), 2), ((1, 2), 3)])
    counted = Faulty(tables.commits.store, no_faults, ENVIRONMENT)
    list(ancestry(tables_of(counted), commits[-1].id))
    assert counted.calls == len(commits)


def test_rel_H9_a_failing_read_or_a_missing_parent_is_never_the_end_of_history() -> None:
    tables = new_tables()
    a, _, c = store_history(tables, [((), 0), ((0,), 1), ((1,), 2)])
    assert_every_failure_is_raised(tables, lambda broken: list(ancestry(broken, c.id)))
    tables.commits.delete(a.id.encode())
    with pytest.raises(NotFound):
        list(ancestry(tables, c.id))
