# SPDX-License-Identifier: Apache-2.0
"""The files of a commit below a path, and those that a commit changed, with their places.

Read from the ranges themselves, past the key-value store.
"""

from collections.abc import Iterator
from typing import NamedTuple

from lochan.client.commit import Commit
from lochan.committed.interval import Interval
from lochan.committed.listing import Prefix
from lochan.model.changes import ChangeKind
from lochan.model.codec import decode_entry
from lochan.model.ids import MetaRangeId
from lochan.spark.reach import PinnedFile, Reach
from lochan.spark.resolved import is_data


class ChangedFile(NamedTuple):
    """What became of a file in a commit; `file` is what it is now, None if it is gone."""

    kind: str
    path: str
    file: PinnedFile | None


def folder_of(path: str) -> str:
    """Spell a path as the beginning of what lies in it."""
    return f"{path.strip('/')}/" if path.strip("/") else ""


def commit_files(reach: Reach, commit: Commit, path: str) -> list[PinnedFile]:
    """List the files that a commit has in a folder; or the one file of that path."""
    tree, folder = MetaRangeId(commit.meta_range_id), folder_of(path)
    found = [
        pinned_file(item.key, item.value, commit.id)
        for item in reach.snapshots.list(tree, folder.encode())
        if not isinstance(item, Prefix) and is_data(_text(item.key).removeprefix(folder))
    ]
    if not found and folder:
        single = reach.snapshots.get(tree, path.encode())
        found = [] if single is None else [pinned_file(single.key, single.value, commit.id)]
    return found


def changed_files(reach: Reach, before: str, commit: Commit, path: str) -> Iterator[ChangedFile]:
    """Give what a commit changed in a folder against a tree before it, by paths."""
    folder = folder_of(path)
    within = Interval.under(folder.encode())
    trees = MetaRangeId(before), MetaRangeId(commit.meta_range_id)
    for differences in reach.snapshots.diff(*trees, within):
        for change in differences:
            name = _text(change.key)
            if not is_data(name.removeprefix(folder)):
                continue
            right = change.right
            now = None if right is None else pinned_file(change.key, right.data, commit.id)
            yield ChangedFile(_KINDS[change.kind], name, now)


def pinned_file(key: bytes, value: bytes, commit_id: str) -> PinnedFile:
    """Say where the bytes of an entry lie."""
    entry = decode_entry(value)
    places: tuple[tuple[str, int, int], ...] = ((entry.address, 0, entry.size),)
    if entry.is_of_blocks:
        places = tuple((block.address, block.offset, block.size) for block in entry.blocks)
    return PinnedFile(_text(key), commit_id, entry.size, places)


_KINDS = {
    ChangeKind.ADDED: "added",
    ChangeKind.CHANGED: "changed",
    ChangeKind.REMOVED: "removed",
}


def _text(key: bytes) -> str:
    return key.decode(errors="replace")
