# SPDX-License-Identifier: Apache-2.0
"""Put an object: its bytes into the store, then its entry into the branch's staging area.

The object is there before its entry: an entry never names what is not whole. A put that fails in
between leaves an object that nobody names, for the collector.

A conditional put asks before it takes the bytes, and once more when it stages (stage_if).
"""

from collections.abc import Mapping

from lochan.errors import InvalidInput
from lochan.model.codec import encode_entry
from lochan.model.entry import DEFAULT_CONTENT_TYPE, AddressType, Entry, identity
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.instant import from_seconds
from lochan.model.records import Repository, StagedEntry
from lochan.objects.body import Measured
from lochan.objects.store import IF_ABSENT, Body
from lochan.operations.conditions import Condition
from lochan.operations.lake import Lake
from lochan.operations.stage import seen_writable, stage_rows
from lochan.operations.stage_if import require_condition, stage_if

# A listing holds a thousand entries in memory: metadata, type and checksum must have a bound (S18).
MAX_DESCRIPTION_BYTES = 64 << 10


def put_object(  # noqa: PLR0913 - what a caller may say of an object
    lake: Lake,
    repository: Repository,
    branch: BranchName,
    key: ObjectKey,
    body: Body,
    *,
    size: int | None = None,
    content_type: str = DEFAULT_CONTENT_TYPE,
    metadata: Mapping[str, str] | None = None,
    condition: Condition | None = None,
) -> Entry:
    """Store an object and stage its entry. Raises: as `stage_entry`."""
    seen_writable(lake, repository, branch)  # a branch that takes no writes takes no bytes
    if condition is not None:
        require_condition(lake, repository, branch, key, condition)
    storage = lake.storage(repository.storage_namespace)
    address = storage.addresses.new(key.decode(errors="replace"))
    measured = Measured(body)
    storage.objects.put(address, measured, size=size, when=IF_ABSENT)
    entry = Entry(
        address=address,
        last_modified=from_seconds(lake.environment.now()),
        size=measured.size,
        e_tag=measured.md5,
        metadata=metadata or {},
        address_type=AddressType.RELATIVE,
        content_type=content_type,
    )
    stage_entry(lake, repository, branch, key, entry, condition=condition)
    return entry


def stage_entry(
    lake: Lake,
    repository: Repository,
    branch: BranchName,
    key: ObjectKey,
    entry: Entry,
    *,
    condition: Condition | None = None,
) -> None:
    """Stage the entry of an object that is in the store already.

    Raises: InvalidInput, code description-too-large; PredicateFailed where the condition fails;
    Conflict, code write-overtaken, where nobody can tell whether it was met; as `stage`.
    """
    staged = staged_entry(key, entry)
    if condition is None:
        stage_rows(lake, repository, branch, [staged])
        return
    stage_if(lake, repository, branch, staged, condition)


def staged_entry(key: ObjectKey, entry: Entry) -> StagedEntry:
    """Write an entry as it is staged. Raises InvalidInput, code description-too-large."""
    staged = StagedEntry(key, identity(entry), encode_entry(entry))
    if len(staged.data) > MAX_DESCRIPTION_BYTES and not entry.blocks:
        message = f"what is said of object {key!r} has more than {MAX_DESCRIPTION_BYTES} bytes"
        raise InvalidInput(f"{message}; shorten its metadata", code="description-too-large")
    return staged
