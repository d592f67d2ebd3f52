# SPDX-License-Identifier: Apache-2.0
"""Rules of the lake's machine: commits that are started and finished, files that grow."""

from dataclasses import dataclass, field
from typing import NamedTuple

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from lochan.errors import Conflict, NotFound
from lochan.model.clock import own
from lochan.model.ids import BranchName, CommitId, LineageId, ObjectKey, OpenCommitId
from lochan.model.records import Clock, Slot
from lochan.operations.allowed import Action
from lochan.operations.open_commits.cancel_commit import cancel_commit
from lochan.operations.open_commits.delete_file import delete_file
from lochan.operations.open_commits.finish_commit import finish_commit
from lochan.operations.open_commits.inspect_file import get_file
from lochan.operations.open_commits.put_file import Mode, put_file
from lochan.operations.open_commits.start_commit import start_commit
from support.lake_model import ModelBranch, Tree, Value, under
from support.lake_moves import TestLakeMoves, names
from support.lake_writes import bodies, keys, numbers

BLOCK_BYTES = 2
NOWHERE = Clock(LineageId(""), 0)  # the epoch of a file whose commit is not finished


class Doing(NamedTuple):
    """What an open commit does to a path: what was there goes first, or not; then these come."""

    anew: bool
    pieces: tuple[bytes, ...]


@dataclass(slots=True)
class ModelOpen:
    """A started commit: where it goes, what it was started on, and its own changes."""

    branch: BranchName
    slot: Slot
    parent: CommitId
    doing: dict[bytes, Doing] = field(default_factory=dict)

    def over(self, tree: Tree, epoch: Clock) -> Tree:
        """Put the changes over a tree."""
        result = dict(tree)
        for key, (anew, pieces) in self.doing.items():
            kept = None if anew else tree.get(key)
            if not pieces:
                result.pop(key, None)
            elif kept is None:
                result[key] = Value(pieces, epoch)
            else:
                result[key] = Value((*kept.pieces, *pieces), kept.epoch or epoch)
        return result


class Lakes(TestLakeMoves):
    """The verbs of started commits; with all other rules, the whole machine."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: dict[OpenCommitId, ModelOpen] = {}

    def pick_open(self, number: int) -> OpenCommitId | None:
        ids = sorted(self.opened)
        return ids[number % len(ids)] if ids else None

    @rule(branch=numbers, exactly=st.booleans())
    def start_commit(self, branch: int, *, exactly: bool) -> None:
        """Start a commit behind whatever the head will be, or exactly behind what it is."""
        name = self.pick_branch(branch)
        parent = self.model.branches[name].head
        behind = parent if exactly else None
        if self.refused(name, Action.COMMIT, lambda: start_commit(*self.where, behind, name)):
            return
        opened = start_commit(*self.where, behind, name)
        assert opened.slot is (Slot.CONTINUES if exactly else Slot.FOLLOWS)
        self.opened[opened.id] = ModelOpen(name, opened.slot, parent)

    @rule(branch=numbers, content=st.dictionaries(keys, bodies, min_size=1, max_size=3))
    def append_to_files(self, branch: int, content: dict[ObjectKey, bytes]) -> None:
        """Start a commit, put files and finish it: what is done most."""
        before = set(self.opened)
        self.start_commit(branch, exactly=False)
        for name in self.opened.keys() - before:
            number = sorted(self.opened).index(name)
            for key, body in content.items():
                self.put_file(number, key, body, Mode.APPEND)
            self.finish_commit(number)

    @rule(name=names, parent=numbers)
    def start_branch(self, name: BranchName, parent: int) -> None:
        behind = self.pick_commit(parent).id
        if name in self.model.branches or self.is_blocked(name, Action.COMMIT):
            return
        opened = start_commit(*self.where, behind, name)
        self.opened[opened.id] = ModelOpen(name, Slot.BEGINS, behind)

    @rule(number=numbers, key=keys, body=bodies, mode=st.sampled_from(Mode))
    def put_file(self, number: int, key: ObjectKey, body: bytes, mode: Mode) -> None:
        name = self.pick_open(number)
        if name is None:
            return
        put_file(*self.where, name, key, body, mode=mode, block_bytes=BLOCK_BYTES)
        cut = tuple(body[at : at + BLOCK_BYTES] for at in range(0, len(body), BLOCK_BYTES))
        doing = self.opened[name].doing
        before = doing.get(key, Doing(anew=False, pieces=()))
        if mode is Mode.OVERWRITE:
            before = Doing(anew=True, pieces=())
        doing[key] = Doing(before.anew, (*before.pieces, *cut))
        self.read_file(number, key)

    @rule(number=numbers, path=st.one_of(keys, st.sampled_from([b"d", b"d/e"])))
    def delete_file(self, number: int, path: bytes) -> None:
        name = self.pick_open(number)
        if name is None:
            return
        opened = self.opened[name]
        shown = opened.over(self.model.tree(opened.parent), NOWHERE)
        delete_file(*self.where, name, path)
        for key in (path, *under(shown, path + b"/")):
            opened.doing[key] = Doing(anew=True, pieces=())

    def read_file(self, number: int, key: ObjectKey) -> None:
        name = self.pick_open(number)
        if name is None:
            return
        opened = self.opened[name]
        value = opened.over(self.model.tree(opened.parent), NOWHERE).get(key)
        if value is None:
            with pytest.raises(NotFound):
                get_file(*self.where, key, name)
            return
        with get_file(*self.where, key, name) as reading:
            assert reading.read() == value.body

    @rule(number=numbers)
    def finish_commit(self, number: int) -> None:
        name = self.pick_open(number)
        if name is None:
            return
        opened = self.opened[name]
        branch = self.model.branches.get(opened.branch)
        if self.is_blocked(opened.branch, Action.COMMIT):
            return
        if branch is None and opened.slot is not Slot.BEGINS:
            with pytest.raises(NotFound):
                finish_commit(*self.where, name)
            return
        del self.opened[name]
        if self.is_taken(opened, branch):
            with pytest.raises(Conflict, match=r"head|meanwhile"):
                finish_commit(*self.where, name)
            return
        self.finish(name, opened)

    @rule(number=numbers)
    def cancel_commit(self, number: int) -> None:
        name = self.pick_open(number)
        if name is not None:
            cancel_commit(*self.where, name)
            del self.opened[name]
            with pytest.raises(Conflict, match="failed"):
                put_file(*self.where, name, b"a", b"late")

    @rule()
    def dump_and_go_on_elsewhere(self) -> None:
        super().dump_and_go_on_elsewhere()
        self.opened = {}

    def is_taken(self, opened: ModelOpen, branch: ModelBranch | None) -> bool:
        """Say whether somebody else has the place that a commit was to have."""
        if branch is None or opened.slot is Slot.FOLLOWS:
            return False
        if opened.slot is Slot.BEGINS:
            return True
        return branch.head != opened.parent

    def finish(self, name: OpenCommitId, opened: ModelOpen) -> None:
        made = finish_commit(*self.where, name)
        if opened.branch not in self.model.branches:
            tree = opened.over(self.model.tree(opened.parent), own(made))
            self.keep(made, tree, opened.parent)
            self.model.branches[opened.branch] = ModelBranch(made.id)
            return
        tree = opened.over(self.model.head_tree(opened.branch), own(made))
        self.land(opened.branch, made, tree)
