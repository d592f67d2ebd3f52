# SPDX-License-Identifier: Apache-2.0
"""A row that says that blocks are being removed, or by whom they were removed last.

A block is named by its bytes, so a dead one can be put again by somebody who is about to name it.
The collector writes this row first, then looks whether the block is still old, then removes it, and
in the end changes the row again. Who puts a block looks at the row before and afterwards. If no
sweep is under way and the row is the same, the next collector has yet to look, and will find the
block young. If not, the block may have been looked at before it was put, and removed since: the
bytes go to an address of their own. A row that a collector left behind when it died costs some
room, and the next run changes it.

    <run>     this run removes blocks at this moment
    -<run>    this one was the last to do so
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from lochan.errors import PredicateFailed
from lochan.kv.read import find
from lochan.model.keys import GC, partition_of
from lochan.model.records import Repository
from lochan.operations.lake import Lake

_KEY = GC + b"sweeping"
_ENDED = b"-"


def last_sweep(lake: Lake, repository: Repository) -> bytes:
    """Give what the row says; other bytes from when a sweep begins, and from when it ends."""
    found = find(lake.store, partition_of(repository), _KEY)
    return found.value if found is not None else b""


def is_under_way(sweep: bytes) -> bool:
    """Say whether blocks are being removed at this moment."""
    return bool(sweep) and not sweep.startswith(_ENDED)


@contextmanager
def sweeping_blocks(lake: Lake, repository: Repository, run: str) -> Iterator[None]:
    """Have whoever puts a block know that blocks are being removed."""
    lake.store.set(partition_of(repository), _KEY, run.encode())
    yield
    end_sweeping(lake, repository, run)


def end_sweeping(lake: Lake, repository: Repository, run: str = "") -> None:
    """Say that a run removes no blocks any more; without a run, whoever did and died."""
    found = find(lake.store, partition_of(repository), _KEY)
    if found is not None and is_under_way(found.value) and run.encode() in {b"", found.value}:
        with suppress(PredicateFailed):  # somebody else sweeps by now
            ended = _ENDED + found.value
            lake.store.set_if(partition_of(repository), _KEY, ended, found.predicate)
