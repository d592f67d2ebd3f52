# SPDX-License-Identifier: Apache-2.0
"""Entries as the API shows them."""

from functools import lru_cache

from lochan.model.entry import Entry
from lochan.model.ids import StorageNamespace, valid_object_key
from lochan.model.instant import to_seconds
from lochan.model.records import Repository
from lochan.objects.namespace import Namespace
from lochan.operations.read_object import recall_entry
from lochan.shapes.objects import ObjectStats
from lochan.web.route import Glance


def object_stats(
    repository: Repository, path: str, entry: Entry, *, told: bool | None = None
) -> ObjectStats:
    """Show an entry with all that is known of it.

    Without `told` metadata is always there, if only as {}; listings leave out what is empty, or all
    of it where nobody wants to be told.
    """
    metadata = dict(entry.metadata)
    return ObjectStats(
        path=path,
        path_type="object",
        physical_address=physical_address(repository, entry),
        checksum=entry.e_tag,
        size_bytes=entry.size,
        mtime=to_seconds(entry.last_modified),
        metadata=metadata if told is None or (told and metadata) else None,
        content_type=entry.content_type or None,
    )


def entry_at_once(glance: Glance, path: str) -> Entry | None:
    """Give the entry that a ref shows, if that needs no waiting."""
    key = valid_object_key(path)
    return recall_entry(glance.lake, glance.repository, glance.path["ref"], key)


def prefix_stats(path: str) -> ObjectStats:
    """Show what a delimiter hides."""
    return ObjectStats(
        path=path, path_type="common_prefix", physical_address="", checksum="", mtime=0
    )


def physical_address(repository: Repository, entry: Entry) -> str:
    """Say where an entry's bytes lie, in full; a file of several blocks lies in no one place."""
    if not entry.address or not entry.is_relative:
        return entry.address
    return beginning(repository.storage_namespace) + entry.address


@lru_cache(10_000)
def beginning(namespace: StorageNamespace) -> str:
    """Give what every full address in a namespace begins with."""
    return Namespace.parse(namespace).physical("")
