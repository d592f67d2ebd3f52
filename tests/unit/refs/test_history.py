# SPDX-License-Identifier: Apache-2.0
"""History that came without clocks gets them, and answers all questions about kinship by them."""

import msgspec
import pytest
from hypothesis import given

from lochan.errors import Corruption
from lochan.model.commit_id import commit_id
from lochan.model.ids import CommitId, LineageId
from lochan.model.records import Clock, Commit
from lochan.refs.derived import derived_rows
from lochan.refs.history import NOBODY, History
from support.clock_world import World, check
from support.histories import ENVIRONMENT, REPOSITORY, Shape, commit_of, new_tables, shapes
from support.histories import store_history as stored


def imported(shape: Shape) -> list[Commit]:
    """Make commits as lakeFS has them: version 1, no clocks, no generation."""
    made: list[Commit] = []
    for commit, (parents, _) in zip(stored(new_tables(), shape), shape, strict=True):
        bare = msgspec.structs.replace(
            commit, version=1, generation=0, parents=tuple(made[place].id for place in parents)
        )
        made.append(msgspec.structs.replace(bare, id=commit_id(bare)))
    return made


def history_of(commits: list[Commit]) -> History:
    history = History()
    for commit in sorted(commits, key=lambda commit: commit.id):
        history.add(commit)
    history.complete()
    return history


@given(shapes())
def test_filled_in_clocks_answer_as_the_graph_does(shape: Shape) -> None:
    commits = imported(shape)
    history = history_of(commits)
    world = World()
    filled = [history.commit(history.number(commit.id)) for commit in commits]
    for commit in filled:
        world.tables.commits.set(commit.id.encode(), commit)
    marked = bytearray(b"\1") * len(history)
    for key, value in derived_rows(history, marked, REPOSITORY, ENVIRONMENT):
        world.store.set(world.reach.partition, key, value)
    assert [commit.generation for commit in filled] == generations(shape)
    assert history.places(marked)[1] == []
    check(world, filled)


def generations(shape: Shape) -> list[int]:
    counted: list[int] = []
    for parents, _ in shape:
        counted.append(1 + max((counted[parent] for parent in parents), default=0))
    return counted


def test_the_first_child_by_date_goes_on_with_the_line() -> None:
    root, late, early, tip = imported([((), 0), ((0,), 5), ((0,), 3), ((2,), 9)])
    history = history_of([root, late, early, tip])
    line, fork = LineageId(root.id[:32]), LineageId(late.id[:32])

    def clocks(commit: Commit) -> tuple[Clock, ...]:
        return history.clocks(history.number(commit.id))

    assert clocks(tip) == (Clock(line, 2),)
    assert clocks(early) == (Clock(line, 1),)
    assert clocks(late) == (Clock(line, 0), Clock(fork, 0))


def test_a_line_that_has_its_clocks_is_not_gone_on_with() -> None:
    owned = commit_of("owned", clocks=(Clock(LineageId("L"), 0),))
    child = commit_of("child", [owned])
    history = history_of([owned, child])

    assert history.clocks(history.number(child.id))[0] == Clock(LineageId("L"), 0)
    assert history.clocks(history.number(child.id))[1].commit == 0


def test_the_same_history_gets_the_same_clocks_in_any_order() -> None:
    commits = imported([((), 0), ((0,), 1), ((0,), 1), ((1, 2), 2), ((3,), 2)])
    history, other = history_of(commits), History()
    for commit in commits:
        other.add(commit)
    other.complete()
    for commit in commits:
        assert other.commit(other.number(commit.id)) == history.commit(history.number(commit.id))


def test_holes_and_circles_are_told() -> None:
    child = commit_of("child", [commit_of("parent")])
    history = History()
    history.add(child)
    history.complete()
    assert history.missing == [(child.id, child.parents[0])]
    assert history.number(child.parents[0]) == NOBODY

    one = msgspec.structs.replace(child, id=CommitId("1"), parents=(CommitId("2"),))
    two = msgspec.structs.replace(child, id=CommitId("2"), parents=(CommitId("1"),))
    with pytest.raises(Corruption, match="its own ancestors"):
        history_of([one, two])
