# SPDX-License-Identifier: Apache-2.0
"""The KV suite's part on scans and bulk writes: K3, and what comfort is built on it."""

import pytest

from lochan.errors import Unavailable
from lochan.kv.read import scan_prefix
from lochan.kv.set_many import set_many
from lochan.kv.store import MAX_KEY_BYTES, Store
from lochan.testing.kv_given import Given, fill


class ScanConformance(Given):
    """K3: scans."""

    def test_rel_K3_a_scan_is_in_byte_order(self, store: Store, partition: bytes) -> None:
        ends = [
            b"",
            b"\0",
            b"\0\0",
            b"\1",
            b"/",
            b"a",
            b"\x7f",
            b"\x80",
            b"\xfe",
            b"\xff",
            b"\xff\xff",
        ]
        keys = [first + end for first in (b"\0", b"A", b"a", b"\xc3", b"\xff") for end in ends]
        for key in reversed(keys):
            store.set(partition, key, b"value")
        assert [key for key, _ in store.scan(partition)] == sorted(keys)

    def test_a_scan_begins_at_its_start(self, store: Store, partition: bytes) -> None:
        keys = fill(store, partition)
        assert [key for key, _ in store.scan(partition, keys[300])] == keys[300:]
        assert [key for key, _ in store.scan(partition, keys[300] + b"\0")] == keys[301:]
        assert list(store.scan(partition, b"\xff" * (MAX_KEY_BYTES + 1))) == []

    def test_a_scan_stays_in_its_partition(self, store: Store, partition: bytes) -> None:
        for tail in (b"a", b"a\0", b"b"):
            store.set(partition + tail, b"key" + tail, b"value")
        assert list(store.scan(partition + b"a")) == [(b"keya", b"value")]
        assert list(store.scan(partition)) == []

    def test_a_scan_of_a_prefix_stops_behind_it(self, store: Store, partition: bytes) -> None:
        for key in (b"a", b"a/1", b"a/2", b"a/\xff", b"a0", b"b"):
            store.set(partition, key, b"value")
        below = [key for key, _ in scan_prefix(store, partition, b"a/")]
        assert below == [b"a/1", b"a/2", b"a/\xff"]
        assert [key for key, _ in scan_prefix(store, partition, b"a/", after=b"a/1")] == below[1:]

    def test_deleting_what_a_scan_gives_does_not_disturb_it(
        self, store: Store, partition: bytes
    ) -> None:
        keys = fill(store, partition, 200)
        seen = []
        for key, _ in store.scan(partition):
            seen.append(key)
            store.delete(partition, key)
        assert seen == keys
        assert list(store.scan(partition)) == []

    def test_rel_K3_a_scan_gives_what_stays_while_others_delete_and_add(
        self, store: Store, partition: bytes
    ) -> None:
        keys = fill(store, partition)
        scan = store.scan(partition)
        seen = [next(scan)[0]]
        for key in keys[1::20]:
            store.delete(partition, key)
            store.set(partition, key + b"+", b"new")
        seen += [key for key, _ in scan]
        assert seen == sorted(set(seen))
        assert set(keys) - set(keys[1::20]) <= set(seen)

    def test_two_scans_run_side_by_side(self, store: Store, partition: bytes) -> None:
        keys = fill(store, partition)
        pairs = zip(store.scan(partition), store.scan(partition), strict=True)
        assert [(left[0], right[0]) for left, right in pairs] == [(key, key) for key in keys]

    def test_large_values_are_scanned(self, store: Store, partition: bytes) -> None:
        values = {b"%02d" % number: bytes([number]) * (1 << 20) for number in range(12)}
        set_many(store, partition, values)
        assert dict(store.scan(partition)) == values

    def test_rel_K3_a_scan_raises_when_the_store_goes_away_midway(
        self, store: Store, partition: bytes
    ) -> None:
        fill(store, partition)
        other = self.reopen(store)
        scan = other.scan(partition)
        next(scan)
        other.close()
        with pytest.raises(Unavailable):
            list(scan)
