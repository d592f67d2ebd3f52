# SPDX-License-Identifier: Apache-2.0
"""The simulated world: turns, time, chance, locks, faults, crashes."""

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput, NotFound, Unavailable, UnknownOutcome
from lochan.faults import Delay, Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.store import Store
from lochan.objects.drivers.memory import MemoryObjects
from lochan.testing.simulation import Deadlock, InOrder, Livelock, Scripted, World
from lochan.testing.simulation.faults import Plan, fail_nth, no_faults, random_faults
from support.toy_lake import Rules
from support.toy_scenes import two_increments

P = b"partition"


def memory() -> MemoryStore:
    return MemoryStore(RealEnvironment())


def value(store: Store, key: bytes = b"k") -> bytes | None:
    try:
        return store.get(P, key).value
    except NotFound:
        return None


def _next_of(numbers: Iterator[int], _: str) -> int:
    return next(numbers)


def raised_by(world: World, work: Callable[[], object]) -> BaseException | None:
    """Run one process, and give what it met."""
    met: list[BaseException] = []

    def process() -> None:
        try:
            work()
        except Unavailable as error:
            met.append(error)

    world.spawn(process, "p")
    world.run()
    return met[0] if met else None


@pytest.mark.parametrize("seed", range(20))
def test_the_same_seed_gives_the_same_run(seed: int) -> None:
    traces = []
    for _ in range(2):
        kinds = [Fault.ERROR, Fault.LOST_RESPONSE, Fault.CRASH_AFTER, Fault.ZOMBIE]
        world = World(seed, plan=random_faults(seed, 0.05, kinds, most=3))
        two_increments(Rules())(world)
        try:
            world.run()
        except Unavailable as error:
            traces.append((world.trace, str(error)))
        else:
            traces.append((world.trace, ""))

    assert traces[0] == traces[1]
    assert len(traces[0][0]) > 3


@pytest.mark.parametrize("seed", range(5))
def test_a_run_is_the_same_whether_or_not_it_notes_what_steps_touch(seed: int) -> None:
    taken = []
    for footprints in (True, False):
        world = World(
            seed, plan=random_faults(seed, 0.05, [Fault.CRASH_AFTER], 2), footprints=footprints
        )
        two_increments(Rules())(world)
        world.run()
        assert all(bool(step.footprint) is footprints for step in world.trace)
        taken.append([(step.process, step.label) for step in world.trace])

    assert taken[0] == taken[1]
    assert len(taken[0]) > 3


def test_different_seeds_give_different_runs() -> None:
    def order(seed: int) -> tuple[str, ...]:
        world = World(seed)
        two_increments(Rules())(world)
        world.run()
        return tuple(taken.process for taken in world.trace)

    assert len({order(seed) for seed in range(20)}) > 15


def test_ids_and_bytes_do_not_depend_on_the_order_of_steps() -> None:
    def draw(schedule: list[str]) -> dict[str, list[object]]:
        world = World(5, schedule=Scripted(schedule))
        store, drawn = world.store(memory()), dict[str, list[object]]()

        def work(name: str) -> None:
            store.set(P, b"k", b"v")
            drawn[name] = [world.environment.new_id(), world.environment.random_bytes(5)]

        world.spawn(lambda: work("a"), "a")
        world.spawn(lambda: work("b"), "b")
        world.run()
        return drawn

    assert draw(["a", "b"]) == draw(["b", "a"])
    assert draw(["a", "b"])["a"] != draw(["a", "b"])["b"]


def test_sleeping_moves_the_clock_and_a_jump_moves_the_wall_clock_alone() -> None:
    world = World()
    clock = world.environment
    before = clock.now(), clock.monotonic()
    world.spawn(lambda: clock.sleep(120))
    world.run()
    world.jump(-3600)

    assert clock.monotonic() - before[1] == 120
    assert clock.now() - before[0] == 120 - 3600


def test_a_lock_is_held_by_one_at_a_time() -> None:
    def entered(seed: int) -> list[str]:
        world = World(seed)
        store, lock = world.store(memory()), world.environment.lock()
        inside: list[str] = []

        def work(name: str) -> None:
            with lock:
                inside.append(name)
                store.set(P, b"k", b"v")
                inside.append(name)

        for name in ["a", "b", "c"]:
            world.spawn(partial(work, name))
        world.run()
        return inside

    orders = [entered(seed) for seed in range(30)]
    assert all(inside[::2] == inside[1::2] for inside in orders)
    assert len(set(map(tuple, orders))) > 1


def test_an_event_that_nobody_sets_is_a_deadlock() -> None:
    world = World()
    world.spawn(world.environment.event().wait, "waiter")

    with pytest.raises(Deadlock, match="waiter at wait"):
        world.run()


def test_a_process_that_never_ends_is_a_livelock() -> None:
    world = World()
    store = world.store(memory())

    def spin() -> None:
        while value(store) is None:
            continue

    world.spawn(spin, "spinner")
    with pytest.raises(Livelock, match="spinner at get"):
        world.run(max_steps=100)


def test_an_event_lets_the_waiter_go_on() -> None:
    world = World()
    event, store = world.environment.event(), world.store(memory())
    seen: list[bytes | None] = []

    def wait() -> None:
        event.wait()
        seen.append(value(store))

    def happen() -> None:
        store.set(P, b"k", b"v")
        event.set()

    world.spawn(wait)
    world.spawn(happen)
    world.run()

    assert seen == [b"v"]


