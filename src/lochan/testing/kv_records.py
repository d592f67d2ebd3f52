# SPDX-License-Identifier: Apache-2.0
"""The KV suite's part on single records: K1, K2, K4, K5, K8."""

import pytest

from lochan.errors import InvalidInput, NotFound, PredicateFailed
from lochan.kv.read import find
from lochan.kv.store import (
    EXISTS,
    MAX_KEY_BYTES,
    MAX_PARTITION_BYTES,
    MAX_VALUE_BYTES,
    Store,
)
from lochan.kv.update import update
from lochan.testing.kv_given import ENVIRONMENT, Given, in_threads
from lochan.testing.kv_process import increment


class RecordConformance(Given):
    """K1, K4, K5: single records."""

    def test_a_get_returns_what_was_set(self, store: Store, partition: bytes) -> None:
        store.set(partition, b"key", b"first")
        store.set(partition, b"key", b"second")
        assert store.get(partition, b"key").value == b"second"

    def test_rel_K1_another_handle_sees_a_finished_write(
        self, store: Store, partition: bytes
    ) -> None:
        other = self.reopen(store)
        store.set(partition, b"key", b"value")
        assert other.get(partition, b"key").value == b"value"
        assert list(other.scan(partition)) == [(b"key", b"value")]
        if other is not store:
            other.close()

    def test_an_absent_record_is_not_found(self, store: Store, partition: bytes) -> None:
        with pytest.raises(NotFound):
            store.get(partition, b"key")
        assert find(store, partition, b"key") is None

    def test_a_deleted_record_is_gone(self, store: Store, partition: bytes) -> None:
        store.set(partition, b"key", b"value")
        store.delete(partition, b"key")
        store.delete(partition, b"key")
        assert find(store, partition, b"key") is None

    def test_an_empty_value_is_a_value(self, store: Store, partition: bytes) -> None:
        store.set(partition, b"key", b"")
        assert store.get(partition, b"key").value == b""
        assert list(store.scan(partition)) == [(b"key", b"")]

    def test_rel_K4_partition_and_key_do_not_run_together(
        self, store: Store, partition: bytes
    ) -> None:
        places = [(b"", b"/b/c"), (b"/", b"b/c"), (b"/b", b"/c"), (b"/b/", b"c"), (b"\0", b"/b/c")]
        for number, (tail, key) in enumerate(places):
            store.set(partition + tail, key, b"%d" % number)
        for number, (tail, key) in enumerate(places):
            assert list(store.scan(partition + tail)) == [(key, b"%d" % number)]

    def test_rel_K5_a_write_touches_no_other_partition(
        self, store: Store, partition: bytes
    ) -> None:
        store.set(partition + b"a", b"key", b"value")
        store.delete(partition + b"b", b"key")
        with pytest.raises(PredicateFailed):
            store.set_if(partition + b"b", b"key", b"other", EXISTS)
        assert list(store.scan(partition + b"a")) == [(b"key", b"value")]
        assert list(store.scan(partition + b"b")) == []

    def test_every_byte_is_kept(self, store: Store, partition: bytes) -> None:
        every = bytes(range(256))
        store.set(partition[:200] + every, every, every)
        assert list(store.scan(partition[:200] + every)) == [(every, every)]

    def test_the_largest_record_is_kept(self, store: Store, partition: bytes) -> None:
        # Random, since a server may compress what it indexes and so hide that a key does not fit.
        space = partition + ENVIRONMENT.random_bytes(MAX_PARTITION_BYTES - len(partition))
        key, value = ENVIRONMENT.random_bytes(MAX_KEY_BYTES), bytes(MAX_VALUE_BYTES)
        store.set(space, key, value)
        assert store.get(space, key).value == value
        assert [found for found, _ in store.scan(space, key)] == [key]
        store.delete(space, key)

    def test_what_no_store_takes_is_refused(self, store: Store, partition: bytes) -> None:
        too_long = [
            (b"p" * (MAX_PARTITION_BYTES + 1), b"k"),
            (partition, b"k" * (MAX_KEY_BYTES + 1)),
        ]
        for space, key in [(b"", b"key"), (partition, b""), *too_long]:
            with pytest.raises(InvalidInput):
                store.set(space, key, b"value")
            with pytest.raises(InvalidInput):
                store.get(space, key)
        for value in (None, "text", bytes(MAX_VALUE_BYTES + 1)):
            with pytest.raises(InvalidInput):
                store.set(partition, b"key", value)  # type: ignore[arg-type]  # wrong on purpose
        assert find(store, partition, b"key") is None


