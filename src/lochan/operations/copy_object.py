# SPDX-License-Identifier: Apache-2.0
"""Copy an object to a key of a branch, from any ref.

    within a branch     by reference: a second entry for the same address, which is logged (H19)
    files of blocks     by reference, from anywhere but an expired commit: the same list of blocks
    from another ref    by bytes: the object store copies to a fresh address, or, where the object
                        lies outside of the lake, its bytes are streamed there

A copy is a new entry: its time is its own, and its metadata and content type may be. The content
is the same, and so is the checksum.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import msgspec

from lochan.errors import Conflict, PredicateFailed
from lochan.model.entry import AddressType, Entry, addresses_of
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.instant import from_seconds
from lochan.model.records import Repository
from lochan.objects.store import IF_ABSENT
from lochan.operations.conditions import Condition
from lochan.operations.lake import Lake
from lochan.operations.put_object import stage_entry
from lochan.operations.read_entry import locate, read_entry
from lochan.operations.read_object import stat_object
from lochan.operations.stage import seen_writable
from lochan.operations.stage_if import require_condition
from lochan.refs.copy_log import log_copies
from lochan.refs.expired import require_kept
from lochan.refs.resolve import resolve

# A source that changes between two looks, each a few milliseconds apart, again and again.
ATTEMPTS = 100


@dataclass(frozen=True, slots=True)
class Source:
    """What is copied: a key under a ref, and the checksum that it must have, if not empty."""

    ref: str
    key: ObjectKey
    if_match: str = ""


def copy_object(  # noqa: PLR0913 - what a caller may say of a copy
    lake: Lake,
    repository: Repository,
    branch: BranchName,
    key: ObjectKey,
    source: Source,
    *,
    metadata: Mapping[str, str] | None = None,
    content_type: str | None = None,
    condition: Condition | None = None,
) -> Entry:
    """Copy an object and stage its entry; what is None stays as it is at the source.

    Raises: NotFound for the source; Gone, code commit-expired or object-expired, for one that is no
    longer kept; PredicateFailed, code source-changed or object-changed, when source or destination
    is not as expected; Conflict when the source kept changing, or as `stage_entry`.
    """
    seen_writable(lake, repository, branch)  # a branch that takes no writes takes no bytes
    found = _source(lake, repository, source)
    if condition is not None:
        require_condition(lake, repository, branch, key, condition)
    if source.ref in {branch, f"{branch}$", f"{branch}@"}:
        copied = _held(lake, repository, source, found)
    elif found.is_of_blocks:
        copied = _held_elsewhere(lake, repository, source, found)
    else:
        copied = _copied(lake, repository, key, found)
    entry = msgspec.structs.replace(
        copied,
        last_modified=from_seconds(lake.environment.now()),
        metadata=copied.metadata if metadata is None else metadata,
        content_type=copied.content_type if content_type is None else content_type,
    )
    stage_entry(lake, repository, branch, key, entry, condition=condition)
    return entry


def hold_source(lake: Lake, repository: Repository, source: Source) -> Entry:
    """Give what a branch shows, held from collection so that an entry of it may be staged again.

    Raises: NotFound; Conflict when it kept changing.
    """
    return _held(lake, repository, source, _source(lake, repository, source))


def _source(lake: Lake, repository: Repository, source: Source) -> Entry:
    found = stat_object(lake, repository, source.ref, source.key)
    if source.if_match and found.e_tag != source.if_match:
        raise PredicateFailed(
            f"object {source.key!r} of {source.ref!r} has the checksum {found.e_tag}, not"
            f" {source.if_match}; read it and decide again",
            code="source-changed",
        )
    return found


def _held(lake: Lake, repository: Repository, source: Source, found: Entry) -> Entry:
    """Log the addresses of an entry that is still there afterwards: then no collector takes them.

    That of the source's first look may be gone by the time it is logged, and its object with it.
    """
    for _ in range(ATTEMPTS):
        log_copies(lake.store, lake.environment, repository, addresses_of(found))
        again = _source(lake, repository, source)
        if addresses_of(again) == addresses_of(found):
            return again
        found = again
    raise Conflict(f"object {source.key!r} of {source.ref!r} kept changing; copy it again")


def _held_elsewhere(lake: Lake, repository: Repository, source: Source, found: Entry) -> Entry:
    """Log the addresses of an entry of another branch, or of a commit that is kept.

    A commit shows its entries for ever, whatever became of the objects.
    """
    meant = resolve(lake.tables(repository), source.ref)
    if meant.staging:
        return _held(lake, repository, source, found)
    held = _held(lake, repository, replace(source, ref=meant.commit_id), found)
    require_kept(lake.store, repository, meant.commit_id)
    return held


def _copied(lake: Lake, repository: Repository, key: ObjectKey, found: Entry) -> Entry:
    """Give an object's bytes a second, fresh address."""
    storage = lake.storage(repository.storage_namespace)
    address = storage.addresses.new(key.decode(errors="replace"))
    store, name = locate(lake, repository, found.address)
    if store is storage.objects:
        size = store.copy(name, address).size
    else:
        with read_entry(lake, repository, found) as reading:
            size = storage.objects.put(address, reading, size=found.size, when=IF_ABSENT).size
    if size != found.size:
        raise Conflict(f"object {found.address!r} has {size} bytes and had {found.size}")
    return msgspec.structs.replace(found, address=address, address_type=AddressType.RELATIVE)
