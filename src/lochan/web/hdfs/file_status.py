# SPDX-License-Identifier: Apache-2.0
"""A FileStatus: what Hadoop knows of a file or directory without its bytes.

Owners, modes, blocks and copies mean nothing here and have one value each. A directory is as old as
the epoch: nothing in the lake says when its first key came.
"""

from typing import Final

import msgspec

from lochan.committed.listing import Prefix
from lochan.model.codec import decode_entry
from lochan.model.entry import Entry
from lochan.operations.list_objects import Item

BLOCK_BYTES: Final = 128 << 20  # what a job that splits by blocks takes at once
_MILLISECOND: Final = 1_000_000  # ns


class FileStatus(msgspec.Struct, frozen=True, rename="camel"):
    """One row of a listing; `path_suffix` is its name there."""

    path_suffix: str
    type: str
    length: int
    modification_time: int
    permission: str
    access_time: int = 0
    block_size: int = BLOCK_BYTES
    replication: int = 1
    owner: str = "lochan"
    group: str = "lochan"


def file_status(entry: Entry, name: str = "") -> FileStatus:
    """Describe a file."""
    modified = entry.last_modified // _MILLISECOND
    return FileStatus(name, "FILE", entry.size, modified, "644", modified)


def directory_status(name: str = "") -> FileStatus:
    """Describe a directory."""
    return FileStatus(name, "DIRECTORY", 0, 0, "755", block_size=0, replication=0)


def child_status(item: Item, prefix: bytes) -> FileStatus | None:
    """Describe an item of a listing; None for what no path of Hadoop's names.

    That is the directory's own marker, and what lies behind two slashes in a row.
    """
    if isinstance(item, Prefix):
        name = item.prefix[len(prefix) : -1].decode(errors="replace")
        return directory_status(name) if name else None
    name = item.key[len(prefix) :].decode(errors="replace")
    return file_status(decode_entry(item.value), name) if name else None
