# SPDX-License-Identifier: Apache-2.0
"""A snapshot as a dictionary, and the rules of the formats page written out plainly.

Nothing here is taken from the package: the cut rule, the ids and the row algebra are written a
second time, as slowly and as plainly as they can be.
"""

from collections.abc import Iterable
from hashlib import sha256

from lochan.committed import Cuts
from support.record_strategies import Rows

Row = tuple[bytes, bytes, bytes]


def applied(base: Rows, changes: Rows) -> Rows:
    """Apply changes; an empty identity removes, one that is there already changes nothing."""
    result = dict(base)
    for key, (identity, value) in changes.items():
        if not identity:
            result.pop(key, None)
        elif key not in base or base[key][0] != identity:
            result[key] = (identity, value)
    return result


def differing(left: Rows, right: Rows) -> list[tuple[str, bytes]]:
    """Name the keys whose identities differ, in key order, and how."""
    found = []
    for key in sorted(left.keys() | right.keys()):
        if key not in left:
            found.append(("added", key))
        elif key not in right:
            found.append(("removed", key))
        elif left[key][0] != right[key][0]:
            found.append(("changed", key))
    return found


def merged(
    base: Rows, dest: Rows, source: Rows, strategy: str
) -> tuple[dict[bytes, bytes], list[bytes]]:
    """Merge by identity: the identities that come of it, and the keys in conflict."""
    result, conflicts = {}, []
    for key in sorted(base.keys() | dest.keys() | source.keys()):
        old, ours, theirs = (identity_of(side, key) for side in (base, dest, source))
        if theirs in {ours, old}:
            winner = ours
        elif ours == old:
            winner = theirs
        else:
            conflicts.append(key)
            winner = theirs if strategy == "source-wins" else ours
        if winner:
            result[key] = winner
    return result, conflicts


def identity_of(rows: Rows, key: bytes) -> bytes:
    """Give the identity under a key; empty where there is none."""
    return rows.get(key, (b"", b""))[0]


def listed(rows: Rows, prefix: bytes, delimiter: bytes) -> list[bytes]:
    """List what a listing shows, by key or common prefix."""
    items: list[bytes] = []
    for key in sorted(rows):
        if not key.startswith(prefix):
            continue
        hidden = key.find(delimiter, len(prefix)) if delimiter else -1
        item = key if hidden < 0 else key[: hidden + len(delimiter)]
        if item not in items:
            items.append(item)
    return items


def fnv1a64(data: bytes) -> int:
    """FNV-1a, 64 bits."""
    state = 0xCBF29CE484222325
    for byte in data:
        state = (state ^ byte) * 0x100000001B3 % (1 << 64)
    return state


def is_hash_cut(key: bytes, cuts: Cuts) -> bool:
    """Say whether a range ends behind this key whatever its size."""
    return fnv1a64(key) % cuts.raggedness == 0


def cut(rows: Rows, cuts: Cuts) -> list[list[Row]]:
    """Cut a snapshot into its ranges."""
    ranges: list[list[Row]] = []
    current: list[Row] = []
    size = 0
    for key, (identity, value) in sorted(rows.items()):
        current.append((key, identity, value))
        size += len(key) + len(identity) + len(value)
        if is_hash_cut(key, cuts) or size >= cuts.cap_bytes:
            ranges.append(current)
            current, size = [], 0
    return [*ranges, current] if current else ranges


def file_id(rows: Iterable[Row]) -> str:
    """Name a file by its rows."""
    ids = (
        sha256(sha256(key).digest() + sha256(_stored(identity, value)).digest()).digest()
        for key, identity, value in rows
    )
    return sha256(b"".join(ids)).hexdigest()


def _stored(identity: bytes, value: bytes) -> bytes:
    return _length(identity) + identity + _length(value) + value


def _length(data: bytes) -> bytes:
    number, digits = 2 * len(data), bytearray()
    while number >= 128:
        digits.append(number % 128 + 128)
        number //= 128
    return bytes([*digits, number])
