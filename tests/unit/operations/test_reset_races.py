# SPDX-License-Identifier: Apache-2.0
"""Resets beside commits and writes: one comes first, in every order of calls that can matter."""

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from lochan.faults import Fault
from lochan.kv.faulty import Call, Faulty
from lochan.model.keys import GRAVELER
from lochan.model.records import Commit
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.compact import compact
from lochan.operations.hard_reset import hard_reset
from lochan.operations.lake import Lake
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.reset import reset, reset_object, reset_prefix
from lochan.refs.cleaner import Cleaner
from lochan.testing.simulation import Explored, World, explore, fail_each
from lochan.testing.simulation.explorer import Check, Make, PlanMaker
from support.lakes import MAIN
from support.reset_scenes import REAL, A, ResetScene, X, Y

Story = Callable[[ResetScene, Lake], object]
STORIES: dict[str, Story] = {
    "all": lambda scene, lake: reset(lake, scene.repository, MAIN),
    "prefix": lambda scene, lake: reset_prefix(lake, scene.repository, MAIN, b"x"),
    "object": lambda scene, lake: reset_object(lake, scene.repository, MAIN, X),
}


def write(scene: ResetScene, lake: Lake) -> None:
    scene.put(lake, Y)


@pytest.mark.parametrize("kind", list(STORIES))
def test_rel_H7_a_commit_under_way_never_brings_back_what_was_reset(kind: str) -> None:
    def make(world: World) -> ResetScene:
        return ResetScene(world, committer=ResetScene.commit, resetter=STORIES[kind])

    def check(scene: ResetScene) -> str:
        assert scene.answers["resetter"] is None
        assert scene.shows(X) == scene.holds(scene.head, X), "the branch differs from its commit"
        if scene.answers["committer"] == "no-changes":
            assert scene.head == scene.first
            return "the reset came first"
        assert scene.answers["committer"] == scene.head
        assert scene.holds(scene.head, X)
        return "the commit came first"

    seen = explore(make, check)
    print(f"{kind}: {seen}")
    assert seen.wrong is None, seen
    assert len(seen.outcomes) == 2


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        ("all", Fault.LOST_REQUEST),
        ("all", Fault.LOST_RESPONSE),
        ("object", Fault.LOST_RESPONSE),
    ],
)
def test_rel_H15_a_reset_that_says_it_is_done_is_done_whatever_answer_was_lost(
    kind: str, fault: Fault
) -> None:
    def make(world: World) -> ResetScene:
        return ResetScene(world, committer=ResetScene.commit, resetter=STORIES[kind])

    def check(scene: ResetScene) -> object:
        if scene.answers["resetter"] is None:
            assert scene.shows(X) == scene.holds(scene.head, X)
            assert scene.answers["committer"] in (scene.head, "no-changes")
        return scene.answers["resetter"]

    seen = list(fail_each(make, check, "resetter", fault, many_orders))
    print(f"{kind}, {fault}: {len(seen)} calls, {sum(each.executions for each in seen)} runs")
    assert [each.wrong for each in seen if each.wrong] == []
    assert len(seen) >= 4


def many_orders(make: Make[ResetScene], check: Check[ResetScene], plan: PlanMaker) -> Explored:
    return explore(make, check, limit=100, plan=plan)


def compacted(scene: ResetScene) -> None:
    """Compact what is staged, and remove it where it was."""
    compact(scene.lake, scene.repository, MAIN)
    for _ in range(2):
        Cleaner(scene.lake.store, REAL, grace_s=0).run()


Disturb = Callable[[ResetScene], object]
DISTURBERS: dict[str, Disturb] = {
    "commit": lambda scene: commit(
        scene.lake, scene.repository, MAIN, CommitRequest("", allow_empty=True)
    ),
    "compact": compacted,
    "merge": lambda scene: merge(
        scene.lake, scene.repository, MAIN, scene.theirs, MergeRequest("", allow_dirty=True)
    ),
    "reset": lambda scene: reset(scene.lake, scene.repository, MAIN),
}


def disturbed(disturb: Disturb, story: Story) -> Iterator[ResetScene]:
    """Run a story again and again; before its n-th call to the store, another server acts.

    A branch is read before its repository, so what happens between the two comes after the read.
    """
    for number in count(1):
        scene = ResetScene(World())
        calls = count(1)

        def plan(call: Call, scene: ResetScene = scene, calls: Iterator[int] = calls) -> Fault:
            if call.partition != GRAVELER and next(calls) == number:  # noqa: B023 - ends before
                disturb(scene)
            return Fault.OK

        lake = Lake.of(Faulty(scene.lake.store, plan, REAL), REAL, scene.lake.storage)
        scene.serve("server", story, lake)
        if next(calls) <= number:
            return
        yield scene


@pytest.mark.parametrize("disturber", DISTURBERS)
@pytest.mark.parametrize("kind", ["prefix", "object"])
def test_rel_H4_a_reset_is_right_whatever_happens_before_its_last_look(
    kind: str, disturber: str
) -> None:
    scenes = list(disturbed(DISTURBERS[disturber], STORIES[kind]))
    assert len(scenes) >= 3
    for scene in scenes:
        assert scene.answers["server"] is None
        assert scene.shown(X) == scene.held(scene.head, X)