class ConditionalConformance(Given):
    """K2, K7, K8: compare-and-swap."""

    def test_set_if_none_creates_once(self, store: Store, partition: bytes) -> None:
        store.set_if(partition, b"key", b"first", None)
        with pytest.raises(PredicateFailed):
            store.set_if(partition, b"key", b"second", None)
        assert store.get(partition, b"key").value == b"first"

    def test_set_if_exists_replaces_only(self, store: Store, partition: bytes) -> None:
        with pytest.raises(PredicateFailed):
            store.set_if(partition, b"key", b"value", EXISTS)
        store.set(partition, b"key", b"")
        store.set_if(partition, b"key", b"replaced", EXISTS)
        assert store.get(partition, b"key").value == b"replaced"

    def test_set_if_replaces_what_was_read(self, store: Store, partition: bytes) -> None:
        store.set(partition, b"key", b"first")
        read = store.get(partition, b"key")
        store.set_if(partition, b"key", b"second", read.predicate)
        with pytest.raises(PredicateFailed):
            store.set_if(partition, b"key", b"third", read.predicate)
        assert store.get(partition, b"key").value == b"second"

    def test_set_if_of_a_deleted_record_fails(self, store: Store, partition: bytes) -> None:
        store.set(partition, b"key", b"")
        read = store.get(partition, b"key")
        store.delete(partition, b"key")
        with pytest.raises(PredicateFailed):
            store.set_if(partition, b"key", b"second", read.predicate)
        assert find(store, partition, b"key") is None

    def test_delete_if_removes_what_was_read(self, store: Store, partition: bytes) -> None:
        store.set(partition, b"key", b"old incarnation")
        read = store.get(partition, b"key")
        store.set(partition, b"key", b"new incarnation")
        with pytest.raises(PredicateFailed):
            store.delete_if(partition, b"key", read.predicate)
        store.delete_if(partition, b"key", store.get(partition, b"key").predicate)
        assert find(store, partition, b"key") is None

    def test_delete_if_needs_a_record(self, store: Store, partition: bytes) -> None:
        with pytest.raises(PredicateFailed):
            store.delete_if(partition, b"key", EXISTS)
        with pytest.raises(InvalidInput):
            store.delete_if(partition, b"key", None)  # type: ignore[arg-type]  # wrong on purpose
        store.set(partition, b"key", b"value")
        store.delete_if(partition, b"key", EXISTS)
        assert find(store, partition, b"key") is None

    def test_writing_the_same_value_again_succeeds(self, store: Store, partition: bytes) -> None:
        store.set(partition, b"key", b"value")
        store.set_if(partition, b"key", b"value", store.get(partition, b"key").predicate)
        assert store.get(partition, b"key").value == b"value"

    def test_rel_K2_of_racing_creators_exactly_one_wins(
        self, store: Store, partition: bytes
    ) -> None:
        winners: list[tuple[bytes, bytes]] = []

        def create(number: int) -> None:
            for key in (b"a", b"b", b"c", b"d"):
                try:
                    store.set_if(partition, key, b"%d" % number, None)
                except PredicateFailed:
                    continue
                winners.append((key, b"%d" % number))

        in_threads(8, create)
        assert sorted(winners) == list(store.scan(partition))

    def test_rel_K2_no_increment_of_many_threads_is_lost(
        self, store: Store, partition: bytes
    ) -> None:
        in_threads(4, lambda _: increment(store, partition, b"counter", 25, ENVIRONMENT))
        assert store.get(partition, b"counter").value == b"100"

    def test_update_creates_and_changes(self, store: Store, partition: bytes) -> None:
        for expected in (b"x", b"xx"):
            assert (
                update(store, partition, b"k", lambda v: (v or b"") + b"x", ENVIRONMENT) == expected
            )
