# SPDX-License-Identifier: Apache-2.0
"""Resets beside writes that look before they write: one comes first, and nothing lies between."""

from functools import partial

import pytest

from lochan.errors import Conflict, PredicateFailed
from lochan.model.entry import Entry
from lochan.model.ids import ObjectKey
from lochan.model.instant import from_seconds
from lochan.operations.compact import compact
from lochan.operations.conditions import if_absent, if_present
from lochan.operations.delete_objects import delete_objects
from lochan.operations.lake import Lake
from lochan.operations.put_object import stage_entry
from lochan.operations.rename_object import rename_object
from lochan.operations.reset import reset_object, reset_prefix
from lochan.operations.seal import seal
from lochan.operations.update_user_metadata import update_user_metadata
from lochan.operations.view import find_record, read_stably
from lochan.testing.simulation import World, explore
from support.lakes import MAIN
from support.reset_scenes import A, ResetScene, Story, X

RESETS: dict[str, Story] = {
    "prefix": lambda scene, lake: reset_prefix(lake, scene.repository, MAIN, b"x"),
    "object": lambda scene, lake: reset_object(lake, scene.repository, MAIN, X),
}
ANEW = Entry(address="anew", last_modified=from_seconds(2), size=1, e_tag="anew")


DECIDED: dict[str, Story] = {
    "a conditional write": lambda scene, lake: stage_entry(
        lake, scene.repository, MAIN, X, ANEW, condition=if_present
    ),
    "metadata": lambda scene, lake: update_user_metadata(
        lake, scene.repository, MAIN, X, {"by": "ada"}
    ),
}


GROUNDS: dict[str, Story | None] = {
    "staged": None,
    "sealed": lambda scene, lake: seal(lake, scene.repository, MAIN),
    "compacted": lambda scene, lake: compact(lake, scene.repository, MAIN),
}


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("kind", ["prefix", "object"])
@pytest.mark.parametrize("decided", DECIDED)
def test_rel_H5_what_was_decided_on_a_value_that_was_reset_is_not_left(
    decided: str, kind: str, ground: str
) -> None:
    """A write over what is staged comes before its reset, and goes, or after, and finds nothing."""

    def make(world: World) -> ResetScene:
        return ResetScene(
            world, before=GROUNDS[ground], writer=DECIDED[decided], resetter=RESETS[kind]
        )

    def check(scene: ResetScene) -> bool:
        assert scene.answers["resetter"] is None
        assert not scene.shows(X), "decided on what had been reset"
        return not isinstance(scene.answers["writer"], type)

    seen = explore(make, check)
    print(f"{seen}, {dict(seen.outcomes)}")
    assert (seen.wrong, seen.complete) == (None, True), seen
    assert set(seen.outcomes) == {True, False}


def test_rel_G8_a_rename_beside_a_reset_never_leaves_an_object_under_neither_key() -> None:
    renamed = ObjectKey(b"ab")

    def make(world: World) -> ResetScene:
        return ResetScene(
            world,
            renamer=lambda scene, lake: rename_object(lake, scene.repository, MAIN, A, renamed),
            resetter=lambda scene, lake: reset_prefix(lake, scene.repository, MAIN, b"a"),
        )

    def check(scene: ResetScene) -> tuple[bool, bool]:
        assert scene.answers["resetter"] is None
        assert scene.shows(A) or scene.shows(renamed), scene.answers
        return scene.shows(A), scene.shows(renamed)

    seen = explore(make, check)
    print(f"{seen}, {dict(seen.outcomes)}")
    assert (seen.wrong, seen.complete) == (None, True), seen
    assert {(True, False), (False, True)} <= set(seen.outcomes)


@pytest.mark.parametrize("ground", GROUNDS)
def test_a_prefix_is_reset_at_one_moment(ground: str) -> None:
    """Who writes one of its keys, and sees then that another is not reset yet, is reset, too."""
    other = ObjectKey(b"x2")

    def write_and_look(scene: ResetScene, lake: Lake) -> bool:
        scene.put(lake, other)
        look = partial(find_record, lake, scene.repository, key=X)
        return read_stably(lake, scene.repository, MAIN, look) is not None

    def make(world: World) -> ResetScene:
        return ResetScene(
            world, before=GROUNDS[ground], writer=write_and_look, resetter=RESETS["prefix"]
        )

    def check(scene: ResetScene) -> tuple[object, bool]:
        seen, stays = scene.answers["writer"], scene.shows(other)
        assert scene.answers["resetter"] is None
        assert not scene.shows(X)
        assert not (seen and stays), "written before the reset, and left by it"
        return seen, stays

    seen = explore(make, check)
    print(f"{seen}, {dict(seen.outcomes)}")
    assert (seen.wrong, seen.complete) == (None, True), seen
    assert set(seen.outcomes) >= {(True, False), (False, True)}


def test_rel_H5_a_condition_that_a_reset_made_false_is_refused_and_nothing_else() -> None:
    """The key is staged as deleted; the reset brings the committed object back."""

    def make(world: World) -> ResetScene:
        def before(scene: ResetScene, lake: Lake) -> None:
            delete_objects(lake, scene.repository, MAIN, [A])
            seal(lake, scene.repository, MAIN)

        return ResetScene(
            world,
            before=before,
            writer=lambda scene, lake: stage_entry(
                lake, scene.repository, MAIN, A, ANEW, condition=if_absent
            ),
            resetter=lambda scene, lake: reset_object(lake, scene.repository, MAIN, A),
        )

    def check(scene: ResetScene) -> object:
        assert scene.answers["resetter"] is None
        assert scene.shown(A) == scene.held(scene.first, A)
        return scene.answers["writer"]

    seen = explore(make, check)
    print(f"{seen}, {dict(seen.outcomes)}")
    assert (seen.wrong, seen.complete) == (None, True), seen
    assert set(seen.outcomes) == {None, PredicateFailed, Conflict}
