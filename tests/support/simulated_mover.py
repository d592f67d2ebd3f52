# SPDX-License-Identifier: Apache-2.0
"""A client that moves branches in a simulated lake: all stories but those of objects and commits.

a merge or revert     is a write of each key that it brings
a reset               is a write of what the head, or the target, holds
the end of a branch   is a delete of all its keys, its making a write of all keys of its commit
"""

from collections.abc import Callable, Iterable, Mapping

from lochan.model.ids import BranchName, ObjectKey
from lochan.model.records import BranchProtectionRule, Commit
from lochan.operations.branches import create_branch, delete_branch
from lochan.operations.compact import compact
from lochan.operations.hard_reset import hard_reset
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.protection import set_branch_protection
from lochan.operations.reset import reset, reset_object
from lochan.operations.seal import seal
from lochan.operations.transplant import TransplantRequest, cherry_pick, revert
from lochan.testing.simulation.history import Kind
from support.lakes import MAIN
from support.simulated_client import KEYS, Client, Work
from support.simulated_ground import SNAPSHOTS


class Mover(Client):
    """A caller that does more to a branch than to write and commit."""

    def merge(self, source: str, branch: str = MAIN, *, dirty: bool = False) -> Work:
        """Merge a commit of the ground; what it brings is what differs from its parent."""
        found = self.scene.ground.commits[source]
        return self._moves(
            branch,
            self.scene.ground.changes(source),
            lambda: merge(
                *self._where,
                BranchName(branch),
                found,
                MergeRequest(self.name, self._request(), allow_dirty=dirty),
            ),
        )

    def revert(self, undone: str, branch: str = MAIN) -> Work:
        """Undo a commit of the ground."""
        found = self.scene.ground.commits[undone]
        request = TransplantRequest(self.name, f"{self._request()} reverts {undone}")
        return self._moves(
            branch,
            self.scene.ground.changes(undone, back=True),
            lambda: revert(*self._where, BranchName(branch), found, request),
        )

    def cherry_pick(self, picked: str, branch: str = MAIN) -> Work:
        """Do again what a commit of the ground did."""
        found = self.scene.ground.commits[picked]
        request = TransplantRequest(self.name, f"{self._request()} picks {picked}")
        return self._moves(
            branch,
            self.scene.ground.changes(picked),
            lambda: cherry_pick(*self._where, BranchName(branch), found, request),
        )

    def hard_reset(self, target: str) -> Work:
        """Make a commit of the ground the head of main, if nothing is uncommitted there."""
        found = self.scene.ground.commits[target]
        tree = SNAPSHOTS.tree(found.meta_range_id)

        def work() -> None:
            self.scene.reset.add(MAIN)
            self.scene.sealed = True  # it seals first, and may find changes then
            hard_reset(*self._where, MAIN, found)

        return self._writes({f"{MAIN}:{key}": tree.get(key) for key in KEYS}, work)

    def _moves(
        self, branch: str, changes: Mapping[str, str | None], move: Callable[[], Commit]
    ) -> Work:
        def work() -> None:
            made = move()
            self.scene.acknowledged.append((BranchName(branch), made.id))
            self.scene.brought += [(f"{branch}:{k}", v) for k, v in changes.items() if v]

        return self._writes({f"{branch}:{k}": v for k, v in changes.items()}, work)

    def protect(self) -> None:
        """Forbid writes and commits to main: whoever begins after that is refused."""
        history = self.scene.history
        operation = history.invoke(Kind.WRITE)
        history.operations.remove(operation)  # no key was written
        self.scene.rules.append(operation)
        self.scene.sealed = True  # by a commit that was refused when it had sealed

        def work() -> None:
            set_branch_protection(*self._where, [BranchProtectionRule(MAIN)])
            history.respond(operation)

        self._told(work)

    def seal(self) -> None:
        """Seal and stop there, as a committer that is never seen again."""
        self.scene.sealed = True
        self._told(lambda: seal(*self._where, MAIN))

    def compact(self) -> None:
        """Write what is staged out into a tree; nothing that is shown changes."""
        self._told(lambda: compact(*self._where, MAIN))

    def reset(self) -> None:
        """Forget what is staged."""
        self._resets(MAIN, KEYS, lambda: reset(*self._where, MAIN))()

    def reset_key(self, key: str) -> Work:
        """Forget what is staged for one key; its rows stay, under a token that is sealed."""
        object_key = ObjectKey(key.encode())

        def forget() -> None:
            self.scene.sealed = True
            reset_object(*self._where, MAIN, object_key)

        return self._resets(MAIN, key, forget)

    def _resets(self, branch: str, keys: Iterable[str], work: Work) -> Work:
        """Note a write of what each head of that time held (`support.simulated_heads`)."""
        names = [f"{branch}:{key}" for key in keys]

        def call() -> None:
            with self.scene.history.call(Kind.WRITE) as operation:
                self.scene.forget(operation, BranchName(branch), names)
                work()

        return lambda: self._told(call)

    def create_branch(self, name: str, commit: str) -> Work:
        head = self.scene.ground.commits[commit]
        changes = self.scene.tree(name, head)
        return self._writes(
            dict(changes), lambda: create_branch(*self._where, BranchName(name), head.id)
        )

    def delete_branch(self, name: str) -> Work:
        keys = [f"{name}:{key}" for key in KEYS]

        def work() -> None:
            self.scene.reset.add(BranchName(name))
            delete_branch(*self._where, BranchName(name))

        return self._writes(dict.fromkeys(keys), work)
