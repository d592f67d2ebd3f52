# SPDX-License-Identifier: Apache-2.0
"""What kinship costs: reads counted in histories of thousands of commits, hundreds of merges."""

from collections.abc import Callable
from functools import cache

import pytest

from lochan.model.records import Clock, Commit
from support.clock_world import Counting, Model, World, check

LIMIT = 20
LENGTH = 3000


def grown(length: int) -> World:
    """A long main; each tenth commit merges a short branch of its own."""
    world = World()
    world.create("main")
    for number in range(length):
        if number % 10 == 9:
            name = f"short{number}"
            world.create(name, world.head("main"))
            world.commit("main", world.commit(name))
            world.delete(name)
        else:
            world.commit("main")
    return world


def fork(world: World, source: str, *names: str) -> None:
    for name in names:
        world.create(name, world.head(source))
        world.commit(name)


def often_merged_from_main(world: World) -> None:
    fork(world, "main", "feature")
    for _ in range(100):
        world.commit("main")
        world.commit("feature", world.head("main"))
        world.commit("feature")
    world.commit("main")


def three_others_on_both_sides(world: World) -> None:
    fork(world, "main", "feature", "p", "q", "r")
    for _ in range(30):
        for name in ("p", "q", "r"):
            world.commit(name)
            world.commit("feature", world.head(name))
            world.commit(name)
            world.commit("main", world.head(name))


def criss_cross(world: World) -> None:
    fork(world, "main", "feature", "p")
    for _ in range(30):
        ours, theirs = world.commit("main"), world.commit("feature")
        world.commit("main", theirs)
        world.commit("feature", ours)
        world.commit("main", world.head("p"))
        world.commit("feature", world.commit("p"))


def forks_of_forks(world: World) -> None:
    fork(world, "main", "one")
    for source, name in (("one", "two"), ("two", "three"), ("three", "feature")):
        fork(world, source, name)
    for _ in range(30):
        world.commit("feature", world.commit("one"))
        world.commit("main", world.commit("two"))


def strangers_to_merges(world: World) -> None:
    fork(world, "main", "feature")
    for _ in range(50):
        world.commit("feature")
        world.commit("main")


SCENES = [
    often_merged_from_main,
    three_others_on_both_sides,
    criss_cross,
    forks_of_forks,
    strangers_to_merges,
]


@cache
def histories(length: int) -> dict[str, World]:
    made = {}
    for scene in SCENES:
        world = grown(length)
        scene(world)
        made[scene.__name__] = world
    return made


def reads(world: World, ask: Callable[[World, Commit, Commit], object]) -> int:
    """Count the reads of one question, those of the two commits included."""
    counting = Counting(world.store)
    asking = World(counting)
    commits = [
        asking.tables.commits.get(world.branch(name).commit_id.encode()).record
        for name in ("main", "feature")
    ]
    ask(asking, commits[0], commits[1])
    return counting.reads


def merged_long_ago(world: World, one: Commit, other: Commit) -> None:
    """Ask about the first short branch; finding it costs three reads more."""
    merge = world.clocks.commit(Clock(one.clocks[0].branch, 9))
    early = world.tables.commits.get(merge.parents[1].encode()).record
    assert world.kin.is_ancestor(early, other)


QUESTIONS: dict[str, Callable[[World, Commit, Commit], object]] = {
    "merge base": lambda world, one, other: world.kin.merge_base(one, other),
    "ancestor": lambda world, one, other: world.kin.is_ancestor(one, other),
    "descendant": lambda world, one, other: world.kin.is_ancestor(other, one),
    "merged long ago": merged_long_ago,
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_a_question_takes_at_most_twenty_reads_however_long_the_history(
    scene: Callable[[World], None], question: str
) -> None:
    long, short = (
        reads(histories(length)[scene.__name__], QUESTIONS[question]) for length in (LENGTH, 100)
    )
    print(f"{scene.__name__}: {question}: {long} reads")
    assert 2 <= long <= LIMIT
    assert long == short


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_answers_in_a_long_history_are_those_of_the_model(scene: Callable[[World], None]) -> None:
    world = histories(100)[scene.__name__]
    found = {commit.id: commit for _, commit in world.tables.commits.scan()}
    commits = sorted(found.values(), key=lambda commit: commit.generation)
    at = {commit.id: number for number, commit in enumerate(commits)}
    main, feature = at[world.head("main").id], at[world.head("feature").id]
    picks = [(main, feature), *((main, n) for n in range(0, len(commits), 17))]
    check(world, commits, pairs=picks)
    assert Model(commits).best_common(main, feature)


def many_lines(count: int, rounds: int) -> World:
    world = grown(50)
    fork(world, "main", "feature", *(f"n{number}" for number in range(count)))
    for _ in range(rounds):
        for number in range(count):
            world.commit("feature", world.commit(f"n{number}"))
    world.commit("main")
    return world


def test_more_lines_cost_a_read_for_some_of_them_and_none_for_more_merges() -> None:
    few, once, often, oftener = (
        reads(many_lines(count, rounds), QUESTIONS["merge base"])
        for count, rounds in ((20, 1), (160, 1), (40, 2), (40, 12))
    )
    print(
        f"20 lines: {few} reads, 160: {once}; 40, merged 2 times each {often}, 12 times {oftener}"
    )
    assert few < once <= few + 140 / 10  # a row names about seventeen lines
    assert often == oftener <= once


def test_ahead_and_behind_are_counted_without_reading_commits() -> None:
    world = histories(LENGTH)["three_others_on_both_sides"]
    counting = Counting(world.store)
    one, other = world.head("main"), world.head("feature")
    counted = World(counting).kin.ahead_behind(one, other)
    # 90 merges each; main also has the last commits of p, q and r, feature its own first commit.
    assert counted == (90 + 3, 90 + 1)
    assert counting.reads < 40
    assert not [key for key in counting.keys if key.startswith(b"commits/")]