def test_rel_H7_a_reset_of_a_key_beside_two_commits_undoes_neither() -> None:
    """What a reset puts in the place of staged rows is never committed over a newer head."""

    def commit_twice(scene: ResetScene, lake: Lake) -> object:
        scene.commit(lake)
        write(scene, lake)
        return scene.commit(lake)

    def make(world: World) -> ResetScene:
        return ResetScene(world, committer=commit_twice, resetter=STORIES["object"])

    def check(scene: ResetScene) -> bool:
        assert scene.answers["resetter"] is None
        assert scene.shown(X) == scene.held(scene.head, X)
        held = [scene.holds(made, X) for made in scene.line()]
        assert held == sorted(held), "a commit was undone"
        return held[-1]

    seen = explore(make, check)
    print(f"{seen}, {dict(seen.outcomes)}")
    assert (seen.wrong, seen.complete) == (None, True), seen
    assert seen.outcomes[True] > 0


@pytest.mark.parametrize(
    "story",
    [ResetScene.commit, lambda scene, lake: compact(lake, scene.repository, MAIN)],
    ids=["commit", "compaction"],
)
def test_rel_G10_resets_of_some_keys_do_not_make_a_commit_read_all_again(story: Story) -> None:
    scene, scans = ResetScene(World()), count(1)

    def plan(call: Call) -> Fault:
        if call.operation == "scan":  # whenever staged rows are read
            next(scans)
            scene.put(scene.lake, Y)
            reset_object(scene.lake, scene.repository, MAIN, Y)
        return Fault.OK

    scene.serve(
        "server", story, Lake.of(Faulty(scene.lake.store, plan, REAL), REAL, scene.lake.storage)
    )
    assert not isinstance(scene.answers["server"], (type, str))
    assert scene.shows(X)
    assert not scene.shows(Y)
    assert next(scans) <= 5


def test_rel_H15_a_commit_whose_changes_were_reset_never_says_that_others_made_it() -> None:
    def replace_all(scene: ResetScene) -> None:
        reset(scene.lake, scene.repository, MAIN)
        write(scene, scene.lake)
        scene.commit(scene.lake)

    scenes = list(disturbed(replace_all, ResetScene.commit))
    refused = [scene for scene in scenes if scene.answers["server"] == "no-changes"]
    assert len(refused) >= 3
    for scene in scenes:
        made = scene.answers["server"]
        assert made == "no-changes" or (isinstance(made, Commit) and scene.holds(made, X))


def test_rel_G1_a_write_beside_a_reset_of_other_keys_stays() -> None:
    def make(world: World) -> ResetScene:
        return ResetScene(world, writer=write, resetter=STORIES["prefix"])

    def check(scene: ResetScene) -> None:
        assert scene.answers == {"writer": None, "resetter": None}
        assert scene.shows(Y)
        assert not scene.shows(X)

    seen = explore(make, check)
    print(seen)
    assert (seen.wrong, seen.complete) == (None, True)


def test_a_write_beside_a_reset_of_everything_comes_before_or_after() -> None:
    def make(world: World) -> ResetScene:
        return ResetScene(world, writer=write, resetter=STORIES["all"])

    def check(scene: ResetScene) -> bool:
        assert scene.answers == {"writer": None, "resetter": None}
        assert not scene.shows(X)
        return scene.shows(Y)

    seen = explore(make, check)
    print(seen)
    assert seen.wrong is None, seen
    assert set(seen.outcomes) == {True, False}


@pytest.mark.parametrize("force", [False, True])
def test_rel_G15_a_hard_reset_beside_a_commit_leaves_it_behind_or_alone(*, force: bool) -> None:
    def move(scene: ResetScene, lake: Lake) -> object:
        return hard_reset(lake, scene.repository, MAIN, scene.root, force=force).commit_id

    def make(world: World) -> ResetScene:
        return ResetScene(world, committer=ResetScene.commit, mover=move)

    def check(scene: ResetScene) -> str:
        made, moved = scene.answers["committer"], scene.answers["mover"]
        assert scene.shows(X) == scene.holds(scene.head, X)
        if moved == "dirty-branch":
            assert made == scene.head
            return "refused, and the commit stands"
        assert moved == scene.head.id == scene.root.id
        return "forgotten" if made == "no-changes" else "committed, and left behind"

    seen = explore(make, check)
    print(f"force {force}: {seen}, {dict(seen.outcomes)}")
    assert seen.wrong is None, seen
    other = "forgotten" if force else "refused, and the commit stands"
    assert set(seen.outcomes) == {other, "committed, and left behind"}


def test_rel_H7_a_write_beside_a_hard_reset_of_a_clean_branch_is_never_lost() -> None:
    def move(scene: ResetScene, lake: Lake) -> object:
        return hard_reset(lake, scene.repository, MAIN, scene.root).commit_id

    def make(world: World) -> ResetScene:
        return ResetScene(world, staged=A, writer=write, mover=move)

    def check(scene: ResetScene) -> bool:
        assert scene.answers["writer"] is None
        assert scene.shows(Y)
        refused = scene.answers["mover"] == "dirty-branch"
        assert scene.head == (scene.first if refused else scene.root)
        assert scene.shows(A) == refused, "what equalled the old commit changes the new one"
        return refused

    seen = explore(make, check)
    print(f"{seen}, {dict(seen.outcomes)}")
    assert seen.wrong is None, seen
    assert set(seen.outcomes) == {True, False}
