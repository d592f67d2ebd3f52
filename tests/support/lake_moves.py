# SPDX-License-Identifier: Apache-2.0
"""Rules of the lake's machine: branches, commits, merges, tags, and what looks after a lake."""

from collections.abc import Callable

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from lochan.errors import AlreadyExists, InvalidInput, NotFound, Refused
from lochan.model.ids import BranchName, CommitId, ObjectKey, RepositoryId, TagName
from lochan.model.instant import Instant
from lochan.model.records import BlockedAction, BranchProtectionRule, Commit
from lochan.operations.allowed import Action
from lochan.operations.branches import create_branch, delete_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.compact import compact
from lochan.operations.dump_refs import dump_refs
from lochan.operations.hard_reset import hard_reset
from lochan.operations.import_objects import ImportRequest, ListedObject, import_objects
from lochan.operations.merge import MergeConflict, MergeRequest, merge
from lochan.operations.protection import set_branch_protection
from lochan.operations.reset import reset
from lochan.operations.restore_refs import restore_refs
from lochan.operations.seal import seal
from lochan.operations.tags import create_tag, delete_tag
from lochan.operations.transplant import TransplantRequest, cherry_pick, revert
from lochan.refs.creation import create_bare_repository
from lochan.refs.deletion import delete_repository
from support.lake_model import (
    ModelBranch,
    Tree,
    e_tag,
    merged,
    overlaid,
    plain,
    under,
)
from support.lake_writes import TestLakeWrites, bodies, keys, numbers, prefixes
from support.lakes import MAIN, Stage

DEV = BranchName("dev")
names = st.sampled_from([DEV, BranchName("fix")])
contents = st.dictionaries(keys, bodies, min_size=1, max_size=4)
tag_names = st.sampled_from(["v1", "v2"]).map(TagName)
strategies = st.sampled_from(["", "", "source-wins", "dest-wins"])
blocks = st.sampled_from([(), (), *((action,) for action in BlockedAction), tuple(BlockedAction)])


