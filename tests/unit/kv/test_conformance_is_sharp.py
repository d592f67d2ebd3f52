# SPDX-License-Identifier: Apache-2.0
"""Stores that break one promise each: the conformance suite must notice every one of them."""

from collections.abc import Iterator, Mapping

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from lochan.environment import RealEnvironment
from lochan.errors import LochanError, PredicateFailed, Unavailable
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.read import find
from lochan.kv.store import EXISTS, Pair, Place, Present, Versioned
from lochan.testing.kv import (
    DropPartitionConformance,
    SetIfAllConformance,
    SetThenGetConformance,
    StoreConformance,
)
from lochan.testing.kv_machine import StoreMachine

ENVIRONMENT = RealEnvironment()


class Suite(StoreConformance, DropPartitionConformance, SetThenGetConformance, SetIfAllConformance):
    pass


class JoinsPartitionAndKey(MemoryStore):
    def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        super().set(b"all", partition + b"/" + key, value)

    def scan(self, partition: bytes, start: bytes = b"") -> Iterator[Pair]:
        prefix = partition + b"/"
        for key, value in super().scan(b"all", prefix + start):
            if key.startswith(prefix):
                yield key.removeprefix(prefix), value


class ReadsThenSets(MemoryStore):
    def set_then_get(
        self, partition: bytes, records: Mapping[bytes, bytes], *places: Place
    ) -> list[Versioned | None]:
        found = [find(self, *place) for place in places]
        ENVIRONMENT.sleep(0.0005)
        super().set_then_get(partition, records)
        return found


class ComparesOneByOne(MemoryStore):
    def set_if_all(
        self, partition: bytes, key: bytes, value: bytes, predicates: Mapping[Place, Present | None]
    ) -> None:
        for place, predicate in predicates.items():
            if (find(self, *place) is None) is not (predicate is None):
                raise PredicateFailed("some record is another one")
        ENVIRONMENT.sleep(0.0005)
        super().set(partition, key, value)


class ComparesOnlyTheFirst(MemoryStore):
    def set_if_all(
        self, partition: bytes, key: bytes, value: bytes, predicates: Mapping[Place, Present | None]
    ) -> None:
        super().set_if_all(partition, key, value, dict(list(predicates.items())[:1]))


class IgnoresThePredicate(MemoryStore):
    def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Present | None) -> None:
        del predicate
        super().set(partition, key, value)


class LooksThenWrites(MemoryStore):
    def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Present | None) -> None:
        found = find(self, partition, key)
        if (found.predicate if found else None) != predicate:
            raise PredicateFailed("the record is another one")
        ENVIRONMENT.sleep(0.0005)
        super().set(partition, key, value)


class TakesEmptyForAbsent(MemoryStore):
    def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Present | None) -> None:
        found = find(self, partition, key)
        absent = predicate is EXISTS and found is not None and not found.value
        super().set_if(partition, key, value, None if absent else predicate)


class DeletesWhateverIsThere(MemoryStore):
    def delete_if(self, partition: bytes, key: bytes, predicate: Present) -> None:
        del predicate
        super().delete_if(partition, key, EXISTS)


class ScansBackwards(MemoryStore):
    def scan(self, partition: bytes, start: bytes = b"") -> Iterator[Pair]:
        yield from reversed(list(super().scan(partition, start)))


class ScansByOffset(MemoryStore):
    def scan(self, partition: bytes, start: bytes = b"") -> Iterator[Pair]:
        offset = 0
        while page := list(super().scan(partition, start))[offset : offset + 10]:
            yield from page
            offset += 10


class TakesFailureForTheEnd(MemoryStore):
    def scan(self, partition: bytes, start: bytes = b"") -> Iterator[Pair]:
        try:
            yield from super().scan(partition, start)
        except Unavailable:
            return


class StopsAfterAPage(MemoryStore):
    def scan(self, partition: bytes, start: bytes = b"") -> Iterator[Pair]:
        for number, pair in enumerate(super().scan(partition, start)):
            if number < 256:
                yield pair


