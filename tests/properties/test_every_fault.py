# SPDX-License-Identifier: Apache-2.0
"""Every story of a lake with every one of its calls to a store failing, in every way (V4).

The stories are a table in tests/support/fault_stories; a function of the stories that no row of it
calls is missed here. Each point is a copy of one lake, so that points have nothing to do with each
other.
"""

import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from types import CodeType, FrameType

import pytest

import lochan.operations
from lochan.errors import AlreadyExists, LochanError
from lochan.faults import Crashed, Fault
from lochan.kv.faulty import Faulty, fail_nth
from lochan.model.ids import StorageNamespace
from lochan.operations.create_repository import create_repository
from support.fault_ground import MAIN, OTHER, Place, make_ground
from support.fault_runs import KINDS, fail_everywhere, ground_of, prepare
from support.fault_stories import STORIES

# It is asked when a lost answer is followed by somebody else's write of the same row.
ONLY_IN_RACES = {"lochan.operations.open_commits.staged_change.puts_in"}


@pytest.fixture(scope="module")
def ground() -> Place:
    return make_ground()


@pytest.fixture(scope="module")
def points() -> Iterator[dict[str, int]]:
    found: dict[str, int] = {}
    yield found
    print(f"\nV4: {len(found)} stories, {sum(found.values())} points, 0 lost")


def one_kind(number: int) -> list[Fault]:
    """Choose one way to fail each of the first calls; of long stories, some of the others too."""
    is_chosen = number <= 24 or number % (3 if number < 90 else 11) == 0
    return [KINDS[number % len(KINDS)]] if is_chosen else []


@pytest.mark.parametrize("name", STORIES)
def test_rel_V4_rel_G7_a_story_fails_anywhere_and_is_told_again(
    name: str, ground: Place, points: dict[str, int]
) -> None:
    tale = prepare(ground, name, STORIES[name])
    points[name] = fail_everywhere(tale, one_kind)


@pytest.mark.ci_campaign
@pytest.mark.parametrize("name", STORIES)
def test_rel_V4_rel_G7_a_story_fails_anywhere_in_every_way_and_is_told_again(
    name: str, ground: Place, points: dict[str, int]
) -> None:
    tale = prepare(ground, name, STORIES[name])
    points[name] = fail_everywhere(tale, lambda _: KINDS)


def public_functions() -> dict[CodeType, str]:
    """Find what the modules of stories define; functions that only make an error do not count."""
    found = {}
    for module in pkgutil.walk_packages(lochan.operations.__path__, "lochan.operations."):
        for name, function in inspect.getmembers(import_module(module.name), inspect.isfunction):
            given = function.__annotations__.get("return")
            makes_error = isinstance(given, type) and issubclass(given, LochanError)
            mine = function.__module__ == module.name and not name.startswith("_")
            if mine and not makes_error:
                found[function.__code__] = f"{module.name}.{name}"
    return found


def called_by(act: Callable[[], object]) -> set[CodeType]:
    """Run something; gives the code of every function that it calls."""
    called: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            called.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(before)
    return called


def test_rel_V4_no_story_is_missing(ground: Place) -> None:
    known = public_functions()
    called: set[CodeType] = set()
    for name, story in STORIES.items():
        place = ground_of(ground, name).copy()
        called |= called_by(lambda: story(place))  # noqa: B023 - it is called at once
    for name in ("put file", "finish a commit that begins a branch"):  # what only failures call
        tale = prepare(ground, name, STORIES[name])
        called |= called_by(lambda: fail_everywhere(tale, lambda _: [Fault.LOST_RESPONSE]))  # noqa: B023
    assert {name for code, name in known.items() if code not in called} == ONLY_IN_RACES
    assert len(known) > 100


def test_rel_V4_of_a_creator_that_dies_only_a_claim_is_left_and_people_are_told(
    ground: Place,
) -> None:
    place, namespace = ground.copy(), StorageNamespace("mem://other")
    dying = place.again(Faulty(place.kept, fail_nth(8, Fault.CRASH_BEFORE), place.world))
    with pytest.raises(Crashed):
        create_repository(dying.lake, OTHER, namespace, MAIN)
    place.world.sleep(3600)
    later = place.again().lake
    with pytest.raises(AlreadyExists, match="a creation that died; if nobody uses it, remove"):
        create_repository(later, OTHER, namespace, MAIN)
    later.storage(namespace).objects.delete("_lakefs/dummy")
    create_repository(later, OTHER, namespace, MAIN)
