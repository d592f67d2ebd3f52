# SPDX-License-Identifier: Apache-2.0
"""A whole lake as dictionaries: what each branch shows, what each commit holds, who came of whom.

Nothing here is taken from the package's protocols. A branch is its head's tree, and over it what
was changed and is not committed: `rows`, where None is a deletion. Rows that repeat what the head
holds say nothing, wherever they lie in the lake, staged, sealed or compacted: whatever moves the
head leaves them behind.

A value is what diff and merge compare: the pieces of a file, and the clock of its creation where it
was made by appending. Histories are sets of ancestors.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from lochan.model.entry import Entry
from lochan.model.ids import CommitId
from lochan.model.records import Clock


class Value(NamedTuple):
    """The bytes of an object, or those of each block of a file and where the file began."""

    pieces: tuple[bytes, ...]
    epoch: Clock | None = None

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)


Tree = dict[bytes, Value]
Overlay = dict[bytes, Value | None]
Facts = tuple[int, str, tuple[bytes, ...], Clock | None]


def plain(body: bytes) -> Value:
    """Give the value of an object that was put whole."""
    return Value((body,))


def e_tag(body: bytes) -> str:
    """Give the checksum of an object that was put whole."""
    return hashlib.md5(body, usedforsecurity=False).hexdigest()


def facts(value: Value) -> Facts:
    """Say what an entry of a value must hold: size, checksum, blocks and epoch."""
    if value.epoch is None:
        return len(value.body), e_tag(value.body), (), None
    hashes = tuple(hashlib.sha256(piece).digest() for piece in value.pieces)
    joined = f"{hashlib.sha256(b''.join(hashes)).hexdigest()}-{len(hashes)}"
    checksum = hashes[0].hex() if len(hashes) == 1 else joined
    return len(value.body), checksum, hashes, value.epoch


def facts_of(entry: Entry) -> Facts:
    """Say what an entry holds."""
    return entry.size, entry.e_tag, tuple(block.hash for block in entry.blocks), entry.epoch


def overlaid(tree: Tree, rows: Overlay) -> Tree:
    """Put rows over a tree."""
    both = {**tree, **rows}
    return {key: value for key, value in both.items() if value is not None}


def under(tree: Iterable[bytes], prefix: bytes) -> list[bytes]:
    """Name the keys under a prefix, in order."""
    return sorted(key for key in tree if key.startswith(prefix))


def differing(left: Tree, right: Tree) -> list[tuple[str, bytes]]:
    """Name the keys that differ, in order, and how."""
    found = []
    for key in sorted(left.keys() | right.keys()):
        if key not in left:
            found.append(("added", key))
        elif key not in right:
            found.append(("removed", key))
        elif left[key] != right[key]:
            found.append(("changed", key))
    return found


def merged(base: Tree, dest: Tree, source: Tree, strategy: str = "") -> tuple[Tree, list[bytes]]:
    """Merge three trees: what comes of it, and the keys in conflict."""
    result, conflicts = Tree(), []
    for key in sorted(base.keys() | dest.keys() | source.keys()):
        old, ours, theirs = base.get(key), dest.get(key), source.get(key)
        winner = ours if theirs in (old, ours) else theirs
        if ours not in (old, theirs) and theirs not in (old, ours):
            conflicts.append(key)
            winner = theirs if strategy == "source-wins" else ours
        if winner is not None:
            result[key] = winner
    return result, conflicts


@dataclass(slots=True)
class ModelBranch:
    """A branch: its head, and what was changed over it."""

    head: CommitId
    rows: Overlay = field(default_factory=dict)
    compacted: bool = False  # some rows are in a tree, which may name objects by other addresses

    def drop(self) -> None:
        """Forget the rows that a commit has taken, or a reset."""
        self.rows, self.compacted = {}, False


class ModelCommit(NamedTuple):
    """A commit for ever: its tree, its parents, and itself with all that led to it."""

    tree: Tree
    parents: tuple[CommitId, ...]
    ancestry: frozenset[CommitId]


@dataclass(slots=True)
class LakeModel:
    """All refs of a repository, and every commit ever made."""

    commits: dict[CommitId, ModelCommit] = field(default_factory=dict)
    branches: dict[str, ModelBranch] = field(default_factory=dict)
    tags: dict[str, CommitId] = field(default_factory=dict)

    def record(self, made: CommitId, tree: Tree, parents: tuple[CommitId, ...]) -> None:
        """Note a new commit."""
        assert made not in self.commits
        behind = (self.commits[parent].ancestry for parent in parents)
        self.commits[made] = ModelCommit(tree, parents, frozenset({made}).union(*behind))

    def tree(self, commit: CommitId) -> Tree:
        """Give what a commit holds."""
        return self.commits[commit].tree

    def head_tree(self, name: str) -> Tree:
        """Give what a branch's head holds."""
        return self.tree(self.branches[name].head)

    def shown(self, name: str) -> Tree:
        """Give what a branch shows."""
        return overlaid(self.head_tree(name), self.branches[name].rows)

    def is_dirty(self, name: str) -> bool:
        """Say whether a branch shows anything else than its head."""
        return self.shown(name) != self.head_tree(name)

    def compact(self, name: str) -> None:
        """Note that rows were turned into a tree."""
        self.branches[name].compacted = self.is_dirty(name)

    def forget(self, name: str, prefix: bytes) -> None:
        """Show under a prefix what the head holds."""
        rows = self.branches[name].rows
        for key in under(rows, prefix):
            del rows[key]

    def advance(self, name: str, made: CommitId, tree: Tree) -> None:
        """Let a branch go on to a commit that took none of its rows: they lie over that now."""
        branch, before, shown = self.branches[name], self.head_tree(name), self.shown(name)
        changes: Overlay = {key: shown.get(key) for _, key in differing(before, shown)}
        carried = overlaid(tree, changes)
        branch.head = made
        branch.rows = {key: carried.get(key) for _, key in differing(tree, carried)}
        branch.compacted = bool(branch.rows)

    def best_common(self, one: CommitId, other: CommitId) -> set[CommitId]:
        """Name the common ancestors that are no other's ancestor."""
        common = self.commits[one].ancestry & self.commits[other].ancestry
        return {
            each
            for each in common
            if not any(each in self.commits[more].ancestry for more in common if more != each)
        }

    def refs(self) -> dict[str, Tree]:
        """Give all names and what they show."""
        named = {name: self.shown(name) for name in self.branches}
        named |= {f"{name}@": self.head_tree(name) for name in self.branches}
        named |= {name: self.tree(commit) for name, commit in self.tags.items()}
        return named | {str(name): commit.tree for name, commit in self.commits.items()}
