# SPDX-License-Identifier: Apache-2.0
"""Delete objects from a branch: a tombstone each, whatever is there.

The tombstone is written blindly (H4). To look first and skip what seems gone would lose deletes: a
sealed token may hold our own late tombstone, which no commit will contain. Tombstones of absent
keys change nothing and go at the next commit.

Many keys go some at a time, each time under the writer's protocol. Others may see some gone before
the rest; after a failure those that went first are gone, and a repeat deletes the rest.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from lochan.kernel.records import Record
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.records import Repository, StagedEntry
from lochan.operations.lake import Lake
from lochan.operations.list_objects import list_objects
from lochan.operations.stage import stage_rows

AT_ONCE = 1000  # keys

# Refuses, by an error, a caller that may not delete a key.
Require = Callable[[bytes], None]


def delete_objects(
    lake: Lake, repository: Repository, branch: BranchName, keys: Iterable[ObjectKey]
) -> None:
    """Remove keys from what a branch shows. Idempotent; an absent key is no error."""
    waiting = iter(keys)
    chunk = list(islice(waiting, AT_ONCE))
    while True:
        _stage_tombstones(lake, repository, branch, chunk)
        chunk = list(islice(waiting, AT_ONCE))
        if not chunk:
            return


def delete_prefix(
    lake: Lake,
    repository: Repository,
    branch: BranchName,
    prefix: bytes,
    *,
    require: Require | None = None,
) -> int:
    """Remove every key that begins with a prefix and that the branch shows; count them.

    `require` is asked of all keys before the first one goes, and again of each as it goes. What is
    put under the prefix meanwhile may stay: it is deleted by whoever asks after that.
    """
    if require is not None:
        for keys in _pages(lake, repository, branch, prefix):
            for key in keys:
                require(key)
    deleted = 0
    for keys in _pages(lake, repository, branch, prefix):
        if require is not None:
            for key in keys:
                require(key)
        _stage_tombstones(lake, repository, branch, keys)
        deleted += len(keys)
    return deleted


def _pages(
    lake: Lake, repository: Repository, branch: BranchName, prefix: bytes
) -> Iterator[list[ObjectKey]]:
    after, has_more = b"", True
    while has_more:
        page = list_objects(lake, repository, branch, prefix, after=after, amount=AT_ONCE)
        keys = [ObjectKey(item.key) for item in page.items if isinstance(item, Record)]
        if keys:
            yield keys
            after = keys[-1]
        has_more = page.has_more


def _stage_tombstones(
    lake: Lake, repository: Repository, branch: BranchName, keys: list[ObjectKey]
) -> None:
    tombstones = [StagedEntry(key) for key in keys]
    stage_rows(lake, repository, branch, tombstones)
