# SPDX-License-Identifier: Apache-2.0
"""The scopes of the explorer: two or three processes on one branch, small enough for every order.

A scope is a ground and a cast: who does what, at the same time as the others. Each has a lake of
its own, unless the scope says that some share one; those are threads of one server.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lochan.model.ids import BranchName
from lochan.model.records import Repository
from lochan.operations.branch_reads import BranchRead, BranchReads
from lochan.operations.lake import Lake
from lochan.operations.seal import seal
from lochan.testing.simulation import World
from support.lakes import MAIN
from support.simulated_anyone import Anyone
from support.simulated_client import Work, absent
from support.simulated_ground import Ground
from support.simulated_lake import Scene
from support.simulated_mover import Mover

Part = Callable[[Any], Sequence[Work]]  # what a client of the scope does


@dataclass(frozen=True)
class Scope:
    """Who does what on which ground."""

    ground: Ground
    cast: dict[str, Part]
    shared: frozenset[str] = field(default=frozenset())
    objects: bool = False
    leaks: bool = False
    reads: Callable[[Lake, Ground], BranchReads] | None = None

    def make(self, world: World, *, faulty: bool = False) -> Scene:
        """Set the scene in a world."""
        scene = Scene(world, self.ground, faulty=faulty, objects=self.objects, reads=self.reads)
        server = scene.lake(shared=True) if self.shared else None
        for name, part in self.cast.items():
            together = name in self.shared
            client = Anyone(scene, name, server if together else None)
            client.does(*part(client), node="server" if together else None)
        return scene

    def make_faulty(self, world: World) -> Scene:
        """Set the scene in a world whose stores may fail."""
        return self.make(world, faulty=True)

    def check(self, scene: Scene) -> Hashable:
        """Check a run of this scope, and after failures that nothing needs an operator."""
        outcome = scene.check()
        if self.leaks:
            scene.check_leaks()
        if scene.faulty:
            scene.check_recovery()
        return outcome


def _staged(ground: Ground) -> None:
    ground.put("a", "a0")
    ground.commit("first")
    ground.put("a", "a1")


def _two_keys(ground: Ground) -> None:
    ground.put("a", "a0")
    ground.commit("first")
    ground.put("a", "a1")
    ground.put("b", "b1")


def _sealed(ground: Ground) -> None:
    _staged(ground)
    seal(ground.lake, ground.repository, MAIN)
    ground.put("b", "b1")


def grow(ground: Ground) -> None:
    """Make a branch side, and a commit on it that changes two keys."""
    ground.put("a", "a0")
    ground.commit("first")
    ground.branch("side", "first")
    ground.put("a", "a1", "side")
    ground.put("b", "b1", "side")
    ground.commit("feature", "side")


def _grown_and_sealed(ground: Ground) -> None:
    grow(ground)
    ground.put("a", "a0")  # as it is committed
    seal(ground.lake, ground.repository, MAIN)


def _undoable(ground: Ground) -> None:
    ground.put("a", "a0")
    ground.commit("first")
    ground.put("a", "a1")
    ground.commit("second")


def _noted(ground: Ground) -> None:
    _staged(ground)
    ground.commit("second")
    ground.put("b", "b1")


def _put_and_sealed(ground: Ground) -> None:
    ground.put("c", "c0")
    seal(ground.lake, ground.repository, MAIN)


EMPTY = Ground()
PUT_AND_SEALED = Ground(_put_and_sealed)
NOTED = Ground(_noted)
STAGED = Ground(_staged)
TWO_KEYS = Ground(_two_keys)
SEALED = Ground(_sealed)
FEATURE = Ground(grow)
FEATURE_BESIDE_SEALED = Ground(_grown_and_sealed)
UNDOABLE = Ground(_undoable)


class StalestReads(BranchReads):
    """A cache that never forgets: stories begin with the branch as it was at first (G13)."""

    def __init__(self, lake: Lake, ground: Ground) -> None:
        super().__init__(lake.store, lake.environment)
        self._first = ground

    def seen(self, repository: Repository, name: BranchName) -> BranchRead:
        return self._first.lake.branches.fresh(repository, name)


def commits(client: Mover) -> Sequence[Work]:
    return [client.commit()]


def writes(client: Mover) -> Sequence[Work]:
    return [client.put("a", "a2")]


def reads(client: Mover) -> Sequence[Work]:
    return [client.get("a")]


def deletes(client: Mover) -> Sequence[Work]:
    return [client.delete("a")]


def lists(client: Mover) -> Sequence[Work]:
    return [client.listing(1)]


def commits_and_cleans(client: Mover) -> Sequence[Work]:
    return [client.commit(), client.sweep()]


def writes_and_commits(client: Mover) -> Sequence[Work]:
    return [client.put("b", f"b-{client.name}"), client.commit()]


def puts_first(client: Mover) -> Sequence[Work]:
    return [client.put("c", f"c-{client.name}", condition=absent)]


def puts_over(client: Anyone) -> Sequence[Work]:
    return [client.put_over_what_it_reads("a", f"a-{client.name}")]


def merges(client: Mover) -> Sequence[Work]:
    return [client.merge("feature")]


def reverts(client: Mover) -> Sequence[Work]:
    return [client.revert("second")]


def cleans(client: Mover) -> Sequence[Work]:
    return [client.sweep()]


SCOPES: dict[str, Scope] = {
    "write, commit": Scope(STAGED, {"writer": writes, "committer": commits}),
    "write, commit, read": Scope(STAGED, {"writer": writes, "committer": commits, "reader": reads}),
    "delete, commit": Scope(STAGED, {"deleter": deletes, "committer": commits}),
    "delete, write, commit": Scope(
        STAGED, {"deleter": deletes, "writer": writes, "committer": commits}
    ),
    "read, commit and clean": Scope(
        STAGED, {"reader": reads, "committer": commits_and_cleans}, leaks=True
    ),
    "list, commit and clean": Scope(
        TWO_KEYS, {"lister": lists, "committer": commits_and_cleans}, leaks=True
    ),
    "list, write, delete": Scope(
        TWO_KEYS, {"lister": lists, "writer": writes, "deleter": lambda c: [c.delete("b")]}
    ),
    "two first puts": Scope(STAGED, {"one": puts_first, "two": puts_first}),
    "first put, commit and clean": Scope(
        STAGED, {"putter": puts_first, "committer": commits_and_cleans}, leaks=True
    ),
    "second put, commit and clean": Scope(
        PUT_AND_SEALED, {"putter": puts_first, "committer": commits_and_cleans}, leaks=True
    ),
    "first put, put over it, commit": Scope(
        STAGED, {"putter": puts_first, "writer": lambda c: [c.put("c", "c2")], "committer": commits}
    ),
    "two puts over one value, commit": Scope(
        STAGED, {"one": puts_over, "two": puts_over, "committer": commits}
    ),
    "two first puts, commit": Scope(
        STAGED, {"one": puts_first, "two": puts_first, "committer": commits}
    ),
    "two commits": Scope(STAGED, {"one": commits, "two": writes_and_commits}),
    "two commits, one cleans": Scope(
        STAGED, {"one": commits_and_cleans, "two": writes_and_commits}, leaks=True
    ),
    "two writers that commit": Scope(EMPTY, {"one": writes_and_commits, "two": writes_and_commits}),
    "write, two commits": Scope(STAGED, {"writer": writes, "one": commits, "two": commits}),
    "two commits, cleaner": Scope(
        STAGED, {"one": commits, "two": writes_and_commits, "cleaner": cleans}, leaks=True
    ),
    "three commits": Scope(STAGED, {"one": commits, "two": writes_and_commits, "three": commits}),
    "seal, write": Scope(STAGED, {"sealer": lambda c: [c.seal], "writer": writes}),
    "sealed before, commit, read": Scope(SEALED, {"committer": commits, "reader": reads}),
    "sealed before, merge, commit": Scope(
        SEALED, {"sealer": lambda c: [c.seal, c.commit()], "committer": commits}
    ),
    "merge, write": Scope(FEATURE, {"merger": merges, "writer": writes}),
    "merge, write and commit": Scope(FEATURE, {"merger": merges, "committer": writes_and_commits}),
    "merge, two writers that commit": Scope(
        FEATURE,
        {
            "merger": lambda c: [c.merge("feature", dirty=True)],
            "one": lambda c: [c.put("c", "c1"), c.commit()],
            "two": lambda c: [c.put("c", "c2"), c.commit()],
        },
    ),
    "a delete of nothing, then a merge that brings the key": Scope(
        FEATURE,
        {"one": lambda c: [c.delete("b"), c.merge("feature"), c.get("b")], "reader": reads},
    ),
    "the committed object once more, then a merge that changes it": Scope(
        FEATURE,
        {
            "one": lambda c: [c.put("a", "a0"), c.merge("feature"), c.get("a"), c.commit()],
            "writer": lambda c: [c.put("c", "c1")],
        },
    ),
    "the committed object once more, then a revert": Scope(
        UNDOABLE,
        {"one": lambda c: [c.put("a", "a1"), c.revert("second"), c.get("a")], "reader": reads},
    ),
    "merge, list": Scope(FEATURE, {"merger": merges, "lister": lambda c: [c.listing()]}),
    "two merges": Scope(FEATURE, {"one": merges, "two": merges}),
    "merge, commit on its source": Scope(
        FEATURE,
        {"merger": merges, "committer": lambda c: [c.put("c", "c1", "side"), c.commit("side")]},
    ),
    "revert, write and commit": Scope(
        UNDOABLE, {"reverter": reverts, "committer": writes_and_commits}
    ),
    "revert, write": Scope(UNDOABLE, {"reverter": reverts, "writer": writes}),
    "end of a branch, write": Scope(
        FEATURE,
        {
            "ender": lambda c: [c.delete_branch("side")],
            "writer": lambda c: [c.put("a", "a2", "side")],
        },
        leaks=True,
    ),
    "end of a branch, commit": Scope(
        FEATURE,
        {
            "ender": lambda c: [c.delete_branch("side")],
            "committer": lambda c: [c.put("a", "a2", "side"), c.commit("side")],
        },
        leaks=True,
    ),
    "end and new beginning of a branch, write": Scope(
        FEATURE,
        {
            "ender": lambda c: [c.delete_branch("side"), c.create_branch("side", "first")],
            "writer": lambda c: [c.put("a", "a2", "side")],
        },
        leaks=True,
    ),
    "two ends, a new beginning": Scope(
        FEATURE,
        {
            "one": lambda c: [
                c.delete_branch("side"),
                c.create_branch("side", "first"),
                c.put("b", "b2", "side"),
            ],
            "two": lambda c: [c.delete_branch("side")],
        },
        leaks=True,
    ),
    "two beginnings of a branch": Scope(
        FEATURE,
        {
            "one": lambda c: [c.create_branch("new", "first")],
            "two": lambda c: [c.create_branch("new", "feature")],
        },
    ),
    "commit, look back, clean": Scope(
        STAGED,
        {"committer": commits_and_cleans, "historian": lambda c: [c.look_back("first", "a")]},
    ),
    "end of a branch, look back": Scope(
        FEATURE,
        {
            "ender": lambda c: [c.delete_branch("side"), c.sweep()],
            "historian": lambda c: [c.look_back("feature", "b")],
        },
    ),
    "two cleaners": Scope(
        NOTED,
        {
            "one": lambda c: [c.sweep(2, grace_s=0)],
            "two": lambda c: [c.sweep(2, grace_s=0)],
        },
        leaks=True,
    ),
    "two cleaners, commit": Scope(
        STAGED, {"committer": commits, "one": cleans, "two": cleans}, leaks=True
    ),
    "commit with objects, write": Scope(
        STAGED, {"committer": commits, "writer": writes}, objects=True
    ),
    "two commits with objects": Scope(
        STAGED, {"one": commits, "two": writes_and_commits}, objects=True
    ),
    "compact, write": Scope(STAGED, {"compactor": lambda c: [c.compact], "writer": writes}),
    "compact and clean, read": Scope(
        STAGED, {"compactor": lambda c: [c.compact, c.sweep()], "reader": reads}, leaks=True
    ),
    "compact, commit": Scope(STAGED, {"compactor": lambda c: [c.compact], "committer": commits}),
    "compact, commit, write": Scope(
        STAGED, {"compactor": lambda c: [c.compact], "committer": commits, "writer": writes}
    ),
    "two compactions": Scope(
        TWO_KEYS, {"one": lambda c: [c.compact], "two": lambda c: [c.put("b", "b2"), c.compact]}
    ),
    "compact, merge": Scope(
        FEATURE,
        {"compactor": lambda c: [c.put("c", "c1"), c.compact], "merger": merges},
    ),
    "two commits in one server": Scope(
        STAGED, {"one": commits, "two": commits}, shared=frozenset({"one", "two"})
    ),
    "two writers in one server, commit": Scope(
        STAGED,
        {
            "one": writes,
            "two": lambda c: [c.put("b", "b2")],
            "committer": commits,
        },
        shared=frozenset({"one", "two"}),
    ),
    "stale write, commit": Scope(
        STAGED, {"writer": writes, "committer": commits}, reads=StalestReads
    ),
    "stale read, commit and clean": Scope(
        STAGED, {"reader": reads, "committer": commits_and_cleans}, reads=StalestReads
    ),
    "stale first put, commit": Scope(
        STAGED, {"putter": puts_first, "committer": commits_and_cleans}, reads=StalestReads
    ),
}
