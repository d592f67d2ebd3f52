# SPDX-License-Identifier: Apache-2.0
"""A row that is there while blocks are being removed.

A block is named by its bytes, so a dead one can be put again by somebody who is about to name it.
The collector writes this row first, then looks whether the block is still old, then removes it. Who
puts a block looks for the row afterwards. If there is none, the collector has yet to look, and will
find the block young. If there is one, the bytes go to an address of their own instead. A row that a
collector left behind when it died costs some room, and the next run takes it away.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from lochan.kv.read import find
from lochan.model.keys import GC, partition_of
from lochan.model.records import Repository
from lochan.operations.lake import Lake

_KEY = GC + b"sweeping"


def are_blocks_swept(lake: Lake, repository: Repository) -> bool:
    """Say whether a block that was just put may be removed at this moment."""
    return find(lake.store, partition_of(repository), _KEY) is not None


@contextmanager
def sweeping_blocks(lake: Lake, repository: Repository, run: str) -> Iterator[None]:
    """Have whoever puts a block know that blocks are being removed."""
    lake.store.set(partition_of(repository), _KEY, run.encode())
    yield
    lake.store.delete(partition_of(repository), _KEY)


def end_sweeping(lake: Lake, repository: Repository) -> None:
    """Take away the row that a collector has left behind; only while none is at work."""
    if are_blocks_swept(lake, repository):
        lake.store.delete(partition_of(repository), _KEY)
