# SPDX-License-Identifier: Apache-2.0
"""Find the entry of an object that a ref shows; `read_entry` gives its bytes."""

from functools import lru_cache

from lochan.errors import NotFound
from lochan.kernel.records import Record
from lochan.model.codec import decode_entry
from lochan.model.entry import Entry
from lochan.model.ids import CommitId, ObjectKey
from lochan.model.records import Repository
from lochan.objects.store import WHOLE, Extent, Reading
from lochan.operations.lake import Lake
from lochan.operations.read_entry import read_entry
from lochan.operations.reference import read_ref, recall_ref
from lochan.operations.view import find_record

__all__ = ["get_object", "read_entry", "recall_entry", "stat_committed", "stat_object"]

# What is asked for without waiting is often asked for again; equal bytes are an equal entry.
_decode_again = lru_cache(10_000)(decode_entry)


def stat_object(lake: Lake, repository: Repository, ref: str, key: ObjectKey) -> Entry:
    """Give the entry that a branch, tag or commit shows for a key. Raises NotFound."""
    snapshots = lake.storage(repository.storage_namespace).snapshots
    found = read_ref(
        lake,
        repository,
        ref,
        lambda branch: find_record(lake, repository, branch, key),
        lambda tree: snapshots.get(tree, key),
    )
    return _entry(found, key, ref)


def get_object(
    lake: Lake, repository: Repository, ref: str, key: ObjectKey, extent: Extent = WHOLE
) -> tuple[Entry, Reading]:
    """Give the entry and the bytes of an object. Raises NotFound, and what `read_entry` raises."""
    entry = stat_object(lake, repository, ref, key)
    return entry, read_entry(lake, repository, entry, extent)


def stat_committed(lake: Lake, repository: Repository, commit: CommitId, key: ObjectKey) -> Entry:
    """Give the entry that a commit holds for a key; it is the same for ever (G14)."""
    tree = lake.commits.tree(repository, commit)
    found = lake.storage(repository.storage_namespace).snapshots.get(tree, key)
    return _entry(found, key, commit)


def recall_entry(lake: Lake, repository: Repository, ref: str, key: ObjectKey) -> Entry | None:
    """Give what `stat_object` would, if that needs no waiting; None says nothing."""
    found = recall_ref(lake, repository, ref, key)
    return _decode_again(found.value) if found is not None else None


def _entry(found: Record | None, key: ObjectKey, ref: str) -> Entry:
    if found is None:
        raise NotFound(
            f"no object {key.decode(errors='replace')!r} in {ref!r}", code="object-not-found"
        )
    return decode_entry(found.value)
