# SPDX-License-Identifier: Apache-2.0
"""Every verb that changes a repository, each by its name, on one small lake that all of them fit.

Branch main has a commit and, if wanted, staged and sealed rows; dev has a commit of its own; there
are a tag, an object that was uploaded and not linked, and two commits that were started.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from lochan.kv.store import Store
from lochan.model.entry import Entry
from lochan.model.ids import BranchName, ObjectKey, TagName
from lochan.model.instant import Instant
from lochan.model.records import BranchProtectionRule, Commit, OpenCommit, Repository
from lochan.operations.branches import create_branch, delete_branch
from lochan.operations.commit import CommitRequest, commit, commit_tree
from lochan.operations.copy_object import Source, copy_object
from lochan.operations.delete_objects import delete_objects
from lochan.operations.hard_reset import hard_reset
from lochan.operations.import_objects import ImportRequest, ListedObject, import_objects
from lochan.operations.lake import Lake
from lochan.operations.link_object import Uploaded, link_object, new_address
from lochan.operations.link_objects import Link, link_objects
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.open_commits.cancel_commit import cancel_commit
from lochan.operations.open_commits.delete_file import delete_file
from lochan.operations.open_commits.finish_commit import finish_commit
from lochan.operations.open_commits.link_file import link_file
from lochan.operations.open_commits.merge_commits import merge_commits
from lochan.operations.open_commits.put_file import put_file
from lochan.operations.open_commits.start_commit import start_commit
from lochan.operations.protection import set_branch_protection
from lochan.operations.put_object import put_object
from lochan.operations.rename_object import rename_object
from lochan.operations.rename_prefix import rename_prefix
from lochan.operations.repository_metadata import (
    delete_repository_metadata,
    set_repository_metadata,
)
from lochan.operations.reset import reset, reset_object, reset_prefix
from lochan.operations.retention import delete_gc_rules, set_gc_rules
from lochan.operations.seal import seal
from lochan.operations.tags import create_tag, delete_tag
from lochan.operations.transplant import TransplantRequest, cherry_pick, revert
from lochan.operations.update_user_metadata import update_user_metadata
from support.lakes import MAIN, Stage, open_stage

DEV, NEW, SIDE = BranchName("dev"), BranchName("new"), BranchName("side")
KEY, OTHER = ObjectKey(b"a"), ObjectKey(b"b")
OLD, FRESH = TagName("old"), TagName("fresh")
EMPTY: Final = TransplantRequest("ada", allow_empty=True)
BY_ADA: Final = CommitRequest("ada", allow_empty=True)


@dataclass(frozen=True, slots=True)
class Ground:
    """A lake and what verbs may be asked to change in it."""

    stage: Stage
    theirs: Commit  # the head of dev
    entry: Entry  # an object that was put whole
    uploaded: Uploaded
    begins: OpenCommit  # begins branch side
    follows: OpenCommit  # on main

    @property
    def where(self) -> tuple[Lake, Repository]:
        """Give what every verb takes first."""
        return self.stage.lake, self.stage.repository

    def over(self, lake: Lake) -> "Ground":
        """Give the same as another lake sees it."""
        return replace(self, stage=Stage(lake, self.stage.repository, self.stage.storage))


def prepared(store: Store | None = None) -> Ground:
    """Open the lake that the module describes, with nothing staged."""
    stage = open_stage(store)
    where = (stage.lake, stage.repository)
    entry = put_object(*where, MAIN, KEY, b"0")
    put_object(*where, MAIN, ObjectKey(b"from/c"), b"0")
    root = commit(*where, MAIN, CommitRequest("ada", "none"))
    create_branch(*where, DEV, root.id)
    put_object(*where, DEV, KEY, b"1")
    theirs = commit(*where, DEV, CommitRequest("ada", "one"))
    create_tag(*where, OLD, theirs)
    given = new_address(*where, MAIN, OTHER).address
    stage.storage.objects.put(given, b"body")
    begins, follows = start_commit(*where, None, SIDE), start_commit(*where, None, MAIN)
    for opened in (begins, follows):
        put_file(*where, opened.id, "file", b"a line\n")
    set_repository_metadata(*where, {"owner": "ada"})
    set_gc_rules(*where, 7, {})
    return Ground(stage, theirs, entry, Uploaded(given, 4, '"abc"'), begins, follows)


def prepared_for(verb: str, store: Store | None = None) -> Ground:
    """Open it with staged and sealed rows; where the verb wants none, with such as change none."""
    ground = prepared(store)
    for name in ("sealed", "staged"):
        key = ObjectKey(name.encode())
        put_object(*ground.where, MAIN, key, b"2")
        if verb in CLEAN:
            delete_objects(*ground.where, MAIN, [key])
        if name == "sealed":
            seal(*ground.where, MAIN)
    return ground


def _merge_commits(ground: Ground, branch: str, *, squash: bool) -> object:
    return merge_commits(*ground.where, [ground.theirs.id], None, branch, squash=squash)


def _import(ground: Ground) -> object:
    listed = ListedObject(b"imported", "mem://elsewhere/imported", 1, "tag", Instant(7))
    return import_objects(*ground.where, MAIN, [listed], ImportRequest("ada"))


def _merge(ground: Ground) -> object:
    return merge(*ground.where, MAIN, ground.theirs, MergeRequest("ada", allow_empty=True))


Verb = Callable[[Ground], object]

# Verbs that write rows, or compare and swap a record that they looked at together with the flag.
WRITES: Final[dict[str, Verb]] = {
    "put": lambda g: put_object(*g.where, MAIN, KEY, b"2"),
    "delete": lambda g: delete_objects(*g.where, MAIN, [KEY]),
    "copy": lambda g: copy_object(*g.where, MAIN, OTHER, Source(DEV, KEY)),
    "link": lambda g: link_object(*g.where, MAIN, OTHER, g.uploaded),
    "link many": lambda g: link_objects(*g.where, MAIN, [Link(OTHER, g.uploaded)]),
    "rename object": lambda g: rename_object(*g.where, MAIN, KEY, OTHER),
    "rename prefix": lambda g: rename_prefix(*g.where, MAIN, b"from/", b"to/"),
    "set user metadata": lambda g: update_user_metadata(*g.where, MAIN, KEY, {"k": "v"}),
    "link_file": lambda g: link_file(*g.where, g.follows.id, "linked", g.entry),
    "put_file": lambda g: put_file(*g.where, g.follows.id, "more", b"x"),
    "delete_file": lambda g: delete_file(*g.where, g.follows.id, "file"),
    "cancel_commit": lambda g: cancel_commit(*g.where, g.follows.id),
}
MOVES: Final[dict[str, Verb]] = {
    "reset": lambda g: reset(*g.where, MAIN),
    "reset prefix": lambda g: reset_prefix(*g.where, MAIN, b"s"),
    "reset object": lambda g: reset_object(*g.where, MAIN, ObjectKey(b"sealed")),
    "commit": lambda g: commit(*g.where, MAIN, BY_ADA),
    "hard reset": lambda g: hard_reset(*g.where, MAIN, g.theirs, force=True),
    "delete branch": lambda g: delete_branch(*g.where, DEV),
    "protect": lambda g: set_branch_protection(*g.where, [BranchProtectionRule("*")]),
    "finish_commit": lambda g: finish_commit(*g.where, g.follows.id),
    "replay": lambda g: _merge_commits(g, MAIN, squash=False),
    "squash": lambda g: _merge_commits(g, MAIN, squash=True),
}
# These refuse a branch with changes that nobody has committed.
CLEAN: Final[dict[str, Verb]] = {
    "commit tree": lambda g: commit_tree(*g.where, MAIN, g.theirs.meta_range_id, BY_ADA),
    "import": _import,
    "merge": _merge,
    "revert": lambda g: revert(*g.where, MAIN, g.theirs, EMPTY),
    "cherry-pick": lambda g: cherry_pick(*g.where, MAIN, g.theirs, EMPTY),
}
# These look at the flag, and then make one write that takes effect.
ONCE: Final[dict[str, Verb]] = {
    "create branch": lambda g: create_branch(*g.where, NEW, g.theirs.id),
    "create tag": lambda g: create_tag(*g.where, FRESH, g.theirs),
    "delete tag": lambda g: delete_tag(*g.where, OLD),
    "set retention rules": lambda g: set_gc_rules(*g.where, 9, {}),
    "delete retention rules": lambda g: delete_gc_rules(*g.where),
    "set metadata": lambda g: set_repository_metadata(*g.where, {"k": "v"}),
    "delete metadata": lambda g: delete_repository_metadata(*g.where, ["owner"]),
    "start_commit": lambda g: start_commit(*g.where, None, MAIN),
}
BEGINS: Final[dict[str, Verb]] = {  # so do these, which make a tree before that
    "finish_commit that begins a branch": lambda g: finish_commit(*g.where, g.begins.id),
    "replay that begins a branch": lambda g: _merge_commits(g, NEW, squash=False),
    "squash that begins a branch": lambda g: _merge_commits(g, NEW, squash=True),
}
EVERY: Final[dict[str, Verb]] = {**WRITES, **MOVES, **CLEAN, **ONCE, **BEGINS}