class RemembersWhatItRead(MemoryStore):
    def get(self, partition: bytes, key: bytes) -> Versioned:
        seen: dict[tuple[bytes, bytes], Versioned] = self.__dict__.setdefault("seen", {})
        if (partition, key) not in seen:
            seen[partition, key] = super().get(partition, key)
        return seen[partition, key]


class DropsByPrefix(MemoryStore):
    def drop_partition(self, partition: bytes) -> None:
        for name in [name for name in self._partitions if name[:10] == partition[:10]]:
            super().drop_partition(name)


@pytest.mark.parametrize(
    ("broken", "noticed_by"),
    [
        (JoinsPartitionAndKey, "test_rel_K4_partition_and_key_do_not_run_together"),
        (IgnoresThePredicate, "test_set_if_none_creates_once"),
        (LooksThenWrites, "test_rel_K2_no_increment_of_many_threads_is_lost"),
        (LooksThenWrites, "test_rel_K2_of_racing_creators_exactly_one_wins"),
        (TakesEmptyForAbsent, "test_set_if_exists_replaces_only"),
        (DeletesWhateverIsThere, "test_delete_if_removes_what_was_read"),
        (ScansBackwards, "test_rel_K3_a_scan_is_in_byte_order"),
        (ScansByOffset, "test_deleting_what_a_scan_gives_does_not_disturb_it"),
        (TakesFailureForTheEnd, "test_rel_K3_a_scan_raises_when_the_store_goes_away_midway"),
        (StopsAfterAPage, "test_a_scan_begins_at_its_start"),
        (RemembersWhatItRead, "test_delete_if_removes_what_was_read"),
        (ReadsThenSets, "test_of_two_that_set_and_then_look_for_each_other_one_sees_the_other"),
        (ComparesOneByOne, "test_of_two_that_set_if_the_other_has_not_one_wins"),
        (ComparesOneByOne, "test_of_many_threads_that_create_at_once_each_key_has_one_winner"),
        (ComparesOnlyTheFirst, "test_set_if_all_stores_nothing_where_one_is_not"),
        (DropsByPrefix, "test_a_dropped_partition_is_empty_and_others_are_not"),
    ],
)
def test_a_broken_promise_is_noticed(broken: type[MemoryStore], noticed_by: str) -> None:
    store, partition = broken(ENVIRONMENT), b"test-" + ENVIRONMENT.new_id().encode()
    with pytest.raises((AssertionError, LochanError, pytest.fail.Exception)):
        getattr(Suite(), noticed_by)(store, partition)


@pytest.mark.parametrize(
    "broken",
    [
        *(IgnoresThePredicate, TakesEmptyForAbsent, DeletesWhateverIsThere, RemembersWhatItRead),
        *(ScansBackwards, JoinsPartitionAndKey, ComparesOnlyTheFirst),
    ],
)
def test_the_state_machine_notices_a_broken_promise(broken: type[MemoryStore]) -> None:
    def machine() -> StoreMachine:
        return StoreMachine(broken(ENVIRONMENT), b"p")

    # The same examples each time, and no search for a smaller one.
    quickly = settings(
        max_examples=3000,  # it stops at the first failure; most are noticed within fifty
        stateful_step_count=30,
        phases=[Phase.generate],
        derandomize=True,
        database=None,
        deadline=None,
        print_blob=False,
    )
    with pytest.raises((AssertionError, LochanError)):
        run_state_machine_as_test(
            machine,  # type: ignore[arg-type]  # whatever makes a machine will do
            settings=quickly,
        )


def test_a_store_that_keeps_its_promises_passes_the_same_tests() -> None:
    for name in ("test_set_if_none_creates_once", "test_rel_K3_a_scan_is_in_byte_order"):
        getattr(Suite(), name)(MemoryStore(ENVIRONMENT), b"p")
