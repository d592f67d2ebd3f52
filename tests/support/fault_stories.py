# SPDX-License-Identifier: Apache-2.0
"""Every story of a lake, told on the ground of fault_ground, so that it may be told again.

A story that has come to its end and is told again changes nothing more, or says so: each is chosen
like that (a put that overwrites, a commit that is not empty).
"""

from collections.abc import Callable
from io import BytesIO

from lochan.errors import AlreadyExists
from lochan.model.ids import BranchName, ObjectKey, TagName
from lochan.model.instant import Instant
from lochan.model.records import Repository
from lochan.operations import kv_copy, kv_fence
from lochan.operations.branches import create_branch, delete_branch
from lochan.operations.commit import CommitRequest, commit, commit_tree
from lochan.operations.compact import compact
from lochan.operations.compactor import Compactor
from lochan.operations.conditions import if_absent, if_match, if_present
from lochan.operations.copy_object import Source, copy_object
from lochan.operations.create_repository import create_repository
from lochan.operations.delete_objects import delete_objects, delete_prefix
from lochan.operations.diagnose import diagnose
from lochan.operations.diff import (
    diff_compared,
    diff_three_dot,
    diff_two_dot,
    diff_uncommitted,
)
from lochan.operations.dump_refs import dump_refs
from lochan.operations.fsck import fsck
from lochan.operations.hard_reset import hard_reset
from lochan.operations.import_objects import ImportRequest, ListedObject, import_objects
from lochan.operations.import_paths import ImportPath, import_paths
from lochan.operations.kv_copy_ledger import Phase
from lochan.operations.link_object import Uploaded, link_object, new_address
from lochan.operations.link_objects import Link, link_objects
from lochan.operations.list_objects import list_objects
from lochan.operations.log_commits import LogRequest, log_commits
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.open_commits.cancel_commit import cancel_commit
from lochan.operations.open_commits.delete_file import delete_file
from lochan.operations.open_commits.diffs import diffs
from lochan.operations.open_commits.finish_commit import finish_commit
from lochan.operations.open_commits.history import history
from lochan.operations.open_commits.inspect_commit import inspect_commit
from lochan.operations.open_commits.inspect_file import get_file, inspect_file
from lochan.operations.open_commits.link_file import link_file
from lochan.operations.open_commits.list_commit import list_commit
from lochan.operations.open_commits.list_file import list_file
from lochan.operations.open_commits.merge_commits import merge_commits
from lochan.operations.open_commits.put_file import Mode, put_file
from lochan.operations.open_commits.start_commit import start_commit
from lochan.operations.put_object import put_object
from lochan.operations.read_object import get_object, stat_committed, stat_object
from lochan.operations.rename_object import rename_object
from lochan.operations.rename_prefix import rename_prefix
from lochan.operations.repair import repair
from lochan.operations.reset import reset, reset_object, reset_prefix
from lochan.operations.restore_refs import read_manifest, restore_refs
from lochan.operations.seal import seal
from lochan.operations.tags import create_tag, delete_tag
from lochan.operations.transplant import TransplantRequest, cherry_pick, revert
from lochan.operations.update_user_metadata import update_user_metadata
from lochan.refs.cleaner import Cleaner
from lochan.refs.deletion import delete_repository
from support.fault_ground import DEV, MAIN, OLD, OTHER, READINGS, V1, Place
from support.fault_stories_around import AROUND, others_namespace
from support.fault_stories_beyond import BEYOND
from support.lake_model import e_tag

Story = Callable[[Place], object]

A, B, NEW = (ObjectKey(key) for key in (b"d/a", b"d/b", b"d/new"))
NEW_BRANCH, NEW_TAG = BranchName("new"), TagName("v2")
REQUEST = CommitRequest("ada", "story")
MERGE = MergeRequest("ada", "story")
SQUASH = MergeRequest("ada", "story", squash=True)
TRANSPLANT = TransplantRequest("ada", "story")
IMPORT = ImportRequest("ada", "story")
LOG = LogRequest(amount=10, objects=[B], prefixes=[b"d/f", b"e/"])


def read(place: Place) -> bytes:
    _, reading = get_object(*place.where, DEV, B)
    with reading:
        return reading.read()


def read_file(place: Place) -> bytes:
    with get_file(*place.where, b"d/a", place.known.on_main.id) as reading:
        return reading.read()


