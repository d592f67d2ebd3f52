# SPDX-License-Identifier: Apache-2.0
"""Random histories: merges, resets, branches made again, rows lost by crashes; no wrong answer."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lochan.model.records import Commit
from support.clock_world import World, act, check

BRANCHES = ["a", "b", "c", "d"]

kinds = st.sampled_from(
    ["commit", "commit", "unplaced", "merge", "merge", "merge", "reset", "recreate", "fork"]
)
actions = st.lists(st.tuples(kinds, st.integers(0, 3), st.integers(0, 10**6)), max_size=30)


def built(steps: list[tuple[str, int, int]]) -> tuple[World, list[Commit]]:
    world = World()
    world.create("a")
    commits = [world.commit("a")]
    for kind, branch, chosen in steps:
        act(world, commits, kind, BRANCHES[branch], chosen)
    return world, commits


@settings(max_examples=150, deadline=None)
@given(actions)
def test_pach_C10_rel_P1_every_answer_agrees_with_sets_of_ancestors(
    steps: list[tuple[str, int, int]],
) -> None:
    world, commits = built(steps)
    check(world, commits)


@settings(max_examples=40, deadline=None)
@given(actions)
def test_pach_C11_no_two_commits_have_the_same_place(steps: list[tuple[str, int, int]]) -> None:
    _, commits = built(steps)
    assert len({commit.clocks[-1] for commit in commits}) == len(commits)


@settings(max_examples=40, deadline=None)
@given(actions)
def test_all_rows_are_rebuilt_from_the_commits(steps: list[tuple[str, int, int]]) -> None:
    world, commits = built(steps)
    partition = world.reach.partition
    rows = {k: v for k, v in world.store.scan(partition) if k.startswith((b"reach/", b"merged/"))}
    for key in [key for key, _ in world.store.scan(partition)]:
        if key.startswith((b"reach/", b"merged/", b"clock/")):
            world.store.delete(partition, key)
    world.reach.rebuild(commits)
    again = {k: v for k, v in world.store.scan(partition) if k.startswith((b"reach/", b"merged/"))}
    assert again == rows
    check(world, commits, pairs=[(len(commits) - 1, n) for n in range(len(commits))])
