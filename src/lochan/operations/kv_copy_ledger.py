# SPDX-License-Identifier: Apache-2.0
"""What a copy of a lake remembers, in the target, so that it can be killed and go on.

    partition kv-copy    state                      Phase, and at the end the report
                         partitions/<partition>     rows were copied into this partition, or will be
                         fenced/<repository>/<uid>  the copy makes, or made, this repository
                                                    read-only in the source; value: "closing" or
                                                    "closed"

Each row is written before the thing that it tells of. A partition that the source has forgotten is
thus still known, and emptied; a flag that the copy set is known from one that was set before.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Final

import msgspec

from lochan.errors import Refused
from lochan.kv.read import find, scan_prefix
from lochan.kv.store import Store
from lochan.model.records import Repository
from lochan.refs.partitions import FIXED

PARTITION: Final = b"kv-copy"
RESTORING: Final = b"kv-restore"  # where a restore notes that it has begun (`kv_restore`)
_STATE: Final = b"state"
_PARTITIONS: Final = b"partitions/"
_FENCED: Final = b"fenced/"
_CLOSING, _CLOSED = b"closing", b"closed"


class Phase(StrEnum):
    """How far a copy has come."""

    COPYING = "copying"
    CLOSED = "closed"  # the source is read-only, the rest is being copied and compared
    DONE = "done"


class Copied(msgspec.Struct, frozen=True, kw_only=True):
    """What was copied and found equal: the lake as it is in the target."""

    passes: int
    partitions: int
    rows: int
    size_bytes: int


class _State(msgspec.Struct, frozen=True, kw_only=True):
    phase: Phase
    copied: Copied | None = None


class Ledger:
    """The memory of one copy; one process works on it at a time."""

    def __init__(self, target: Store) -> None:
        """Read what an earlier process has left.

        Raises Refused (code target-not-empty) for a store that holds something else.
        """
        self._target = target
        found = find(target, PARTITION, _STATE)
        if found is None:
            require_empty(target)
            self._state = _State(phase=Phase.COPYING)
            self._put(self._state)
        else:
            self._state = msgspec.json.decode(found.value, type=_State)
        entered = scan_prefix(target, PARTITION, _PARTITIONS)
        self._partitions = {key.removeprefix(_PARTITIONS) for key, _ in entered}
        self._fenced = dict(scan_prefix(target, PARTITION, _FENCED))

    @property
    def phase(self) -> Phase:
        """How far the copy has come."""
        return self._state.phase

    @property
    def copied(self) -> Copied | None:
        """The report, once the copy is done."""
        return self._state.copied

    def reach(self, phase: Phase, copied: Copied | None = None) -> None:
        """Remember that the copy has come so far."""
        self._state = _State(phase=phase, copied=copied)
        self._put(self._state)

    def enter(self, partition: bytes) -> None:
        """Remember that the target may hold rows of a partition."""
        if partition not in self._partitions:
            self._target.set(PARTITION, _PARTITIONS + partition, b"")
            self._partitions.add(partition)

    def partitions(self) -> Iterator[bytes]:
        """Give the partitions that were entered, by any process."""
        return iter(sorted(self._partitions))

    def is_ours(self, repository: Repository) -> bool:
        """Say whether the copy, and nobody before it, made a repository read-only."""
        return _fence_key(repository) in self._fenced

    def is_closed(self, repository: Repository) -> bool:
        """Say whether a repository needs no more closing."""
        return self._fenced.get(_fence_key(repository)) == _CLOSED

    def close(self, repository: Repository, *, done: bool) -> None:
        """Remember a repository that is being closed, or is."""
        value = _CLOSED if done else _CLOSING
        self._target.set(PARTITION, _fence_key(repository), value)
        self._fenced[_fence_key(repository)] = value

    def reopen(self, repository: Repository) -> None:
        """Forget a repository that was closed."""
        self._target.delete(PARTITION, _fence_key(repository))
        self._fenced.pop(_fence_key(repository), None)

    def tidy(self) -> None:
        """Remove everything but the report."""
        for prefix in (_PARTITIONS, _FENCED):
            for key, _ in scan_prefix(self._target, PARTITION, prefix):
                self._target.delete(PARTITION, key)

    def _put(self, state: _State) -> None:
        self._target.set(PARTITION, _STATE, msgspec.json.encode(state))


def _fence_key(repository: Repository) -> bytes:
    return _FENCED + f"{repository.repository_id}/{repository.unique_identifier}".encode()


def require_empty(target: Store) -> None:
    """Refuse a store that holds anything of a lake, or soon will.

    Raises Refused (code target-not-empty).
    """
    for partition in (*FIXED, PARTITION, RESTORING):
        for key, _ in target.scan(partition):
            message = (
                f"the target holds {key.decode(errors='replace')!r} in"
                f" {partition.decode()!r}: a lake is copied or restored into an empty store"
            )
            raise Refused(message, code="target-not-empty", partition=partition)
