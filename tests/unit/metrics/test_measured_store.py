# SPDX-License-Identifier: Apache-2.0
from collections.abc import Iterator

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import NotFound, PredicateFailed, Unavailable
from lochan.faults import Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Faulty, fail_nth, no_faults
from lochan.kv.measured import Measured
from lochan.kv.store import DropPartition, SetIfAll, SetMany, SetThenGet, Store
from lochan.metrics import Metrics
from lochan.testing.kv import (
    DropPartitionConformance,
    SetIfAllConformance,
    SetThenGetConformance,
    StoreConformance,
)

ENVIRONMENT = RealEnvironment()
CAPABILITIES = (DropPartition, SetIfAll, SetMany, SetThenGet)


class TestMeasuredStore(
    StoreConformance, DropPartitionConformance, SetThenGetConformance, SetIfAllConformance
):
    @pytest.fixture
    def store(self) -> Iterator[Store]:
        store = Measured(MemoryStore(ENVIRONMENT), Metrics(ENVIRONMENT), ENVIRONMENT, "memory")
        yield store
        store.close()


def counts(metrics: Metrics) -> dict[str, float]:
    found = {labels[0]: sum(numbers[:-1]) for labels, numbers in metrics.kv_seconds.numbers()}
    return {operation: count for operation, count in found.items() if count}


def failures(metrics: Metrics) -> dict[str, float]:
    return {labels[0]: n for labels, (n,) in metrics.kv_failures.numbers() if n}


def test_a_measured_store_can_do_what_the_inner_one_can_and_no_more() -> None:
    able = MemoryStore(ENVIRONMENT)
    plain = Faulty(able, no_faults, ENVIRONMENT)

    for inner in (able, plain):
        outer = Measured(inner, Metrics(ENVIRONMENT), ENVIRONMENT, "memory")
        for capability in CAPABILITIES:
            assert isinstance(outer, capability) is isinstance(inner, capability)


def test_each_call_is_timed_under_its_operation() -> None:
    metrics = Metrics(ENVIRONMENT)
    store = Measured(MemoryStore(ENVIRONMENT), metrics, ENVIRONMENT, "memory")
    store.set(b"p", b"k", b"v")
    store.get(b"p", b"k")
    list(store.scan(b"p"))
    assert isinstance(store, SetMany)
    store.set_many(b"p", {b"a": b"1"})

    assert counts(metrics) == {"set": 1, "get": 1, "scan": 1, "set_many": 1}
    assert {labels[1] for labels, _ in metrics.kv_seconds.numbers()} == {"memory"}


def test_an_answer_is_no_failure() -> None:
    metrics = Metrics(ENVIRONMENT)
    store = Measured(MemoryStore(ENVIRONMENT), metrics, ENVIRONMENT, "memory")
    with pytest.raises(NotFound):
        store.get(b"p", b"k")
    store.set(b"p", b"k", b"v")
    with pytest.raises(PredicateFailed):
        store.set_if(b"p", b"k", b"v", None)

    assert counts(metrics) == {"get": 1, "set": 1, "set_if": 1}
    assert failures(metrics) == {}


@pytest.mark.parametrize(
    ("number", "operation"), [(1, "set"), (2, "scan"), (3, "scan")], ids=["set", "scan", "row"]
)
def test_what_the_store_does_not_answer_is_a_failure(number: int, operation: str) -> None:
    metrics = Metrics(ENVIRONMENT)
    faulty = Faulty(MemoryStore(ENVIRONMENT), fail_nth(number, Fault.ERROR), ENVIRONMENT)
    store = Measured(faulty, metrics, ENVIRONMENT, "memory")
    with pytest.raises(Unavailable):  # noqa: PT012 - either of the two
        store.set(b"p", b"k", b"v")
        list(store.scan(b"p"))

    assert failures(metrics) == {operation: 1}


def test_a_scan_that_fails_late_is_not_read_as_its_end() -> None:
    inner = MemoryStore(ENVIRONMENT)
    for number in range(3):
        inner.set(b"p", b"%d" % number, b"v")
    faulty = Faulty(inner, fail_nth(4, Fault.ERROR), ENVIRONMENT)

    with pytest.raises(Unavailable):
        list(Measured(faulty, Metrics(ENVIRONMENT), ENVIRONMENT, "memory").scan(b"p"))
