# SPDX-License-Identifier: Apache-2.0
"""Read an object of a branch or of a commit: its entry, and its bytes."""

from lochan.errors import NotFound
from lochan.model.codec import decode_entry
from lochan.model.entry import AddressType, Entry
from lochan.model.ids import BranchName, CommitId, ObjectKey
from lochan.model.records import Repository
from lochan.objects.store import WHOLE, Extent, Reading
from lochan.operations.lake import Lake
from lochan.operations.view import find_record, read_stably


def stat_object(lake: Lake, repository: Repository, branch: BranchName, key: ObjectKey) -> Entry:
    """Give the entry that a branch shows for a key. Raises NotFound."""
    found = read_stably(
        lake, repository, branch, lambda record: find_record(lake, repository, record, key)
    )
    if found is None:
        raise _no_object(key, branch)
    return decode_entry(found.value)


def stat_committed(lake: Lake, repository: Repository, commit: CommitId, key: ObjectKey) -> Entry:
    """Give the entry that a commit holds for a key; it is the same for ever (G14)."""
    tree = lake.tables(repository).commits.get(commit.encode()).record.meta_range_id
    found = lake.storage(repository.storage_namespace).snapshots.get(tree, key)
    if found is None:
        raise _no_object(key, commit)
    return decode_entry(found.value)


def read_entry(lake: Lake, repository: Repository, entry: Entry, extent: Extent = WHOLE) -> Reading:
    """Read the bytes of an entry's object. Raises NotFound when the object itself is gone."""
    if entry.address_type is not AddressType.RELATIVE or not entry.address:
        raise NotFound(
            f"object {entry.address!r} lies outside the repository's namespace", code="not-here"
        )
    return lake.storage(repository.storage_namespace).objects.get(entry.address, extent)


def _no_object(key: ObjectKey, ref: str) -> NotFound:
    return NotFound(
        f"no object {key.decode(errors='replace')!r} in {ref!r}", code="object-not-found"
    )
