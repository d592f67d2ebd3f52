# SPDX-License-Identifier: Apache-2.0
"""What differs: this folder from its commit, and its commit from a later one."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from lochan.cli.files import LocalFile, can_be_file, checksum_of, files_below
from lochan.cli.local.index import Entry, Index, Seen, load_index
from lochan.cli.local.link import LINK_FILE, OWN_FOLDER, Link
from lochan.client.lake import Lake
from lochan.shapes.refs import Diff

Kind = Literal["added", "removed", "changed"]
_PART: Final = re.compile(r"\..*\.[0-9a-zA-Z-]{32,}\.part")  # a download that was cut off


@dataclass(slots=True)
class Compared:
    """A folder beside its commit; keys are below the prefix, as files are below the folder."""

    link: Link
    index: Index
    files: Mapping[str, LocalFile]
    changes: Mapping[str, Kind]

    def checksum(self, path: str) -> str:
        """Give the checksum of a file as it was found; it is read where nothing else tells."""
        return _checksum(self.link, self.index, self.files[path])

    def is_like(self, path: str, wanted: Entry | None) -> bool:
        """Say whether a path holds what is wanted there, or nothing if that is wanted."""
        file = self.files.get(path)
        if file is None or wanted is None:
            return (file is None) == (wanted is None)
        return file.size == wanted.size and self.checksum(path) == wanted.checksum


def compare(lake: Lake, link: Link) -> Compared:
    """Find what was changed in a folder since its commit."""
    index = load_index(link.root)
    if index.commit != link.at_head:
        index.base = entries_at(lake, link, link.at_head)
        index.commit = link.at_head
    files = {file.path: file for file in files_below(link.root, _is_ours)}
    changes: dict[str, Kind] = {}
    for path, file in files.items():
        base = index.base.get(path)
        if base is None:
            changes[path] = "added"
        elif file.size != base.size or _checksum(link, index, file) != base.checksum:
            changes[path] = "changed"
    for path in index.base.keys() - files.keys():
        changes[path] = "removed"
    index.seen = {path: seen for path, seen in index.seen.items() if path in files}
    return Compared(link, index, files, dict(sorted(changes.items())))


def entries_at(lake: Lake, link: Link, commit: str) -> dict[str, Entry]:
    """Give the objects of a commit that can be files of the folder."""
    start = len(link.prefix)
    found = link.repository(lake).ref(commit).objects(link.prefix, user_metadata=False)
    return {
        one.path[start:]: Entry(one.size_bytes or 0, one.checksum)
        for one in found
        if is_mirrored(one.path[start:])
    }


def changed_since(lake: Lake, link: Link, commit: str) -> dict[str, Entry | None]:
    """Give what another commit has at the paths at which it differs; None for nothing."""
    if commit == link.at_head:
        return {}
    start = len(link.prefix)
    before = link.repository(lake).ref(link.at_head)
    changes = before.diff(commit, type_="two_dot", prefix=link.prefix, include_right_stats=True)
    found = {one.path[start:]: _right(one) for one in changes}
    return {path: entry for path, entry in found.items() if is_mirrored(path)}


def is_mirrored(path: str) -> bool:
    """Say whether an object is a file of the folder: others are neither written nor deleted."""
    top = path.split("/", 1)[0]
    return can_be_file(path) and top != OWN_FOLDER and not path.endswith(LINK_FILE)


def _right(change: Diff) -> Entry | None:
    if change.type == "removed" or change.right is None:
        return None
    return Entry(change.size_bytes or 0, change.right.checksum)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    """Leave out what belongs to links, and folders that are linked themselves."""
    if entry.is_dir(follow_symlinks=False):
        return entry.name == OWN_FOLDER or os.path.isfile(f"{entry.path}/{LINK_FILE}")  # noqa: PTH113 - thousands of times
    return entry.name == LINK_FILE or (
        entry.name.endswith(".part") and _PART.fullmatch(entry.name) is not None
    )


def _checksum(link: Link, index: Index, file: LocalFile) -> str:
    if known := index.known(file):
        return known
    checksum = checksum_of(link.root / file.path)
    index.seen[file.path] = Seen(file.size, file.mtime_ns, checksum)
    return checksum
