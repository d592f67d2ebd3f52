# SPDX-License-Identifier: Apache-2.0
"""Fill an empty KV store from a snapshot, after every byte of it was checked.

    1. check    every part is read and compared with its hash; damage ends it before a row is set
    2. note     `kv-restore` / `state` names the snapshot
    3. fill     rows in the order of the snapshot: repositories' records come last
    4. end      the note is removed

Until step 3 ends the store has no repositories, so nobody works on half a lake. A restore that died
is called again with the same snapshot and goes on; any other store that holds something is refused.
Objects and files of metadata are not part of a snapshot: they must lie where they lay.
"""

from collections.abc import Callable
from contextlib import suppress
from itertools import groupby
from typing import Final

from lochan.errors import PredicateFailed, Refused
from lochan.kv.read import find
from lochan.kv.set_many import set_many
from lochan.kv.store import Store
from lochan.objects.store import ObjectStore
from lochan.operations.kv_copy_ledger import RESTORING as PARTITION
from lochan.operations.kv_copy_ledger import require_empty
from lochan.operations.kv_snapshot_parts import Snapshot, get_manifest, get_part

__all__ = ["PARTITION", "restore_store"]

_STATE: Final = b"state"

Told = Callable[[str, int, int], None]  # what is done, and how many of how many rows


def _untold(_stage: str, _done: int, _all: int) -> None:
    """Tell nobody."""


def restore_store(
    objects: ObjectStore, snapshot_id: str, target: Store, *, progress: Told = _untold
) -> Snapshot:
    """Fill an empty store with what a snapshot holds; after an error, call it again.

    Raises: NotFound, Corruption, Refused (code target-not-empty), Unavailable, UnknownOutcome.
    """
    snapshot = get_manifest(objects, snapshot_id)
    _require_ours(target, snapshot_id)
    seen = 0
    for part in snapshot.parts:
        seen += len(get_part(objects, snapshot_id, part))
        progress("checking", seen, snapshot.rows)
    with suppress(PredicateFailed):  # noted before; by whom is seen in the next line
        target.set_if(PARTITION, _STATE, snapshot_id.encode(), None)
    _require_ours(target, snapshot_id)
    filled = 0
    for part in snapshot.parts:
        rows = get_part(objects, snapshot_id, part)
        for partition, group in groupby(rows, key=lambda row: row[0]):
            set_many(target, partition, ((key, value) for _, key, value in group))
        filled += len(rows)
        progress("restoring", filled, snapshot.rows)
    target.delete(PARTITION, _STATE)
    return snapshot


def _require_ours(target: Store, snapshot_id: str) -> None:
    """Refuse a store that holds anything but the beginning of this very restore."""
    found = find(target, PARTITION, _STATE)
    if found is None:
        require_empty(target)
    elif found.value != snapshot_id.encode():
        begun = found.value.decode(errors="replace")
        message = f"this store is being restored from {begun!r}; go on with that, or empty it"
        raise Refused(message, code="target-not-empty", snapshot=begun)
