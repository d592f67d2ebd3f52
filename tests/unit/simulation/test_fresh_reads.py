# SPDX-License-Identifier: Apache-2.0
"""G17 in every order: a shared read was begun after each caller that it answers."""

from lochan.environment import RealEnvironment
from lochan.kv.drivers.memory import MemoryStore
from lochan.refs.fresh import FreshReads
from lochan.testing.simulation import World, check_history, explore
from lochan.testing.simulation.history import History

P, K = b"partition", b"k"


def readers(world: World, count: int) -> History:
    store, history = world.store(MemoryStore(RealEnvironment())), world.history()
    store.set(P, K, b"0")
    fresh = FreshReads(lambda _: store.get(P, K).value.decode(), world.environment)
    for number in range(count):
        world.spawn(lambda: history.read("k", lambda: fresh.read("k")), f"reader{number}")
    world.spawn(lambda: history.write("k", "1", lambda: store.set(P, K, b"1")), "writer")
    return history


def test_rel_G17_shared_reads_are_fresh_in_every_order() -> None:
    seen = explore(
        lambda world: readers(world, 2), lambda h: check_history(h.operations, {"k": "0"})
    )
    print(seen)

    assert seen.complete
    assert seen.wrong is None
