# SPDX-License-Identifier: Apache-2.0
"""Rules of the lake's machine: objects of branches, written and read in every way."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from lochan.committed.listing import Prefix
from lochan.errors import AlreadyExists, InvalidInput, NotFound, PredicateFailed
from lochan.kernel.records import Record
from lochan.model.changes import Change
from lochan.model.ids import ObjectKey
from lochan.operations.allowed import Action
from lochan.operations.conditions import if_absent, if_match
from lochan.operations.copy_object import Source, copy_object
from lochan.operations.delete_objects import delete_objects, delete_prefix
from lochan.operations.diff import (
    PageRequest,
    diff_three_dot,
    diff_two_dot,
    diff_uncommitted,
)
from lochan.operations.link_object import Uploaded, link_object, new_address
from lochan.operations.list_objects import list_objects
from lochan.operations.put_object import put_object
from lochan.operations.read_object import get_object, stat_object
from lochan.operations.rename_prefix import rename_prefix
from lochan.operations.reset import reset_object, reset_prefix
from support.lake_ground import TestLakeGround
from support.lake_model import differing, e_tag, facts, facts_of, plain, under

KEYS = [b"a", b"b", b"d/a", b"d/b", b"d/e/a", b"d/e/b", b"e/a", b"e/b"]
PREFIXES = [b"", b"a", b"d/", b"d/e/", b"e/"]
FOLDERS = [b"d/", b"d/e/", b"e/", b"f/"]

numbers = st.integers(0, 60)
keys = st.sampled_from(KEYS).map(ObjectKey)
bodies = st.sampled_from([b"1", b"22", b"333"])
prefixes = st.sampled_from(PREFIXES)
folders = st.sampled_from(FOLDERS)


def listing_of(tree: dict[bytes, object], prefix: bytes, delimiter: bytes) -> list[bytes]:
    """List keys and common prefixes."""
    items: list[bytes] = []
    for key in under(tree, prefix):
        hidden = key.find(delimiter, len(prefix)) if delimiter else -1
        item = key if hidden < 0 else key[: hidden + 1]
        if item not in items:
            items.append(item)
    return items


class TestLakeWrites(TestLakeGround):
    """What users do to objects."""

    @rule(branch=numbers, key=keys, body=bodies)
    def put(self, branch: int, key: ObjectKey, body: bytes) -> None:
        name = self.pick_branch(branch)
        if not self.refused(name, Action.WRITE, lambda: put_object(*self.where, name, key, body)):
            put_object(*self.where, name, key, body)
            self.model.branches[name].rows[key] = plain(body)

    @rule(branch=numbers, key=keys, body=bodies)
    def put_where_nothing_is(self, branch: int, key: ObjectKey, body: bytes) -> None:
        name = self.pick_branch(branch)
        if self.is_blocked(name, Action.WRITE):
            return
        if key in self.model.shown(name):
            with pytest.raises(PredicateFailed):
                put_object(*self.where, name, key, body, condition=if_absent)
            return
        put_object(*self.where, name, key, body, condition=if_absent)
        self.model.branches[name].rows[key] = plain(body)

    @rule(branch=numbers, key=keys, body=bodies, known=bodies)
    def put_over_what_is_known(
        self, branch: int, key: ObjectKey, body: bytes, known: bytes
    ) -> None:
        name, condition = self.pick_branch(branch), if_match(e_tag(known))
        if self.is_blocked(name, Action.WRITE):
            return
        if self.model.shown(name).get(key) != plain(known):
            with pytest.raises(PredicateFailed):
                put_object(*self.where, name, key, body, condition=condition)
            return
        put_object(*self.where, name, key, body, condition=condition)
        self.model.branches[name].rows[key] = plain(body)

    @rule(branch=numbers, some=st.lists(keys, min_size=1, max_size=3))
    def delete(self, branch: int, some: list[ObjectKey]) -> None:
        name = self.pick_branch(branch)
        if not self.refused(name, Action.WRITE, lambda: delete_objects(*self.where, name, some)):
            delete_objects(*self.where, name, some)
            self.model.branches[name].rows |= dict.fromkeys(some)

    @rule(branch=numbers, prefix=prefixes)
    def delete_prefix(self, branch: int, prefix: bytes) -> None:
        name = self.pick_branch(branch)
        if self.is_blocked(name, Action.WRITE):
            return
        gone = under(self.model.shown(name), prefix)
        assert delete_prefix(*self.where, name, prefix) == len(gone)
        self.model.branches[name].rows |= dict.fromkeys(gone)

    @rule(branch=numbers, key=keys, ref=numbers, source=keys)
    def copy(self, branch: int, key: ObjectKey, ref: int, source: ObjectKey) -> None:
        name, found = self.pick_branch(branch), self.pick_ref(ref)
        value = self.model.refs()[found].get(source)
        if self.is_blocked(name, Action.WRITE):
            return
        if value is None:
            with pytest.raises(NotFound):
                copy_object(*self.where, name, key, Source(found, source))
            return
        copy_object(*self.where, name, key, Source(found, source))
        self.model.branches[name].rows[key] = value

    @rule(branch=numbers, source=folders, destination=folders, overwrite=st.booleans())
    def rename(self, branch: int, source: bytes, destination: bytes, *, overwrite: bool) -> None:
        name = self.pick_branch(branch)
        if self.is_blocked(name, Action.WRITE):
            return
        tree, rows = self.model.shown(name), self.model.branches[name].rows
        if source.startswith(destination) or destination.startswith(source):
            with pytest.raises(InvalidInput, match="overlap"):
                rename_prefix(*self.where, name, source, destination, overwrite=overwrite)
            return
        if under(tree, destination) and not overwrite:
            with pytest.raises(AlreadyExists):
                rename_prefix(*self.where, name, source, destination)
            return
        moved = under(tree, source)
        found = rename_prefix(*self.where, name, source, destination, overwrite=overwrite)
        assert found == len(moved)
        for key in moved:
            rows[destination + key.removeprefix(source)] = tree[key]
        rows |= dict.fromkeys(moved)

    @rule(branch=numbers, key=keys, body=bodies)
    def link(self, branch: int, key: ObjectKey, body: bytes) -> None:
        name = self.pick_branch(branch)
        if self.is_blocked(name, Action.WRITE):
            return
        address = new_address(*self.where, name, key).address
        self.stage.storage.objects.put(address, body)
        link_object(*self.where, name, key, Uploaded(address, len(body), e_tag(body)))
        self.model.branches[name].rows[key] = plain(body)

    def reset_prefix(self, branch: int, prefix: bytes) -> None:
        name = self.pick_branch(branch)
        if not self.refused(name, Action.RESET, lambda: reset_prefix(*self.where, name, prefix)):
            reset_prefix(*self.where, name, prefix)
            self.model.forget(name, prefix)

    def reset_object(self, branch: int, key: ObjectKey) -> None:
        name = self.pick_branch(branch)
        if not self.refused(name, Action.RESET, lambda: reset_object(*self.where, name, key)):
            reset_object(*self.where, name, key)
            self.model.branches[name].rows.pop(key, None)

    @rule(left=numbers, right=numbers, key=keys, prefix=prefixes)
    def look(self, left: int, right: int, key: ObjectKey, prefix: bytes) -> None:
        """Read, list and compare; one rule, so that most steps change something."""
        self.read(left, key)
        self.page_through(left, prefix, b"/")
        self.page_through(right, prefix, b"")
        self.diff_two_refs(left, right, prefix)
        self.diff_since_they_parted(left, right)
        self.diff_what_is_uncommitted(left)

    def read(self, ref: int, key: ObjectKey) -> None:
        name = self.pick_ref(ref)
        value = self.model.refs()[name].get(key)
        if value is None:
            with pytest.raises(NotFound):
                stat_object(*self.where, name, key)
            return
        entry, reading = get_object(*self.where, name, key)
        with reading:
            assert reading.read() == value.body
        assert facts_of(entry) == facts(value)

    def page_through(self, ref: int, prefix: bytes, delimiter: bytes) -> None:
        name, found, after, more = self.pick_ref(ref), list[bytes](), b"", True
        while more:
            page = list_objects(
                *self.where, name, prefix, after=after, delimiter=delimiter, amount=2
            )
            for item in page.items:
                assert isinstance(item, Record | Prefix)
                after = item.key if isinstance(item, Record) else item.prefix
                found.append(after)
            more = page.has_more
        assert found == listing_of(dict(self.model.refs()[name]), prefix, delimiter)

    def diff_two_refs(self, left: int, right: int, prefix: bytes) -> None:
        names = [f"{self.pick_branch(left)}@", self.pick_commit(right).id]
        trees = [self.model.refs()[name] for name in names]
        page = diff_two_dot(*self.where, names[0], names[1], PageRequest(prefix))
        assert told(page.changes) == [
            change for change in differing(*trees) if change[1].startswith(prefix)
        ]

    def diff_since_they_parted(self, left: int, right: int) -> None:
        ours, theirs = self.pick_commit(left), self.pick_commit(right)
        base = self.kinship.merge_base(ours, theirs)
        assert base is not None
        assert base.id in self.model.best_common(ours.id, theirs.id)
        found = diff_three_dot(*self.where, ours.id, theirs.id).changes
        assert told(found) == differing(self.model.tree(base.id), self.model.tree(theirs.id))

    def diff_what_is_uncommitted(self, branch: int) -> None:
        name = self.pick_branch(branch)
        found = diff_uncommitted(*self.where, name).changes
        assert told(found) == differing(self.model.head_tree(name), self.model.shown(name))


def told(changes: tuple[Change, ...]) -> list[tuple[str, bytes]]:
    return [(change.kind.value, change.key) for change in changes]
