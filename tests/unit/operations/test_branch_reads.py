# SPDX-License-Identifier: Apache-2.0
"""Branch records as last seen and as they are: how old, by whom, and in every order of threads."""

from collections.abc import Hashable

import msgspec
import pytest

from lochan.errors import NotFound, RepositoryNotFound
from lochan.faults import Delay, Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Call, Faulty, no_faults
from lochan.model.ids import BranchName, StagingToken, StorageNamespace, UniqueIdentifier
from lochan.model.keys import GRAVELER
from lochan.model.records import Branch, Repository
from lochan.operations.branch_reads import SEEN_FOR_S, BranchReads
from lochan.refs.tables import RepositoryTables
from lochan.testing.simulation import World, brute_force, explore
from support.lakes import MAIN, add_repository
from support.reset_scenes import REAL

NAMESPACE = StorageNamespace("mem://branch-reads")
SEALED = (StagingToken("sealed"),)


class Reads:
    """A branch, the reads of one server, and what its threads were given."""

    def __init__(self, world: World, slow_s: float = 0.0) -> None:
        """Prepare a branch that was seen once; reading its repository takes `slow_s`."""

        def slowly(call: Call) -> Fault | Delay:
            return Delay(slow_s) if slow_s and call.partition == GRAVELER else no_faults(call)

        inner = MemoryStore(REAL)
        self.repository: Repository = add_repository(inner, world.environment, NAMESPACE)
        store = Faulty(inner, slowly, world.environment)
        self.branches = RepositoryTables.of(inner, self.repository).branches
        self.reads = BranchReads(world.store(store), world.environment)
        self.reads.fresh(self.repository, MAIN)
        self.given: dict[str, Branch] = {}

    def change(self) -> None:
        """Let another server seal a token."""
        old = self.branches.get(MAIN.encode()).record
        self.branches.set(MAIN.encode(), msgspec.structs.replace(old, sealed_tokens=SEALED))

    def seen(self) -> Branch:
        return self.reads.seen(self.repository, MAIN).record

    def fresh(self) -> Branch:
        return self.reads.fresh(self.repository, MAIN).record


def test_rel_G13_what_was_seen_is_given_for_a_second_and_no_longer() -> None:
    world = World()
    scene = Reads(world)
    scene.change()
    world.environment.sleep(0.9 * SEEN_FOR_S)
    assert scene.seen().sealed_tokens == ()
    world.environment.sleep(0.2 * SEEN_FOR_S)
    assert scene.seen().sealed_tokens == SEALED


def test_rel_G17_a_fresh_read_is_never_what_was_seen() -> None:
    scene = Reads(World())
    scene.change()
    assert scene.fresh().sealed_tokens == SEALED
    assert scene.seen().sealed_tokens == SEALED


def test_rel_H14_the_age_counts_from_before_the_repository_was_read() -> None:
    scene = Reads(World(), slow_s=SEEN_FOR_S)
    scene.change()
    assert scene.seen().sealed_tokens == SEALED


def test_rel_H14_reads_belong_to_one_incarnation() -> None:
    scene = Reads(World())
    later = UniqueIdentifier("another0")
    other = msgspec.structs.replace(scene.repository, unique_identifier=later)
    with pytest.raises(RepositoryNotFound, match="is gone"):
        scene.reads.seen(other, MAIN)
    with pytest.raises(RepositoryNotFound, match="is gone"):
        scene.reads.fresh_repository(other)


def test_a_branch_that_is_gone_is_not_remembered() -> None:
    scene = Reads(World())
    scene.branches.delete(MAIN.encode())
    for read in (scene.fresh, scene.seen):
        with pytest.raises(NotFound, match="no branch 'main'"):
            read()
    with pytest.raises(NotFound):
        scene.reads.seen(scene.repository, BranchName("never"))


def test_the_explorer_sees_what_threads_share() -> None:
    def make(world: World) -> Reads:
        scene = Reads(world)

        def look() -> None:
            scene.given["looker"] = scene.seen()

        def read() -> None:
            scene.given["reader"] = scene.fresh()

        scene.change()
        world.spawn(look, "looker", node="server")
        world.spawn(read, "reader", node="server")
        return scene

    def check(scene: Reads) -> Hashable:
        assert scene.given["reader"].sealed_tokens == SEALED
        return scene.given["looker"].sealed_tokens

    every = brute_force(make, check)
    some = explore(make, check)
    print(every, some)
    assert every.wrong is None, every
    assert some.outcomes.keys() == every.outcomes.keys() == {(), SEALED}
