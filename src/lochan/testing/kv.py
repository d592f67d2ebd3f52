# SPDX-License-Identifier: Apache-2.0
"""The conformance suite of the KV seam: promises K1 to K8 of `lochan.kv.store`, as tests.

A driver counts when this passes against its real server:

    class TestMyStore(SharedStoreConformance):
        @pytest.fixture
        def url(self): return "mystore://..."

        @pytest.fixture
        def store(self, url): yield from opened(url)

        def reopen(self, store): return open_store(...)

`store` may be shared between tests: each test works in partitions of its own. `reopen` gives
another handle on the same data, as another process would have; a store that only this process can
see gives itself back. Stores that processes share inherit `SharedStoreConformance`, which starts
two; stores that can drop a partition inherit `DropPartitionConformance` besides, and those that
read together with a write `SetThenGetConformance`, compare several records with one
`SetIfAllConformance`, or read without waiting `GetAtOnceConformance`.
"""

import subprocess
import sys
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from lochan.errors import InvalidInput, PredicateFailed, Unavailable
from lochan.kv.set_many import set_many
from lochan.kv.store import (
    EXISTS,
    DropPartition,
    GetAtOnce,
    Place,
    Present,
    SetIfAll,
    SetThenGet,
    Store,
)
from lochan.testing.kv_given import ENVIRONMENT, Given, fill, in_threads, opened
from lochan.testing.kv_machine import StoreMachine
from lochan.testing.kv_process import increment
from lochan.testing.kv_records import ConditionalConformance, RecordConformance
from lochan.testing.kv_scans import ScanConformance

__all__ = [
    "DropPartitionConformance",
    "GetAtOnceConformance",
    "SetIfAllConformance",
    "SetThenGetConformance",
    "SharedStoreConformance",
    "StoreConformance",
    "opened",
]


