# SPDX-License-Identifier: Apache-2.0
from itertools import count

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput, Unavailable, UnknownOutcome
from lochan.faults import Crashed, Delay, Fault
from lochan.objects.drivers.memory import MemoryObjects
from lochan.objects.faulty import Call, Faulty, Truncate, fail_nth, no_faults
from lochan.objects.store import IF_ABSENT
from lochan.objects.walk import walk


class Sleeper(RealEnvironment):
    """An environment that notes how long it was asked to sleep, and does not."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


ENVIRONMENT = Sleeper()


@pytest.mark.parametrize(
    ("fault", "raised", "stored"),
    [
        (Fault.ERROR, Unavailable, False),
        (Fault.LOST_REQUEST, UnknownOutcome, False),
        (Fault.LOST_RESPONSE, UnknownOutcome, True),
        (Fault.CRASH_BEFORE, Crashed, False),
        (Fault.CRASH_AFTER, Crashed, True),
    ],
)
def test_a_fault_of_a_put_says_no_more_than_it_must(
    fault: Fault, raised: type[BaseException], *, stored: bool
) -> None:
    inner = MemoryObjects(ENVIRONMENT)
    with pytest.raises(raised) as caught:
        Faulty(inner, fail_nth(1, fault), ENVIRONMENT).put("a", b"1")

    assert type(caught.value) is raised
    assert bool(inner.list().entries) is stored


@pytest.mark.parametrize("fault", [fault for fault in Fault if fault is not Fault.OK])
def test_a_read_fails_at_every_step_and_never_gives_less(fault: Fault) -> None:
    inner = MemoryObjects(ENVIRONMENT)
    body = bytes(3 << 20)
    inner.put("a", body)
    for number in count(1):
        faulty = Faulty(inner, fail_nth(number, fault), ENVIRONMENT)
        try:
            assert faulty.get("a").read() == body
        except (Unavailable, Crashed):
            continue
        break
    assert number == 1 + 1 + 3 + 1  # get, three chunks, the end, and one too many


def test_a_crashed_process_does_nothing_more() -> None:
    inner = MemoryObjects(ENVIRONMENT)
    faulty = Faulty(inner, fail_nth(1, Fault.CRASH_BEFORE), ENVIRONMENT)
    for _ in range(2):
        with pytest.raises(Crashed):
            faulty.put("a", b"1")

    assert Faulty(inner, no_faults, ENVIRONMENT).list().entries == ()


def test_a_lost_response_hides_what_the_store_answered() -> None:
    inner = MemoryObjects(ENVIRONMENT)
    inner.put("a", b"1")
    with pytest.raises(UnknownOutcome):
        Faulty(inner, fail_nth(1, Fault.LOST_RESPONSE), ENVIRONMENT).put("a", b"2", when=IF_ABSENT)

    assert inner.get("a").read() == b"1"


def test_a_truncated_body_is_noticed_by_its_declared_size_alone() -> None:
    inner = MemoryObjects(ENVIRONMENT)
    faulty = Faulty(inner, lambda _: Truncate(3), ENVIRONMENT)
    with pytest.raises(InvalidInput):
        faulty.put("a", [b"he", b"llo"], size=5)
    faulty.put("b", [b"he", b"llo"])

    assert [listed.address for listed in walk(inner)] == ["b"]
    assert inner.get("b").read() == b"hel"


def test_a_delay_sleeps_in_the_environment_and_goes_on() -> None:
    calls: list[Call] = []

    def plan(call: Call) -> Delay:
        calls.append(call)
        return Delay(7.5)

    faulty = Faulty(MemoryObjects(ENVIRONMENT), plan, ENVIRONMENT)
    faulty.put("a", b"1")
    faulty.copy("a", "b")
    faulty.delete("a")

    assert ENVIRONMENT.slept[-3:] == [7.5] * 3
    assert calls == [Call(1, "put", 1, "a"), Call(2, "copy", 1, "a"), Call(3, "delete", 1, "a")]
    assert faulty.calls == 3


@pytest.mark.parametrize("fault", [Fault.ERROR, Fault.LOST_RESPONSE, Fault.CRASH_AFTER])
def test_an_upload_that_fails_anywhere_shows_the_whole_object_or_none(fault: Fault) -> None:
    for number in count(1):
        inner = MemoryObjects(ENVIRONMENT)
        faulty = Faulty(inner, fail_nth(number, fault), ENVIRONMENT)
        try:
            upload = faulty.uploads.create("data/1/a")
            parts = [faulty.uploads.put_part("data/1/a", upload, n, b"part") for n in (1, 2)]
            faulty.uploads.complete("data/1/a", upload, parts)
        except (Unavailable, Crashed):
            found = [e.address for e in inner.list("data/").entries]
            assert found in ([], ["data/1/a"])
            assert not found or inner.get("data/1/a").read() == b"partpart"
        else:
            break
    assert number > 10
