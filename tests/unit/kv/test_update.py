# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable
from itertools import count

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import Conflict, LochanError, Unavailable, UnknownOutcome
from lochan.faults import Crashed, Delay, Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Call, Faulty, Plan, fail_nth
from lochan.kv.read import find
from lochan.kv.store import Store
from lochan.kv.update import LONGEST_PAUSE_S, update

P, K = b"partition", b"key"


class RecordingEnvironment(RealEnvironment):
    """Sleeps for no time, and remembers for how long it was asked to."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.fixture
def environment() -> RecordingEnvironment:
    return RecordingEnvironment()


@pytest.fixture
def inner(environment: RecordingEnvironment) -> Store:
    return MemoryStore(environment)


def add_x(value: bytes | None) -> bytes:
    return (value or b"") + b"x"


def value_of(store: Store) -> bytes | None:
    found = find(store, P, K)
    return found.value if found else None


def before_each(operation: str, act: Callable[[], None], then: Fault = Fault.OK) -> Plan:
    """Let somebody else act just before every call of one kind."""

    def plan(call: Call) -> Fault | Delay:
        if call.operation != operation:
            return Fault.OK
        act()
        return then

    return plan


def test_a_lost_race_is_run_again_on_what_the_winner_wrote(
    inner: Store, environment: RecordingEnvironment
) -> None:
    rivals = iter([b"1", b"2", b"3"])

    def interfere() -> None:
        if rival := next(rivals, None):
            inner.set(P, K, rival)

    faulty = Faulty(inner, before_each("set_if", interfere), environment)
    assert update(faulty, P, K, add_x, environment) == b"3x"


def test_who_always_loses_gives_up_after_bounded_pauses(
    inner: Store, environment: RecordingEnvironment
) -> None:
    numbers = count()
    rival = before_each("set_if", lambda: inner.set(P, K, b"%d" % next(numbers)))
    with pytest.raises(Conflict, match="changed by others 12 times") as caught:
        update(Faulty(inner, rival, environment), P, K, add_x, environment, attempts=12)
    assert caught.value.code == "contended"
    assert len(environment.slept) == 10
    assert all(0 <= pause <= LONGEST_PAUSE_S for pause in environment.slept)
    assert len(set(environment.slept)) > 1


@pytest.mark.parametrize("fault", [Fault.LOST_REQUEST, Fault.LOST_RESPONSE])
def test_an_unknown_outcome_is_neither_lost_nor_won(
    fault: Fault, inner: Store, environment: RecordingEnvironment
) -> None:
    faulty = Faulty(inner, fail_nth(2, fault), environment)
    assert update(faulty, P, K, add_x, environment) == b"x"
    assert value_of(inner) == b"x"


def test_an_unknown_outcome_that_others_have_overwritten_stays_unknown(
    inner: Store, environment: RecordingEnvironment
) -> None:
    gets = count()

    def overwrite() -> None:
        if next(gets) == 1:
            inner.set(P, K, b"somebody else's")

    def plan(call: Call) -> Fault | Delay:
        if call.operation == "set_if":
            return Fault.LOST_RESPONSE
        overwrite()
        return Fault.OK

    with pytest.raises(UnknownOutcome, match="read it"):
        update(Faulty(inner, plan, environment), P, K, add_x, environment)
    assert value_of(inner) == b"somebody else's"


@pytest.mark.parametrize("in_it", [True, False])
def test_who_finds_its_own_mark_in_a_later_record_knows(
    inner: Store, environment: RecordingEnvironment, *, in_it: bool
) -> None:
    later = b"other,mine" if in_it else b"other"
    gets = count()

    def plan(call: Call) -> Fault | Delay:
        if call.number == 2:
            return Fault.LOST_REQUEST
        if call.operation == "get" and next(gets) == 1:
            inner.set(P, K, later)
        return Fault.OK

    def change(value: bytes | None) -> bytes:
        return (value + b"," if value else b"") + b"mine"

    faulty = Faulty(inner, plan, environment)
    update(faulty, P, K, change, environment, landed=lambda value: b"mine" in (value or b""))
    assert value_of(inner) == b"other,mine"


def test_an_unknown_outcome_that_cannot_be_read_is_not_called_unapplied(
    inner: Store, environment: RecordingEnvironment
) -> None:
    def plan(call: Call) -> Fault | Delay:
        return [Fault.OK, Fault.LOST_RESPONSE, Fault.ERROR][call.number - 1]

    with pytest.raises(UnknownOutcome, match="cannot be read now"):
        update(Faulty(inner, plan, environment), P, K, add_x, environment)


def test_no_change_writes_nothing(inner: Store, environment: RecordingEnvironment) -> None:
    inner.set(P, K, b"value")
    faulty = Faulty(inner, before_each("set_if", lambda: pytest.fail("wrote")), environment)
    assert update(faulty, P, K, lambda value: value, environment) == b"value"
    assert update(faulty, P, K, lambda _: None, environment) == b"value"
    assert update(faulty, P, b"absent", lambda _: None, environment) is None


def test_what_the_function_raises_goes_through(
    inner: Store, environment: RecordingEnvironment
) -> None:
    known: dict[bytes | None, bytes] = {b"known": b"value"}
    with pytest.raises(KeyError):
        update(inner, P, K, known.__getitem__, environment)  # None is no key


FAULTS = [fault for fault in Fault if fault not in {Fault.OK, Fault.ZOMBIE}]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_operation_leaves_the_change_whole_and_the_answer_true(
    fault: Fault, environment: RecordingEnvironment
) -> None:
    for number in count(1):
        inner = MemoryStore(environment)
        inner.set(P, K, b"x")
        faulty = Faulty(inner, fail_nth(number, fault), environment)
        outcome: type[BaseException] | None = None
        try:
            update(faulty, P, K, add_x, environment)
        except (LochanError, Crashed) as error:
            outcome = type(error)
        assert value_of(inner) in (b"x", b"xx")
        assert outcome is not None or value_of(inner) == b"xx"
        assert outcome is not Unavailable or value_of(inner) == b"x"
        if faulty.calls < number:
            break


def test_a_zombie_write_breaks_what_a_later_writer_was_told(
    inner: Store, environment: RecordingEnvironment
) -> None:
    faulty = Faulty(inner, fail_nth(1, Fault.ZOMBIE), environment)
    with pytest.raises(UnknownOutcome):
        faulty.set(P, K, b"zombie")
    faulty.set(P, K, b"acknowledged")
    assert faulty.wake_zombies() == 1
    assert value_of(inner) == b"zombie"
