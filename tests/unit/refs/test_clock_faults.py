# SPDX-License-Identifier: Apache-2.0
"""A crash, an error and a lost race at each step of a merge: answers stay right."""

from collections.abc import Callable
from itertools import count

import pytest

from lochan.errors import Conflict, LochanError, PredicateFailed
from lochan.faults import Crashed, Delay, Fault
from lochan.kv.faulty import Call, Faulty, fail_nth
from lochan.kv.store import Store
from lochan.model.records import Clock, Commit
from support.clock_world import ENVIRONMENT, World, check

FAULTS = [fault for fault in Fault if fault not in {Fault.OK, Fault.ZOMBIE}]


def two_sides() -> World:
    """Main with a merged line, and two branches that went on; `x` is merged to main already."""
    world = World()
    world.create("main")
    world.commit("main")
    for name in ("x", "y"):
        world.create(name, world.head("main"))
        world.commit(name)
    world.commit("main", world.head("x"))
    world.commit("x")
    world.commit("y", world.head("x"))
    return world


def published(world: World) -> list[Commit]:
    """All commits behind the branches, parents first."""
    found: dict[str, Commit] = {}
    waiting = [world.head(name.decode()) for name, _ in world.tables.branches.scan()]
    while waiting:
        commit = waiting.pop()
        found[commit.id] = commit
        waiting += [world.tables.commits.get(p.encode()).record for p in commit.parents]
    return sorted(found.values(), key=lambda commit: commit.generation)


def rows_of(world: World, commit: Commit) -> list[bytes]:
    named = commit.id.encode()
    return [
        key
        for key, _ in world.store.scan(world.reach.partition)
        if key.startswith((b"reach/", b"merged/")) and key.endswith(named)
    ]


def _quietly(work: Callable[[], object]) -> None:
    try:
        work()
    except (LochanError, Crashed):
        return


def merge_y(store: Store, world: World) -> Commit:
    process = World(store, drawn=1000)
    return process.commit("main", world.head("y"))


@pytest.mark.parametrize("fault", FAULTS)
def test_pach_C10_a_merge_that_fails_at_its_nth_operation_leaves_no_wrong_answer(
    fault: Fault,
) -> None:
    for number in count(1):
        world = two_sides()
        faulty = Faulty(world.store, fail_nth(number, fault), ENVIRONMENT)
        _quietly(lambda store=faulty, world=world: merge_y(store, world))  # type: ignore[misc]
        if faulty.calls < number:
            break
        check(world, published(world))
        world.commit("main", world.head("x"), message="afterwards")
        world.commit("y", world.head("main"), message="and back")
        check(world, published(world))
    assert number > 15


def rivals() -> dict[str, Callable[[World], object]]:
    return {
        "commit": lambda world: world.commit("main", message="rival"),
        "merge of another": lambda world: world.commit("main", world.head("x"), message="rival"),
        "merge of the same": lambda world: world.commit("main", world.head("y"), message="rival"),
        "reset": lambda world: world.reset("main", world.head("x")),
        "leave and return": leave_and_return,
    }


def leave_and_return(world: World) -> None:
    before = world.head("main")
    world.reset("main", world.head("x"))
    world.reset("main", before)


def raced(world: World, number: int, rival: Callable[[World], object]) -> tuple[Faulty, list[str]]:
    """Let a rival change main just before the n-th operation of a merge of y."""
    lost: list[str] = []

    def plan(call: Call) -> Fault | Delay:
        if call.number == number:
            rival(World(world.store, drawn=2000))
        return Fault.OK

    faulty = Faulty(world.store, plan, ENVIRONMENT)
    try:
        merge_y(faulty, world)
    except PredicateFailed:
        lost.append("lost")
    return faulty, lost


@pytest.mark.parametrize("name", rivals())
def test_a_merge_that_loses_its_race_at_any_step_deletes_its_rows(name: str) -> None:
    losses = 0
    for number in count(1):
        world = two_sides()
        faulty, lost = raced(world, number, rivals()[name])
        if faulty.calls < number:
            break
        losses += len(lost)
        if lost:
            loser = next(c for _, c in world.tables.commits.scan() if c.message == "1001")
            assert rows_of(world, loser) == []
        check(world, published(world))
    assert losses > 3