def test_what_a_process_raises_comes_out_of_run() -> None:
    world = World()
    world.spawn(lambda: value(world.store(memory()), b""))

    with pytest.raises(InvalidInput):
        world.run()


FAULTS = {
    Fault.OK: (None, b"v"),
    Fault.ERROR: (Unavailable, None),
    Fault.LOST_REQUEST: (UnknownOutcome, None),
    Fault.LOST_RESPONSE: (UnknownOutcome, b"v"),
    Fault.ZOMBIE: (UnknownOutcome, b"v"),
    Fault.CRASH_BEFORE: (None, None),
    Fault.CRASH_AFTER: (None, b"v"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_write_fails_as_planned(fault: Fault) -> None:
    world, inner = World(plan=fail_nth("p", 1, fault)), memory()
    store = world.store(inner)
    error, stored = FAULTS[fault]
    met = raised_by(world, lambda: store.set(P, b"k", b"v"))

    assert type(met) is (error or type(None))
    assert value(inner) == stored


def test_a_delay_takes_virtual_time() -> None:
    def plan(_: object) -> Delay:
        return Delay(5)

    world = World(plan=plan)
    store = world.store(memory())
    raised_by(world, lambda: store.set(P, b"k", b"v"))

    assert world.environment.monotonic() == 5


def test_a_zombie_may_overwrite_what_came_later() -> None:
    ends = set()
    for seed in range(30):
        world, inner = World(seed, plan=fail_nth("p", 1, Fault.ZOMBIE)), memory()
        store = world.store(inner)

        def work(store: Store = store) -> None:
            with pytest.raises(UnknownOutcome):
                store.set(P, b"k", b"old")
            store.set(P, b"k", b"new")

        world.spawn(work, "p")
        world.run()
        ends.add(value(inner))

    assert ends == {b"old", b"new"}


def test_the_crashed_never_run_again_not_even_to_clean_up() -> None:
    world, inner = World(plan=fail_nth("p", 2, Fault.CRASH_BEFORE)), memory()
    store = world.store(inner)

    def work() -> None:
        try:
            store.set(P, b"a", b"1")
            store.set(P, b"b", b"1")
        finally:
            store.delete(P, b"a")

    world.spawn(work, "p")
    world.run()

    assert (value(inner, b"a"), value(inner, b"b")) == (b"1", None)


def test_a_node_crashes_with_all_its_processes() -> None:
    world, inner = World(schedule=InOrder()), memory()
    store = world.store(inner)
    world.spawn(lambda: world.crash("server"), "nemesis")
    world.spawn(lambda: store.set(P, b"a", b"1"), node="server")
    world.spawn(lambda: store.set(P, b"b", b"1"), node="other")
    world.run()

    assert (value(inner, b"a"), value(inner, b"b")) == (None, b"1")


def test_only_a_named_node_can_be_crashed() -> None:
    with pytest.raises(InvalidInput, match="no process was spawned on node nowhere"):
        World().crash("nowhere")


def test_a_scan_is_a_step_a_page_and_can_fail_at_each() -> None:
    def scanned(plan: Plan) -> tuple[int, BaseException | None]:
        world, inner = World(plan=plan), memory()
        for key in [b"a", b"b", b"c"]:
            inner.set(P, key, b"v")
        store = world.store(inner, page_rows=1)
        met = raised_by(world, lambda: list(store.scan(P)))
        return len(world.trace), met

    assert scanned(no_faults) == (4, None)
    for nth in range(1, 5):
        assert isinstance(scanned(fail_nth("p", nth, Fault.ERROR))[1], Unavailable)


def test_a_stale_cache_gives_old_values_and_new_ones() -> None:
    given = set()
    for seed in range(20):
        world, numbers = World(seed), iter(range(10))
        cached = world.stale(partial(_next_of, numbers))
        given.add(tuple(cached("k") for _ in range(3)))

    assert (0, 0, 0) in given
    assert (0, 1, 2) in given
    assert (0, 1, 0) in given


def test_objects_take_steps_and_fail_as_planned() -> None:
    inner = MemoryObjects.open("mem://objects-of-this-test", RealEnvironment())
    world = World(plan=fail_nth("p", 3, Fault.LOST_RESPONSE))
    objects = world.objects(inner)

    def work() -> None:
        objects.put("a", [b"one", b"two"])
        assert objects.get("a").read() == b"onetwo"
        objects.put("b", b"three")

    assert isinstance(raised_by(world, work), UnknownOutcome)
    assert [taken.label for taken in world.trace] == [
        "put objects a",
        "get objects a",
        "put objects b",
    ]
    assert [listed.address for listed in inner.list().entries] == ["a", "b"]


def test_background_work_ends_with_the_run_when_it_only_sleeps() -> None:
    world = World(3)
    store, ticks = world.store(memory()), []

    def cleaner() -> None:
        while True:
            world.environment.sleep(60)
            ticks.append(world.environment.monotonic())

    def work() -> None:
        world.environment.spawn(cleaner, name="cleaner")
        for _ in range(20):
            store.set(P, b"k", b"v")

    world.spawn(work)
    world.run()

    assert ticks == sorted(ticks)
    assert ticks


def test_an_executor_has_done_its_work_when_it_is_handed_back() -> None:
    with World().environment.executor(4) as executor:
        assert list(executor.map(abs, [-1, -2])) == [1, 2]
        assert isinstance(executor.submit(int, "x").exception(), ValueError)
