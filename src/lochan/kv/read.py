# SPDX-License-Identifier: Apache-2.0
"""Reading beyond the contract: a record that may be absent, and the keys below a prefix."""

from collections.abc import Iterator

from lochan.errors import NotFound
from lochan.kv.store import Pair, Store, Versioned


def find(store: Store, partition: bytes, key: bytes) -> Versioned | None:
    """Read one record, or None where there is none; a store that fails still raises."""
    try:
        return store.get(partition, key)
    except NotFound:
        return None


def scan_prefix(
    store: Store, partition: bytes, prefix: bytes, after: bytes = b""
) -> Iterator[Pair]:
    """Give the records whose keys begin with `prefix` and follow `after`, in byte order."""
    # No key lies between `after` and `after` with a zero byte behind it.
    start = max(prefix, after + b"\0") if after else prefix
    for pair in store.scan(partition, start):
        if not pair[0].startswith(prefix):
            return
        yield pair