def test_a_loser_that_dies_while_it_deletes_leaves_rows_that_nobody_counts() -> None:
    for number in count(1):
        world = two_sides()
        stored = world.branch("main")
        loser, _ = World(world.store, drawn=1000).draft(stored, world.head("y"))
        world.tables.commits.set(loser.id.encode(), loser)
        world.reach.write(loser)
        world.commit("main", world.head("x"), message="winner")
        faulty = Faulty(world.store, fail_nth(number, Fault.CRASH_BEFORE), ENVIRONMENT)
        try:
            World(faulty).reach.forget(loser, world.branch("main"))
        except Crashed:
            check(world, published(world))
            continue
        assert rows_of(world, loser) == []
        break
    assert number > 4


def test_rows_stay_while_an_equal_attempt_may_still_be_published() -> None:
    world = two_sides()
    stored = world.tables.branches.get(b"main")
    twin, moved = World(world.store, drawn=1000).draft(stored.record, world.head("y"))
    world.tables.commits.set(twin.id.encode(), twin)
    world.reach.write(twin)
    assert not world.reach.forget(twin, stored.record)  # one of two equal attempts gives up
    world.tables.branches.set_if(b"main", moved, stored.predicate)  # the other is published
    assert not world.reach.forget(twin, world.branch("main"))
    check(world, published(world))


def test_merges_published_together_are_written_as_one_chain() -> None:
    world = two_sides()
    world.create("z", world.head("main"))
    stored = world.tables.branches.get(b"main")
    drafting = World(world.store, drawn=1000)
    first, moved = drafting.draft(stored.record, world.commit("z"))
    world.tables.commits.set(first.id.encode(), first)
    plain, moved = drafting.draft(moved)
    world.tables.commits.set(plain.id.encode(), plain)
    second, moved = drafting.draft(moved, world.head("y"))
    world.tables.commits.set(second.id.encode(), second)
    world.reach.write(first, plain, second)
    check(world, published(world))
    world.tables.branches.set_if(b"main", moved, stored.predicate)
    check(world, published(world))


def test_rel_P2_two_concurrent_commits_never_get_one_clock() -> None:
    for number in count(1):
        world = two_sides()
        taken: list[Commit] = []
        rival = lambda rival_world: taken.append(rival_world.commit("main", message="r"))  # noqa: B023, E731
        faulty, _ = raced(world, number, rival)
        if faulty.calls < number:
            break
        assert taken
        places = [commit.clocks[-1] for commit in published(world)]
        assert len(set(places)) == len(places)
    assert number > 15


def test_a_missing_row_is_found_again_from_the_row_above_and_kept() -> None:
    world = two_sides()
    missing = world.commit("main", place=False)
    world.commit("main")
    assert world.clocks.find(missing.clocks[-1]) == missing.id
    assert world.clocks._row(missing.clocks[-1]) == missing.id


def test_a_missing_row_at_the_top_is_found_again_from_its_branch() -> None:
    world = two_sides()
    lower, upper = world.commit("main", place=False), world.commit("main", place=False)
    assert world.clocks.find(lower.clocks[-1]) == lower.id
    assert world.clocks._row(upper.clocks[-1]) == upper.id


def test_a_missing_row_is_found_although_its_branch_leaves_the_line_meanwhile() -> None:
    for number in count(1):
        world = two_sides()
        top = world.commit("main", place=False)

        def plan(call: Call, world: World = world, number: int = number) -> Fault:
            if call.number == number:
                world.reset("main", world.head("x"))
            return Fault.OK

        faulty = Faulty(world.store, plan, ENVIRONMENT)
        assert World(faulty).clocks.find(top.clocks[-1]) == top.id
        if faulty.calls < number:
            break
    assert number > 4


def test_a_place_that_was_never_given_has_no_commit() -> None:
    world = two_sides()
    lineage, place = world.head("main").clocks[-1]
    assert world.clocks.find(Clock(lineage, place + 1)) is None


def test_a_commit_that_lost_is_refused_by_its_bare_id() -> None:
    world = two_sides()
    loser, _ = World(world.store, drawn=1000).draft(world.branch("main"))
    world.tables.commits.set(loser.id.encode(), loser)
    with pytest.raises(Conflict, match="no branch was ever moved to it"):
        world.clocks.require_published(loser)
    winner = world.commit("main", place=False)
    world.clocks.require_published(winner)
    with pytest.raises(Conflict, match=f"its place is {winner.id}"):
        world.clocks.require_published(loser)
