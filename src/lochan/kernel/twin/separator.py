# SPDX-License-Identifier: Apache-2.0
"""Short keys for the index.

The index says of each data block a key that is not below its last and below the next block's first.
A shortened separator is a key that no row has; it carries the largest sequence number, so that it
sorts before any row of that key. One that could not be shortened is the last row's own key.
"""

SET_TRAILER = b"\x01" + bytes(7)  # sequence number 0, kind SET
SEPARATOR_TRAILER = b"\x11" + b"\xff" * 7  # the largest sequence number, kind SEPARATOR
NO_ROW_TRAILER = b"\xff" + bytes(7)  # the index key of a table without rows


def separator(last: bytes, following: bytes) -> bytes:
    """Give the index key of a block that ends with `last` and is followed by `following`."""
    return _index_key(last, _between(last, following))


def successor(last: bytes) -> bytes:
    """Give the index key of the final block."""
    return _index_key(last, _increment_from(last, 0))


def _index_key(last: bytes, candidate: bytes) -> bytes:
    if candidate > last:
        return candidate + SEPARATOR_TRAILER
    return last + SET_TRAILER


def _between(last: bytes, following: bytes) -> bytes:
    """Shorten `last` to a key in [last, following); `last` itself when there is no shorter one."""
    at = 0
    shorter = min(len(last), len(following))
    while at < shorter and last[at] == following[at]:
        at += 1
    if at == shorter:  # one is a prefix of the other
        return last
    if at < len(following) - 1 or last[at] + 1 < following[at]:
        return last[:at] + bytes((last[at] + 1,))
    # Counting up the differing byte would give `following` itself; a later byte may grow instead.
    return _increment_from(last, at + 1)


def _increment_from(key: bytes, start: int) -> bytes:
    """Cut after the first byte from `start` on that can grow, and count it up."""
    for at in range(start, len(key)):
        if key[at] != 0xFF:
            return key[:at] + bytes((key[at] + 1,))
    return key