def link(place: Place) -> object:
    given = new_address(*place.where, MAIN, NEW).address
    objects = place.lake.storage(place.known.repository.storage_namespace).objects
    objects.put(given, b"9")
    return link_object(*place.where, MAIN, NEW, Uploaded(given, 1, e_tag(b"9")))


def link_several(place: Place) -> None:
    objects = place.lake.storage(place.known.repository.storage_namespace).objects
    links = []
    for key in (NEW, B):
        given = new_address(*place.where, DEV, key).address
        objects.put(given, b"9")
        links.append(Link(key, Uploaded(given, 1, e_tag(b"9"))))
    link_objects(*place.where, DEV, links)


def import_listed(place: Place) -> object:
    listed = ListedObject(b"d/x", "mem://far/raw/x", 1, e_tag(b"8"), Instant(1))
    return import_objects(*place.where, MAIN, [listed], IMPORT)


def copy_and_release(place: Place) -> None:
    """Copy the lake to another store, and on the way give up and begin again."""
    target, stopped = place.target, False

    def stop(progress: kv_copy.Progress) -> None:
        nonlocal stopped
        if progress.phase is not Phase.COPYING and not stopped:
            stopped = True
            raise _Stopped

    try:
        kv_copy.copy_lake(place.store, target, place.world, settle_s=0, progress=stop)
    except _Stopped:
        kv_copy.release(place.store, target, place.world)


class _Stopped(Exception):
    """The copy was given up."""


def create(place: Place) -> Repository:
    """Create a repository; a namespace that somebody claimed who died is left to the dead."""
    for number in range(2):
        try:
            return create_repository(place.lake, OTHER, others_namespace(number, OTHER), MAIN)
        except AlreadyExists as error:
            if error.code != "namespace-in-use":
                raise
    raise AssertionError


def sweep(place: Place) -> None:
    for skipped in Cleaner(place.store, place.world, grace_s=0).run().skipped:
        raise skipped.error


def compact_all(place: Place) -> None:
    for done in Compactor(place.lake, rows=1, tokens=0).run():
        if done.error is not None:
            raise done.error


