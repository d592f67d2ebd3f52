# SPDX-License-Identifier: Apache-2.0
"""Kinship by example: the seed's graph made by the protocol, criss-cross, history, damaged rows."""

from itertools import pairwise

import pytest

from lochan.errors import Corruption, InvalidInput, NotFound
from lochan.model.clock import Span, clock_of
from lochan.model.records import Commit
from support.clock_world import Counting, World, check


def seed_graph() -> tuple[World, dict[str, Commit]]:
    """Seed 002's graph, with its fourth commit of foo read as (foo, 3)."""
    world = World()
    world.create("foo")
    made = {"foo/0": world.commit("foo")}
    for name, at in (("bar", "foo/0"), ("buzz", "bar/1")):
        made |= {f"foo/{n}": world.commit("foo") for n in range(len(made), 4)}
        world.create(name, made[at])
        made |= {f"{name}/{n}": world.commit(name) for n in range(3 if name == "bar" else 1)}
    return world, made


def test_pach_C4_the_seeds_graph_is_numbered_as_the_seed_writes_it() -> None:
    world, made = seed_graph()
    assert [len(commit.clocks) for commit in made.values()] == [1, 1, 1, 1, 2, 2, 2, 3]
    for text, commit in made.items():
        name, number = text.split("/")
        assert clock_of(world.branch(name).ordinals, int(number)) == commit.clocks[-1]


def test_pach_C9_the_seeds_graph_has_the_seeds_ancestors() -> None:
    world, made = seed_graph()
    check(world, list(made.values()))
    assert not world.kin.is_ancestor(made["foo/1"], made["bar/2"])
    assert not world.kin.is_ancestor(made["bar/2"], made["buzz/0"])


def test_pach_H1_pach_H2_history_needs_no_reads_where_nothing_was_merged_but_seeks() -> None:
    world, made = seed_graph()
    counting = Counting(world.store)
    spans = World(counting).kin.history(made["foo/3"], made["foo/1"])
    assert spans == (Span(made["foo/0"].clocks[0].branch, 2, 3),)
    assert not [key for key in counting.keys if key.startswith((b"commits/", b"clock/"))]
    assert list(world.kin.ids(spans)) == [made["foo/2"].id, made["foo/3"].id]


def test_pach_H3_pach_H4_without_from_history_is_everything_parents_first() -> None:
    world, made = seed_graph()
    listed = list(world.kin.ids(world.kin.history(made["buzz/0"])))
    assert listed == [made[name].id for name in ("foo/0", "bar/0", "bar/1", "buzz/0")]


def test_pach_H5_from_beside_to_is_a_difference_and_strictly_refused() -> None:
    world, made = seed_graph()
    spans = world.kin.history(made["buzz/0"], made["foo/3"])
    assert {*world.kin.ids(spans)} == {made[name].id for name in ("bar/0", "bar/1", "buzz/0")}
    with pytest.raises(InvalidInput, match="no ancestor"):
        world.kin.history(made["buzz/0"], made["foo/3"], strict=True)
    assert world.kin.history(made["buzz/0"], made["bar/0"], strict=True)


def test_pach_H6_from_at_or_after_to_gives_nothing() -> None:
    world, made = seed_graph()
    assert world.kin.history(made["bar/1"], made["bar/1"]) == ()
    assert world.kin.history(made["bar/1"], made["buzz/0"]) == ()


def criss_cross() -> tuple[World, list[Commit]]:
    world = World()
    world.create("main")
    commits = [world.commit("main")]
    world.create("side", commits[0])
    ours, theirs = world.commit("main"), world.commit("side")
    return world, [*commits, ours, theirs, world.commit("main", theirs), world.commit("side", ours)]


def test_a_criss_cross_has_two_best_bases_and_gives_the_same_one_from_both_sides() -> None:
    world, commits = criss_cross()
    _, ours, theirs, main, side = commits
    assert world.kin.merge_base(main, side) in (ours, theirs)
    assert world.kin.merge_base(main, side) == world.kin.merge_base(side, main)
    check(world, commits)


def test_strangers_have_no_merge_base_until_one_is_merged() -> None:
    world = World()
    world.create("one")
    world.create("other")
    first, second = world.commit("one"), world.commit("other")
    assert world.kin.merge_base(first, second) is None
    merge = world.commit("one", second)
    assert world.kin.merge_base(merge, second) == second
    check(world, [first, second, merge])


def test_a_branch_made_again_under_its_old_name_begins_a_new_line() -> None:
    world, made = seed_graph()
    world.delete("bar")
    world.create("bar", made["foo/3"])
    again = world.commit("bar")
    assert again.clocks[:-1] == made["foo/3"].clocks
    assert again.clocks[-1].branch != made["bar/0"].clocks[-1].branch
    assert not world.kin.is_ancestor(made["bar/0"], again)


def test_squashed_content_brings_no_history() -> None:
    world, made = seed_graph()
    squash = world.commit("foo", message="the content of bar")
    assert not world.kin.is_ancestor(made["bar/0"], squash)
    assert world.kin.merge_base(squash, made["bar/2"]) == made["foo/0"]


def test_a_scan_of_places_fills_gaps_at_every_position() -> None:
    for missing in range(6):
        world = World()
        world.create("main")
        commits = [world.commit("main", place=number != missing) for number in range(6)]
        span = Span(commits[0].clocks[0].branch, 1, 5)
        assert list(world.clocks.ids(span)) == [commit.id for commit in commits[1:]]


def test_a_scan_of_places_does_not_stray_to_another_line() -> None:
    world, made = seed_graph()
    for earlier, later in pairwise(made.values()):
        span = Span(*earlier.clocks[-1], earlier.clocks[-1].commit)
        assert later.id not in list(world.clocks.ids(span))
    beyond = Span(made["buzz/0"].clocks[-1].branch, 0, 1)
    with pytest.raises(NotFound):
        list(world.clocks.ids(beyond))


def test_a_list_that_leads_nowhere_is_corruption_and_a_rebuild_mends_it() -> None:
    world = World()
    world.create("main")
    commits = [world.commit("main")]
    for number in range(20):
        world.create(f"b{number}", commits[0])
        commits.append(world.commit(f"b{number}"))
        commits.append(world.commit("main", commits[-1]))
    rows = [key for key, _ in world.store.scan(world.reach.partition) if key[:7] == b"merged/"]
    for key in rows[1:]:
        world.store.delete(world.reach.partition, key)
    with pytest.raises(Corruption, match="rebuild"):
        world.kin.history(commits[-1])
    assert world.reach.rebuild([commits[-1]]) == 20
    check(world, commits, pairs=[(n, len(commits) - 1) for n in range(len(commits))])