class TestLakeMoves(TestLakeWrites):
    """What moves branches, and names that come and go."""

    @initialize(first=contents, second=contents, third=contents)
    def begin_with_history(
        self,
        first: dict[ObjectKey, bytes],
        second: dict[ObjectKey, bytes],
        third: dict[ObjectKey, bytes],
    ) -> None:
        """Begin with two branches that have parted: a lake without history shows little."""
        for name, content in ((MAIN, first), (DEV, second), (MAIN, third)):
            if name not in self.model.branches:
                self.create_branch(name, 0)
            self.put_and_commit(sorted(self.model.branches).index(name), content)

    @rule(branch=numbers, content=contents)
    def put_and_commit(self, branch: int, content: dict[ObjectKey, bytes]) -> None:
        """Do what is done most; drawn step by step it would be rare."""
        for key, body in content.items():
            self.put(branch, key, body)
        self.commit(branch, empty=False)

    @rule(name=names, source=numbers)
    def create_branch(self, name: BranchName, source: int) -> None:
        head = self.pick_commit(source).id
        if name in self.model.branches:
            with pytest.raises(AlreadyExists):
                create_branch(*self.where, name, head)
            return
        create_branch(*self.where, name, head)
        self.model.branches[name] = ModelBranch(head)

    @rule(branch=numbers)
    def delete_branch(self, branch: int) -> None:
        name = self.pick_branch(branch)
        if self.refused(name, Action.DELETE, lambda: delete_branch(*self.where, name)):
            return
        if name == MAIN:
            with pytest.raises(Refused, match="default branch"):
                delete_branch(*self.where, name)
            return
        delete_branch(*self.where, name)
        del self.model.branches[name]

    @rule(name=tag_names, source=numbers, delete=st.booleans())
    def tag(self, name: TagName, source: int, *, delete: bool) -> None:
        if delete:
            self.delete_tag(name)
        else:
            self.create_tag(name, source)

    def create_tag(self, name: TagName, source: int) -> None:
        target = self.pick_commit(source)
        if name in self.model.tags:
            with pytest.raises(AlreadyExists):
                create_tag(*self.where, name, target)
            return
        create_tag(*self.where, name, target)
        self.model.tags[name] = target.id

    def delete_tag(self, name: TagName) -> None:
        if name not in self.model.tags:
            with pytest.raises(NotFound):
                delete_tag(*self.where, name)
            return
        delete_tag(*self.where, name)
        del self.model.tags[name]

    @rule(branch=numbers, empty=st.booleans())
    def commit(self, branch: int, *, empty: bool) -> None:
        name, request = self.pick_branch(branch), CommitRequest("ada", "x", allow_empty=empty)
        if self.refused(name, Action.COMMIT, lambda: commit(*self.where, name, request)):
            return
        found, tree = self.model.branches[name], self.model.shown(name)
        may_fail = tree == self.model.head_tree(name) and not empty
        made = self.changing(name, lambda: commit(*self.where, name, request), may_fail=may_fail)
        if made is not None:
            self.keep(made, tree, found.head)
            found.head = made.id
        found.drop()

    @rule(
        branch=numbers,
        source=numbers,
        strategy=strategies,
        squash=st.booleans(),
        dirty=st.booleans(),
        empty=st.booleans(),
    )
    def merge(
        self, branch: int, source: int, strategy: str, *, squash: bool, dirty: bool, empty: bool
    ) -> None:
        name, theirs = self.pick_branch(branch), self.pick_commit(source)
        request = MergeRequest(
            "ada", strategy=strategy, squash=squash, allow_empty=empty, allow_dirty=dirty
        )

        def act() -> Commit:
            return merge(*self.where, name, theirs, request)

        if not dirty and not self.is_settled(name, act):
            return
        dest = self.model.branches[name]
        base = self.kinship.merge_base(self.record_of(dest.head), theirs)
        assert base is not None
        assert base.id in self.model.best_common(dest.head, theirs.id)
        sides = (self.model.tree(base.id), self.model.head_tree(name), self.model.tree(theirs.id))
        tree, conflicts = merged(*sides, strategy)
        made: Commit | None = None
        if base.id == theirs.id and not empty:
            with pytest.raises(InvalidInput, match="holds"):
                act()
        elif conflicts and not strategy:
            with pytest.raises(MergeConflict) as raised:
                act()
            assert [conflict.key for conflict in raised.value.keys] == conflicts
        else:
            made = act()
        self.land(name, made, tree, *([] if squash else [theirs]))

    @rule(branch=numbers, source=numbers, content=contents, strategy=strategies)
    def commit_and_merge(
        self, branch: int, source: int, content: dict[ObjectKey, bytes], strategy: str
    ) -> None:
        """Let a branch go on, and bring it together with another."""
        self.put_and_commit(source, content)
        head = 2 * source + 1
        self.merge(branch, head, strategy, squash=False, dirty=False, empty=False)

    @rule(branch=numbers, undone=numbers, parent=st.integers(0, 2), strategy=strategies)
    def revert(self, branch: int, undone: int, parent: int, strategy: str) -> None:
        name, target = self.pick_branch(branch), self.pick_commit(undone)
        request = TransplantRequest("ada", parent_number=parent, strategy=strategy)
        other = self.parent_of(target, parent)
        sides = None if other is None else (self.model.tree(target.id), self.model.tree(other))
        self.transplant(
            name, Action.REVERT, sides, strategy, lambda: revert(*self.where, name, target, request)
        )

    @rule(branch=numbers, picked=numbers, parent=st.integers(0, 2), strategy=strategies)
    def cherry_pick(self, branch: int, picked: int, parent: int, strategy: str) -> None:
        name, target = self.pick_branch(branch), self.pick_commit(picked)
        request = TransplantRequest("ada", parent_number=parent, strategy=strategy)
        other = self.parent_of(target, parent)
        sides = None if other is None else (self.model.tree(other), self.model.tree(target.id))

        def act() -> Commit:
            return cherry_pick(*self.where, name, target, request)

        self.transplant(name, Action.CHERRY_PICK, sides, strategy, act)

    @rule(branch=numbers, prefix=prefixes, key=keys, how=st.sampled_from(["all", "some", "one"]))
    def forget(self, branch: int, prefix: bytes, key: ObjectKey, how: str) -> None:
        if how == "all":
            self.reset(branch)
        elif how == "some":
            self.reset_prefix(branch, prefix)
        else:
            self.reset_object(branch, key)

    def reset(self, branch: int) -> None:
        name = self.pick_branch(branch)
        if not self.refused(name, Action.RESET, lambda: reset(*self.where, name)):
            reset(*self.where, name)
            self.model.branches[name].drop()

    @rule(branch=numbers, wanted=numbers, force=st.booleans())
    def hard_reset(self, branch: int, wanted: int, *, force: bool) -> None:
        name, target = self.pick_branch(branch), self.pick_commit(wanted)

        def act() -> object:
            return hard_reset(*self.where, name, target, force=force)

        if self.refused(name, Action.HARD_RESET, act):
            return
        if not force and not self.is_settled(name, act):
            return
        act()
        self.model.branches[name] = ModelBranch(target.id)

    @rule(
        branch=numbers,
        listed=st.dictionaries(keys, bodies, min_size=1, max_size=3),
        replaced=st.lists(prefixes, max_size=1),
    )
    def import_objects(
        self, branch: int, listed: dict[bytes, bytes], replaced: list[bytes]
    ) -> None:
        name, objects = self.pick_branch(branch), []
        for key, body in listed.items():
            self.stage.storage.objects.put(f"elsewhere/{body.decode()}", body)
            address = f"mem://far/elsewhere/{body.decode()}"
            objects.append(ListedObject(key, address, len(body), e_tag(body), Instant(1)))
        request = ImportRequest("ada", replaced=replaced)

        def act() -> Commit:
            return import_objects(*self.where, name, objects, request)

        if self.refused(name, Action.IMPORT, act) or not self.is_settled(name, act):
            return
        kept = dict(self.model.head_tree(name))
        for key in [key for prefix in replaced for key in under(kept, prefix)]:
            kept.pop(key, None)
        tree = overlaid(kept, {key: plain(body) for key, body in listed.items()})
        made = self.changing(name, act, may_fail=tree == self.model.head_tree(name), moved=True)
        self.land(name, made, tree)

    @rule(branch=numbers, content=contents, gone=keys, how=st.sampled_from(["seal", "compact"]))
    def add_a_layer(
        self, branch: int, content: dict[ObjectKey, bytes], gone: ObjectKey, how: str
    ) -> None:
        """Put rows between the commit and what will be staged."""
        for key, body in content.items():
            self.put(branch, key, body)
        self.delete(branch, [gone])
        self.seal(branch)
        if how == "compact":
            self.compact(branch)

    def seal(self, branch: int) -> None:
        """Begin a commit and die."""
        name = self.pick_branch(branch)
        seal(*self.where, name)

    def compact(self, branch: int) -> None:
        name = self.pick_branch(branch)
        compact(*self.where, name)
        self.model.compact(name)

    @rule(sweeps=st.booleans())
    def restart(self, *, sweeps: bool) -> None:
        self.open_again()
        if sweeps:
            self.clean()

    @rule(pattern=st.sampled_from(["dev", "f*"]), actions=blocks)
    def protect(self, pattern: str, actions: tuple[BlockedAction, ...]) -> None:
        rules = [BranchProtectionRule(pattern, actions)] if actions else []
        set_branch_protection(*self.where, rules)
        self.protected = {pattern: frozenset(actions)} if actions else {}

    @rule()
    def dump_and_go_on_elsewhere(self) -> None:
        """Restore a dump into a bare repository, delete the old one, and work there from now on."""
        old, dump = self.stage.repository, dump_refs(*self.where)
        name = RepositoryId(f"restored-{next(self.numbers)}")
        place = (name, old.storage_namespace, MAIN)
        bare = create_bare_repository(self.store, self.world, *place)
        restore_refs(self.lake, bare, dump)
        assert dump_refs(self.lake, bare) == dump
        delete_repository(self.store, self.world, old.repository_id)
        self.stage = Stage(self.lake, bare, self.stage.storage)
        self.protected = {}
        for branch in self.model.branches.values():
            branch.drop()

    # What several rules share.

    def is_settled(self, name: BranchName, act: Callable[[], object]) -> bool:
        """See that a dirty branch is refused; a clean one may have rows that change nothing."""
        if not self.model.is_dirty(name):
            return True
        with pytest.raises((InvalidInput, Refused), match=r"uncommitted|protected"):
            act()
        return False

    def land(self, name: BranchName, made: Commit | None, tree: Tree, *sources: Commit) -> None:
        """Note the commit that a move has made, if any; what was not committed is carried along."""
        if made is not None:
            self.keep(made, tree, self.model.branches[name].head, *(each.id for each in sources))
            self.model.advance(name, made.id, tree)

    def parent_of(self, target: Commit, number: int) -> CommitId | None:
        parents = target.parents
        if not parents or number > len(parents) or (number == 0 and len(parents) > 1):
            return None
        return parents[max(0, number - 1)]

    def transplant(
        self,
        name: BranchName,
        action: Action,
        sides: tuple[Tree, Tree] | None,
        strategy: str,
        act: Callable[[], Commit],
    ) -> None:
        if sides is None:
            with pytest.raises(InvalidInput, match="parent"):
                act()
            return
        if not self.is_settled(name, act) or self.refused(name, action, act):
            return
        base, source = sides
        tree, conflicts = merged(base, self.model.head_tree(name), source, strategy)
        made: Commit | None = None
        if conflicts and not strategy:
            with pytest.raises(MergeConflict):
                act()
        else:
            same = tree == self.model.head_tree(name)
            made = self.changing(name, act, may_fail=same, moved=True)
        self.land(name, made, tree)

    def changing(
        self, name: BranchName, act: Callable[[], Commit], *, may_fail: bool, moved: bool = False
    ) -> Commit | None:
        """Do what makes a commit; where nothing differs it is refused.

        Unless objects of the same content have moved, by an import or by a compaction.
        """
        moved = moved or self.model.branches[name].compacted
        before = self.head(name).meta_range_id
        try:
            made = act()
        except InvalidInput as error:
            if error.code != "no-changes" or not may_fail:
                raise
            return None
        assert not may_fail or (moved and made.meta_range_id != before)
        return made