STORIES: dict[str, Story] = {
    "put": lambda p: put_object(*p.where, MAIN, NEW, b"9"),
    "put if absent": lambda p: put_object(*p.where, MAIN, NEW, b"9", condition=if_absent),
    "put if present": lambda p: put_object(*p.where, MAIN, A, b"9", condition=if_present),
    "put if match": lambda p: put_object(*p.where, DEV, A, b"9", condition=if_match(e_tag(b"1"))),
    "link": link,
    "link several": link_several,
    "copy": lambda p: copy_object(*p.where, MAIN, NEW, Source(DEV, B)),
    "copy within": lambda p: copy_object(*p.where, DEV, NEW, Source(DEV, B)),
    "delete": lambda p: delete_objects(*p.where, DEV, [A, B]),
    "delete prefix": lambda p: delete_prefix(*p.where, DEV, b"d/"),
    "rename": lambda p: rename_prefix(*p.where, DEV, b"d/", b"e/", overwrite=True),
    "rename object": lambda p: rename_object(*p.where, DEV, B, NEW, overwrite=True),
    "update metadata": lambda p: update_user_metadata(*p.where, DEV, B, {"seen": "yes"}),
    "stat": lambda p: stat_object(*p.where, DEV, B),
    "stat committed": lambda p: stat_committed(*p.where, p.known.on_dev.id, B),
    "get": read,
    "list": lambda p: list_objects(*p.where, DEV, b"d/"),
    "diff two dots": lambda p: diff_two_dot(*p.where, MAIN, DEV),
    "diff three dots": lambda p: diff_three_dot(*p.where, MAIN, DEV),
    "diff compared": lambda p: diff_compared(*p.where, MAIN, DEV),
    "diff uncommitted": lambda p: diff_uncommitted(*p.where, DEV),
    "create branch": lambda p: create_branch(*p.where, NEW_BRANCH, p.known.on_dev.id),
    "delete branch": lambda p: delete_branch(*p.where, OLD),
    "create tag": lambda p: create_tag(*p.where, NEW_TAG, p.known.on_dev),
    "delete tag": lambda p: delete_tag(*p.where, V1),
    "commit": lambda p: commit(*p.where, DEV, REQUEST),
    "commit tree": lambda p: commit_tree(*p.where, MAIN, p.known.on_dev.meta_range_id, REQUEST),
    "log": lambda p: log_commits(*p.where, DEV, LOG),
    "seal": lambda p: seal(*p.where, DEV),
    "compact": lambda p: compact(*p.where, DEV),
    "compact all": compact_all,
    "merge": lambda p: merge(*p.where, MAIN, p.known.on_dev, MERGE),
    "merge squash": lambda p: merge(*p.where, MAIN, p.known.on_dev, SQUASH),
    "merge over a commit that died": lambda p: merge(
        *p.where, DEV, p.known.on_main, MergeRequest("ada", "story", allow_dirty=True)
    ),
    "revert": lambda p: revert(*p.where, MAIN, p.known.on_main, TRANSPLANT),
    "cherry-pick": lambda p: cherry_pick(*p.where, MAIN, p.known.on_dev, TRANSPLANT),
    "reset": lambda p: reset(*p.where, DEV),
    "reset prefix": lambda p: reset_prefix(*p.where, DEV, b"d/c"),
    "reset object": lambda p: reset_object(*p.where, DEV, ObjectKey(b"d/c")),
    "hard reset": lambda p: hard_reset(*p.where, MAIN, p.known.first),
    "hard reset by force": lambda p: hard_reset(*p.where, DEV, p.known.first, force=True),
    "import": import_listed,
    "import paths": lambda p: import_paths(
        *p.where, MAIN, [ImportPath("mem://far/raw/", b"in/")], IMPORT
    ),
    "close repository": lambda p: kv_fence.close_repository(p.store, p.world, p.known.repository),
    "dump": lambda p: dump_refs(*p.where),
    "restore": lambda p: restore_refs(p.lake, p.known.spare, read_manifest(*p.where)),
    "copy lake": copy_and_release,
    "create repository": create,
    "delete repository": lambda p: delete_repository(p.store, p.world, READINGS),
    "clean": sweep,
    "fsck": lambda p: list(fsck(p.lake)),
    "repair": lambda p: repair(*p.where),
    "diagnose": lambda p: diagnose(p.lake, BytesIO()),
    "start commit": lambda p: start_commit(*p.where, p.known.on_main.id, MAIN),
    "link file": lambda p: link_file(
        *p.where, p.known.opened, b"d/new", stat_object(*p.where, MAIN, A)
    ),
    "put file": lambda p: put_file(*p.where, p.known.opened, b"d/a", b"9", mode=Mode.OVERWRITE),
    "delete file": lambda p: delete_file(*p.where, p.known.opened, b"d/b"),
    "finish commit": lambda p: finish_commit(*p.where, p.known.opened, message="story"),
    "finish a commit that begins a branch": lambda p: finish_commit(*p.where, p.known.born),
    "cancel commit": lambda p: cancel_commit(*p.where, p.known.opened),
    "merge commits": lambda p: merge_commits(*p.where, [p.known.on_dev.id], None, MAIN),
    "merge commits squash": lambda p: merge_commits(
        *p.where, [p.known.on_dev.id], None, MAIN, squash=True, message="story"
    ),
    "merge commits into a new branch": lambda p: merge_commits(
        *p.where, [p.known.on_dev.id], p.known.on_main.id, NEW_BRANCH, message="story"
    ),
    "merge commits that grow a file": lambda p: merge_commits(
        *p.where, [commit.id for commit in p.known.grown], None, MAIN, message="story"
    ),
    "merge commits with a merge among them": lambda p: merge_commits(
        *p.where, [p.known.merged.id], None, MAIN, message="story"
    ),
    "squash commits that grow a file": lambda p: merge_commits(
        *p.where, [p.known.grown[1].id], None, MAIN, squash=True, message="story"
    ),
    "inspect commit": lambda p: inspect_commit(*p.where, p.known.opened),
    "list commit": lambda p: list(list_commit(*p.where)),
    "history": lambda p: list(history(*p.where, p.known.on_dev.id, p.known.first.id)),
    "history behind one": lambda p: list(
        history(*p.where, p.known.merged.id, after=p.known.first.id)
    ),
    "diffs": lambda p: list(diffs(*p.where, p.known.on_dev.id)),
    "inspect file": lambda p: inspect_file(*p.where, b"d/b", p.known.on_dev.id),
    "inspect file since": lambda p: inspect_file(
        *p.where, b"d/l", p.known.grown[1].id, p.known.grown[0].id
    ),
    "get file": read_file,
    "list file": lambda p: list(list_file(*p.where, b"d", p.known.opened)),
    **AROUND,
    **BEYOND,
}
