# SPDX-License-Identifier: Apache-2.0
"""Rename a prefix by metadata alone: each entry goes to its new key, and no object is touched.

It works on what the branch shows, some keys at a time:

    1. read a page of the source, log its addresses (H19), read the page again
    2. stage the entries of both readings under their new keys
    3. stage tombstones at the old keys

Step 3 begins when step 2 was acknowledged, so every object can be reached under one key or the
other at any time, and under both for a moment. The whole is not atomic: others see some keys moved
and others not, and a commit may fall in between. After a failure what was moved stays moved, and
the same call with `overwrite` moves the rest. What others put under the source meanwhile is moved,
stays, or, if it replaces a key between the second reading and its tombstone, is lost: nobody should
write there while it moves. Nor should anybody reset the branch: what was staged under the new keys
of a page would be forgotten, and the tombstones come after (commits keep the objects).
"""

from collections.abc import Callable, Iterator

from lochan.errors import AlreadyExists, Conflict, InvalidInput
from lochan.kernel.records import Record
from lochan.model.codec import decode_entry
from lochan.model.entry import addresses_of
from lochan.model.ids import MAX_KEY_BYTES, BranchName, ObjectKey
from lochan.model.records import Repository, StagedEntry
from lochan.operations.delete_objects import delete_objects
from lochan.operations.lake import Lake
from lochan.operations.list_objects import ListingPage, list_objects
from lochan.operations.stage import seen_writable, stage_rows
from lochan.refs.copy_log import log_copies
from lochan.refs.outcomes import begun

AT_ONCE = 1000  # keys
ATTEMPTS = 100  # for a page whose entries change between any two readings

# Refuses, by an error, a caller that may not move one key to another.
Require = Callable[[bytes, bytes], None]


def rename_prefix(
    lake: Lake,
    repository: Repository,
    branch: BranchName,
    source: bytes,
    destination: bytes,
    *,
    overwrite: bool = False,
    require: Require | None = None,
) -> int:
    """Move every key under `source` to `destination`; count them.

    With `overwrite`, what lies under the destination stays there unless a key is moved over it.
    `require` is asked of all keys before the first one moves, and again of each as it moves.
    Raises: what `require` raises; AlreadyExists; Refused; InvalidInput when one prefix begins with
    the other, or a new key would be too long; UnknownOutcome when some keys may have been moved.
    """
    _require_apart(source, destination)
    seen_writable(lake, repository, branch)
    if not overwrite and list_objects(lake, repository, branch, destination, amount=1).items:
        raise AlreadyExists(
            f"there are objects under {destination!r} on {branch!r}; choose another prefix, or"
            " overwrite them, which also ends a rename that was interrupted",
            code="prefix-exists",
        )
    if len(destination) > len(source) or require is not None:
        _require_movable(lake, repository, branch, (source, destination), require)
    moved, after = 0, b""
    with begun(f"the rename of {source!r}"):
        while True:
            page = _logged_page(lake, repository, branch, source, after)
            rows = list(_rows(page))
            if rows:
                _require_rows(rows, (source, destination), require)
                _move(lake, repository, branch, rows, (source, destination))
                moved, after = moved + len(rows), rows[-1].key
            if not page.has_more:
                return moved


def _move(
    lake: Lake,
    repository: Repository,
    branch: BranchName,
    rows: list[Record],
    prefixes: tuple[bytes, bytes],
) -> None:
    source, destination = prefixes
    moved = [
        StagedEntry(destination + row.key[len(source) :], row.identity, row.value) for row in rows
    ]
    stage_rows(lake, repository, branch, moved)
    delete_objects(lake, repository, branch, (ObjectKey(row.key) for row in rows))


def _logged_page(
    lake: Lake, repository: Repository, branch: BranchName, source: bytes, after: bytes
) -> ListingPage:
    """Give a page of which every address was logged before it was read for the last time."""
    logged: set[str] = set()
    for _ in range(ATTEMPTS):
        page = list_objects(lake, repository, branch, source, after=after, amount=AT_ONCE)
        entries = (decode_entry(row.value) for row in _rows(page))
        fresh = {address for entry in entries for address in addresses_of(entry)} - logged
        if not fresh:
            return page
        log_copies(lake.store, lake.environment, repository, sorted(fresh))
        logged |= fresh
    raise Conflict(f"what is under {source!r} on {branch!r} kept changing; rename it again")


def _rows(page: ListingPage) -> Iterator[Record]:
    return (item for item in page.items if isinstance(item, Record))


def _require_apart(source: bytes, destination: bytes) -> None:
    if source.startswith(destination) or destination.startswith(source):
        message = f"{source!r} and {destination!r} overlap; a prefix moves to one beside it"
        raise InvalidInput(message, code="prefixes-overlap")


def _require_movable(
    lake: Lake,
    repository: Repository,
    branch: BranchName,
    prefixes: tuple[bytes, bytes],
    require: Require | None,
) -> None:
    """Refuse before anything is moved, rather than in the middle."""
    after, has_more = b"", True
    while has_more:
        page = list_objects(lake, repository, branch, prefixes[0], after=after, amount=AT_ONCE)
        rows = list(_rows(page))
        _require_rows(rows, prefixes, require)
        after, has_more = rows[-1].key if rows else after, page.has_more


def _require_rows(
    rows: list[Record], prefixes: tuple[bytes, bytes], require: Require | None
) -> None:
    source, destination = prefixes
    for row in rows:
        if len(row.key) > MAX_KEY_BYTES - len(destination) + len(source):
            message = f"{row.key!r} would be longer than {MAX_KEY_BYTES} bytes; shorten it"
            raise InvalidInput(message, code="invalid-object-path")
        if require is not None:
            require(row.key, destination + row.key[len(source) :])
