# SPDX-License-Identifier: Apache-2.0
"""What one process has for itself is no switch point; what is shared after all is refused."""

import pytest

from lochan.environment import RealEnvironment
from lochan.kv.drivers.memory import MemoryStore
from lochan.testing.simulation import SoloEnvironment, World, explore

P = b"partition"


def test_locks_and_events_of_one_process_take_no_steps() -> None:
    world = World(1)
    own = SoloEnvironment(world.environment)

    def work() -> None:
        lock, event = own.lock(), own.event()
        with lock:
            event.set()
        event.wait()
        own.sleep(10)

    world.spawn(work)
    world.run()

    assert world.trace == []
    assert own.now() == world.environment.now()


def test_a_lock_that_is_taken_twice_is_refused() -> None:
    lock = SoloEnvironment(World(1).environment).lock()
    with lock, pytest.raises(RuntimeError, match="is it shared after all"), lock:
        pass


def test_a_wait_that_somebody_else_should_end_is_refused() -> None:
    with pytest.raises(RuntimeError, match="is the event shared after all"):
        SoloEnvironment(World(1).environment).event().wait()


@pytest.mark.parametrize(("written", "orders"), [(b"a", 2), (b"b", 1)])
def test_a_page_meets_the_writes_of_the_keys_in_it_and_no_others(
    written: bytes, orders: int
) -> None:
    def make(world: World) -> list[bytes]:
        store = world.store(MemoryStore(RealEnvironment()), page_rows=1)
        for key in (b"a", b"b"):
            store.set(P, key, b"old")
        seen: list[bytes] = []
        world.spawn(lambda: seen.append(next(store.scan(P))[1]), "reader")
        world.spawn(lambda: store.set(P, written, b"new"), "writer")
        return seen

    found = explore(make, tuple)

    assert found.complete
    assert (found.executions, len(found.outcomes)) == (orders, orders)
