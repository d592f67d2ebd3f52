# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import PredicateFailed, Unavailable, UnknownOutcome
from lochan.faults import Crashed, Delay, Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Call, Faulty, fail_nth
from lochan.kv.read import find
from lochan.kv.store import EXISTS, SetMany, Store

P, K = b"partition", b"key"
ENVIRONMENT = RealEnvironment()

WRITES: list[Callable[[Store], None]] = [
    lambda store: store.set(P, K, b"new"),
    lambda store: store.set_if(P, K, b"new", EXISTS),
    lambda store: store.delete(P, K),
    lambda store: store.delete_if(P, K, EXISTS),
]


@pytest.fixture
def inner() -> Store:
    store = MemoryStore(ENVIRONMENT)
    store.set(P, K, b"old")
    return store


def is_unchanged(store: Store) -> bool:
    found = find(store, P, K)
    return found is not None and found.value == b"old"


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize(
    ("fault", "error", "applied"),
    [
        (Fault.ERROR, Unavailable, False),
        (Fault.LOST_REQUEST, UnknownOutcome, False),
        (Fault.LOST_RESPONSE, UnknownOutcome, True),
        (Fault.CRASH_BEFORE, Crashed, False),
        (Fault.CRASH_AFTER, Crashed, True),
        (Fault.ZOMBIE, UnknownOutcome, False),
    ],
)
def test_a_faulty_write_is_applied_or_not_as_the_fault_says(
    write: Callable[[Store], None],
    fault: Fault,
    error: type[BaseException],
    inner: Store,
    *,
    applied: bool,
) -> None:
    with pytest.raises(error) as caught:
        write(Faulty(inner, fail_nth(1, fault), ENVIRONMENT))
    assert caught.type is error
    assert is_unchanged(inner) is not applied


def test_a_crashed_process_does_nothing_more(inner: Store) -> None:
    faulty = Faulty(inner, fail_nth(1, Fault.CRASH_BEFORE), ENVIRONMENT)
    for write in WRITES:
        with pytest.raises(Crashed):
            write(faulty)
    with pytest.raises(Crashed):
        faulty.get(P, K)
    assert is_unchanged(inner)


def test_a_lost_response_hides_a_failed_predicate(inner: Store) -> None:
    faulty = Faulty(inner, fail_nth(1, Fault.LOST_RESPONSE), ENVIRONMENT)
    with pytest.raises(UnknownOutcome):
        faulty.set_if(P, K, b"new", None)
    with pytest.raises(PredicateFailed):
        faulty.set_if(P, K, b"new", None)


@pytest.mark.parametrize("fault", [Fault.ERROR, Fault.LOST_REQUEST, Fault.LOST_RESPONSE])
def test_a_faulty_read_is_unavailable(fault: Fault, inner: Store) -> None:
    with pytest.raises(Unavailable) as caught:
        Faulty(inner, fail_nth(1, fault), ENVIRONMENT).get(P, K)
    assert caught.type is Unavailable


def test_a_scan_can_fail_at_its_start_at_every_row_and_at_its_end(inner: Store) -> None:
    inner.set(P, b"key2", b"old")
    given = [
        keys_until_failure(Faulty(inner, fail_nth(number, Fault.ERROR), ENVIRONMENT))
        for number in (1, 2, 3, 4, 5)
    ]
    failed = "failed"
    assert given[:3] == [[failed], [failed], [b"key", failed]]
    assert given[3:] == [[b"key", b"key2", failed], [b"key", b"key2"]]


def keys_until_failure(store: Store) -> list[bytes | str]:
    seen: list[bytes | str] = []
    try:
        seen.extend(key for key, _ in store.scan(P))
    except Unavailable:
        seen.append("failed")
    return seen


def test_a_delay_goes_through_the_environment(inner: Store) -> None:
    slept = []

    class Noting(RealEnvironment):
        def sleep(self, seconds: float) -> None:
            slept.append(seconds)

    faulty = Faulty(inner, lambda _: Delay(7.0), Noting())
    faulty.set(P, K, b"new")
    assert faulty.get(P, K).value == b"new"
    assert slept == [7.0, 7.0]


def test_a_plan_sees_number_operation_and_place(inner: Store) -> None:
    calls: list[Call] = []

    def plan(call: Call) -> Fault:
        calls.append(call)
        return Fault.OK

    faulty = Faulty(inner, plan, ENVIRONMENT)
    faulty.get(P, K)
    list(faulty.scan(P, b"k"))
    assert calls == [
        (1, "get", P, K),
        (2, "scan", P, b"k"),
        (3, "scan_next", P, b"k"),
        (4, "scan_next", P, K),
    ]
    assert faulty.calls == 4


def test_bulk_capabilities_are_hidden_so_that_each_key_can_fail(inner: Store) -> None:
    assert isinstance(inner, SetMany)
    assert not isinstance(Faulty(inner, fail_nth(1, Fault.OK), ENVIRONMENT), SetMany)
