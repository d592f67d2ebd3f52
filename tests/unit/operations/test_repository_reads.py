# SPDX-License-Identifier: Apache-2.0
"""Repository records as last seen: how long a server goes on with one that another deleted."""

import pytest

from lochan.errors import RepositoryNotFound
from lochan.kv.drivers.memory import MemoryStore
from lochan.model.ids import StorageNamespace
from lochan.operations.repository_reads import SEEN_FOR_S, RepositoryReads
from lochan.refs.deletion import delete_repository
from lochan.testing.simulation import World
from support.lakes import NAME, add_repository
from support.reset_scenes import REAL


class Reads:
    """A repository that a server has seen just now."""

    def __init__(self) -> None:
        self.clock = World().environment
        self.store = MemoryStore(REAL)
        self.first = self.create()
        self.reads = RepositoryReads(self.store, self.clock)
        assert self.reads.seen(NAME) == self.first

    def create(self) -> object:
        return add_repository(self.store, self.clock, StorageNamespace("mem://reads"))

    def delete(self) -> None:
        """Delete it, as another server would."""
        delete_repository(self.store, self.clock, NAME)


def test_rel_R17_reads_of_a_deleted_repository_end_within_a_second() -> None:
    scene = Reads()
    scene.delete()
    scene.clock.sleep(0.9 * SEEN_FOR_S)
    assert scene.reads.seen(NAME) == scene.reads.recall(NAME) == scene.first
    scene.clock.sleep(0.1 * SEEN_FOR_S)
    assert scene.reads.recall(NAME) is None
    with pytest.raises(RepositoryNotFound):
        scene.reads.seen(NAME)
    assert SEEN_FOR_S <= 1


def test_rel_R8_the_next_repository_of_the_name_is_seen_within_a_second() -> None:
    scene = Reads()
    scene.delete()
    second = scene.create()
    assert second != scene.first
    scene.clock.sleep(SEEN_FOR_S)
    assert scene.reads.seen(NAME) == second


def test_who_asks_afresh_or_has_changed_it_hears_at_once() -> None:
    scene = Reads()
    scene.delete()
    with pytest.raises(RepositoryNotFound):
        scene.reads.fresh(NAME)
    with pytest.raises(RepositoryNotFound):
        scene.reads.seen(NAME)
    second = scene.create()
    assert scene.reads.seen(NAME) == second
    scene.delete()
    scene.reads.forget(NAME)
    with pytest.raises(RepositoryNotFound):
        scene.reads.seen(NAME)