class WholeConformance(Given):
    """K6, bulk operations, and everything at once against a model."""

    def test_rel_K6_what_was_acknowledged_is_there_after_reopening(
        self, store: Store, partition: bytes
    ) -> None:
        keys = fill(store, partition)
        store.delete(partition, keys[0])
        other = self.reopen(store)
        assert [key for key, _ in other.scan(partition)] == keys[1:]
        if other is not store:
            other.close()

    def test_set_many_stores_all(self, store: Store, partition: bytes) -> None:
        store.set(partition, b"k1", b"old")
        set_many(store, partition, [(b"k%d" % n, b"%d" % n) for n in range(2500)])
        set_many(store, partition, [(b"k1", b"once"), (b"k1", b"twice")])
        set_many(store, partition, [])
        assert len(list(store.scan(partition))) == 2500
        assert store.get(partition, b"k1").value == b"twice"

    def test_set_many_refuses_all_for_one_bad_record(self, store: Store, partition: bytes) -> None:
        with pytest.raises(InvalidInput):
            set_many(store, partition, {b"good": b"value", b"": b"value"})
        assert list(store.scan(partition)) == []

    def test_threads_that_set_many_at_once_do_not_block_each_other(
        self, store: Store, partition: bytes
    ) -> None:
        keys = [b"%03d" % number for number in range(300)]

        def write(number: int) -> None:
            order = keys if number % 2 else keys[::-1]
            set_many(store, partition, [(key, b"%d" % number) for key in order])

        in_threads(4, write)
        assert [key for key, _ in store.scan(partition)] == keys

    def test_a_closed_store_answers_nothing(self, store: Store, partition: bytes) -> None:
        other = self.reopen(store)
        other.close()
        other.close()
        for call in (
            lambda: other.get(partition, b"key"),
            lambda: other.set(partition, b"key", b"value"),
            lambda: other.delete(partition, b"key"),
            lambda: list(other.scan(partition)),
        ):
            with pytest.raises(Unavailable):
                call()

    def test_any_sequence_of_operations_does_what_a_dictionary_would(
        self, store: Store, partition: bytes
    ) -> None:
        def machine() -> StoreMachine:
            return StoreMachine(store, partition + ENVIRONMENT.new_id().encode())

        run_state_machine_as_test(
            machine,  # type: ignore[arg-type]  # whatever makes a machine will do
            settings=settings(
                max_examples=40,
                stateful_step_count=30,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )


class StoreConformance(
    RecordConformance, ConditionalConformance, ScanConformance, WholeConformance
):
    """The suite for any store."""


class DropPartitionConformance(Given):
    """The capability that the cleaner uses; for drivers that offer it."""

    def test_a_dropped_partition_is_empty_and_others_are_not(
        self, store: Store, partition: bytes
    ) -> None:
        assert isinstance(store, DropPartition)
        fill(store, partition + b"dropped", 4500)
        store.set(partition, b"key", b"value")
        store.drop_partition(partition + b"dropped")
        store.drop_partition(partition + b"dropped")
        assert list(store.scan(partition + b"dropped")) == []
        assert store.get(partition, b"key").value == b"value"


class GetAtOnceConformance(Given):
    """The capability that an event loop uses; for drivers that offer it."""

    def test_get_at_once_reads_what_is_there(self, store: Store, partition: bytes) -> None:
        assert isinstance(store, GetAtOnce)
        other = partition + b"other"
        store.set(partition, b"one", b"1")
        store.set(other, b"empty", b"")
        places = ((partition, b"one"), (partition, b"absent"), (other, b"empty"))
        found = store.get_at_once(*places)
        assert found == [store.get(partition, b"one"), None, store.get(other, b"empty")]
        store.delete(partition, b"one")
        assert store.get_at_once((partition, b"one")) == [None]

    def test_rel_K1_get_at_once_sees_what_another_handle_has_set(
        self, store: Store, partition: bytes
    ) -> None:
        assert isinstance(store, GetAtOnce)
        other = self.reopen(store)
        for number in range(50):
            other.set(partition, b"key", b"%d" % number)
            (found,) = store.get_at_once((partition, b"key"))
            assert found is not None
            assert found.value == b"%d" % number
        if other is not store:
            other.close()

    def test_get_at_once_reads_all_at_one_instant(self, store: Store, partition: bytes) -> None:
        assert isinstance(store, GetAtOnce)
        places = ((partition, b"second"), (partition, b"first"))
        for _, key in places:
            store.set(partition, key, b"0000")
        done: list[bool] = []

        def write() -> None:
            for number in range(1, 150):
                for key in (b"first", b"second"):
                    store.set(partition, key, b"%04d" % number)
            done.append(True)

        def read() -> None:
            while not done:
                second, first = store.get_at_once(*places)
                assert second is not None
                assert first is not None
                assert int(second.value) <= int(first.value) <= int(second.value) + 1

        in_threads(2, lambda number: (write, read)[number]())

    def test_get_at_once_refuses_what_is_no_place(self, store: Store, partition: bytes) -> None:
        assert isinstance(store, GetAtOnce)
        with pytest.raises(InvalidInput):
            store.get_at_once((partition, b""))

    def test_a_closed_store_gives_nothing_at_once(self, store: Store, partition: bytes) -> None:
        assert isinstance(store, GetAtOnce)
        store.get_at_once((partition, b"key"))
        store.close()
        with pytest.raises(Unavailable):
            store.get_at_once((partition, b"key"))


class SetThenGetConformance(Given):
    """The capability that writers use; for drivers that offer it."""

    def test_set_then_get_stores_and_reads(self, store: Store, partition: bytes) -> None:
        assert isinstance(store, SetThenGet)
        other = partition + b"other"
        store.set(other, b"there", b"value")
        places = ((other, b"there"), (other, b"absent"), (partition, b"one"))
        found = store.set_then_get(partition, {b"one": b"1", b"two": b"2"}, *places)
        assert [each.value if each else None for each in found] == [b"value", None, b"1"]
        assert found[0] == store.get(other, b"there")
        assert store.get(partition, b"two").value == b"2"

    def test_of_two_that_set_and_then_look_for_each_other_one_sees_the_other(
        self, store: Store, partition: bytes
    ) -> None:
        assert isinstance(store, SetThenGet)
        handles = (store, self.reopen(store))
        for number in range(60):
            rounds = partition + b"%d" % number
            seen = [True, True]

            def meet(mine: int, rounds: bytes = rounds, seen: list[bool] = seen) -> None:
                handle, other = handles[mine], (rounds, b"%d" % (1 - mine))
                assert isinstance(handle, SetThenGet)
                found = handle.set_then_get(rounds, {b"%d" % mine: b"here"}, other)
                seen[mine] = found[0] is not None

            in_threads(2, meet)
            assert any(seen)
        if handles[1] is not store:
            handles[1].close()

    def test_set_then_get_refuses_what_is_no_place(self, store: Store, partition: bytes) -> None:
        assert isinstance(store, SetThenGet)
        with pytest.raises(InvalidInput):
            store.set_then_get(partition, {b"key": b"value"}, (partition, b""))
        assert list(store.scan(partition)) == []


class SetIfAllConformance(Given):
    """The capability that creators use; for drivers that offer it."""

    def test_set_if_all_stores_where_every_predicate_is_met(
        self, store: Store, partition: bytes
    ) -> None:
        assert isinstance(store, SetIfAll)
        other = partition + b"other"
        store.set(other, b"there", b"")
        store.set(partition, b"key", b"old")
        wanted: dict[Place, Present | None] = {
            (other, b"there"): store.get(other, b"there").predicate,
            (other, b"absent"): None,
            (partition, b"key"): EXISTS,
        }
        store.set_if_all(partition, b"key", b"new", wanted)
        store.set_if_all(partition, b"free", b"of conditions", {})
        assert dict(store.scan(partition)) == {b"free": b"of conditions", b"key": b"new"}

    def test_set_if_all_stores_nothing_where_one_is_not(
        self, store: Store, partition: bytes
    ) -> None:
        assert isinstance(store, SetIfAll)
        other = partition + b"other"
        store.set(other, b"there", b"old")
        old = store.get(other, b"there").predicate
        store.set(other, b"there", b"")
        mine: dict[Place, Present | None] = {(partition, b"key"): None}
        for place, predicate in (
            ((other, b"there"), None),
            ((other, b"there"), old),
            ((other, b"absent"), EXISTS),
            ((other, b"absent"), old),
            ((partition, b"key"), EXISTS),
        ):
            with pytest.raises(PredicateFailed):
                store.set_if_all(partition, b"key", b"new", mine | {place: predicate})
        assert list(store.scan(partition)) == []

    def test_of_two_that_set_if_the_other_has_not_one_wins(
        self, store: Store, partition: bytes
    ) -> None:
        handles = (store, self.reopen(store))
        for number in range(60):
            rounds = partition + b"%d" % number

            def meet(mine: int, rounds: bytes = rounds) -> None:
                handle, other = handles[mine], (rounds, b"%d" % (1 - mine))
                assert isinstance(handle, SetIfAll)
                with suppress(PredicateFailed):
                    handle.set_if_all(rounds, b"%d" % mine, b"here", {other: None})

            in_threads(2, meet)
            assert len(list(store.scan(rounds))) == 1
        if handles[1] is not store:
            handles[1].close()

    def test_of_many_threads_that_create_at_once_each_key_has_one_winner(
        self, store: Store, partition: bytes
    ) -> None:
        assert isinstance(store, SetIfAll)
        won: list[bytes] = []

        def create(_: int) -> None:
            for number in range(40):
                key = b"%d" % number
                with suppress(PredicateFailed):
                    store.set_if_all(partition, key, b"mine", {(partition, key): None})
                    won.append(key)

        in_threads(8, create)
        assert sorted(won) == [key for key, _ in store.scan(partition)]
        assert len(won) == 40

    def test_set_if_all_refuses_what_is_no_condition(self, store: Store, partition: bytes) -> None:
        assert isinstance(store, SetIfAll)
        for place, predicate in (((partition, b""), None), ((partition, b"key"), "text")):
            with pytest.raises(InvalidInput):
                store.set_if_all(
                    partition,
                    b"key",
                    b"value",
                    {place: predicate},  # type: ignore[dict-item]  # wrong on purpose
                )
        assert list(store.scan(partition)) == []


class SharedStoreConformance(StoreConformance):
    """The suite for stores that several processes use at once; needs a fixture `url`."""

    def test_no_increment_of_two_processes_is_lost(
        self, store: Store, partition: bytes, url: str
    ) -> None:
        command = [sys.executable, "-m", "lochan.testing.kv_process"]
        others = [
            subprocess.Popen([*command, url, partition.hex(), "counter", "60"])  # noqa: S603 - us
            for _ in range(2)
        ]
        increment(store, partition, b"counter", 60, ENVIRONMENT)
        assert [other.wait(timeout=60) for other in others] == [0, 0]
        assert store.get(partition, b"counter").value == b"180"
