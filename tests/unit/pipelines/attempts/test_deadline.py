# SPDX-License-Identifier: Apache-2.0
import signal
import threading
import time
from collections.abc import Callable

import pytest

from lochan.errors import JobFailed
from lochan.pipelines.attempts import deadline
from lochan.pipelines.attempts.deadline import Stuck, TimedOut, call_within
from lochan.pipelines.attempts.input_files import InputFiles
from lochan.pipelines.attempts.output_files import Out
from lochan.pipelines.model.datum import DatumState
from lochan.pipelines.model.spec import DatumRules
from support.attempts import Ground

NEVER = 60.0


def in_another_thread(work: Callable[[], object]) -> BaseException | None:
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - handed to the test
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return raised[0] if raised else None


def spin() -> None:
    until = time.monotonic() + NEVER
    while time.monotonic() < until:
        pass


def stubborn() -> None:
    until = time.monotonic() + NEVER
    caught = 0
    while time.monotonic() < until and caught < 2:
        try:
            spin()
        except TimedOut:
            caught += 1


def test_a_call_that_waits_is_interrupted_and_the_alarm_is_put_back() -> None:
    before = signal.getsignal(signal.SIGALRM)

    with pytest.raises(TimedOut):
        call_within(0.02, lambda: time.sleep(NEVER))

    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_code_that_catches_everything_it_should_does_not_catch_the_end_of_its_time() -> None:
    def swallow() -> None:
        try:
            spin()
        except Exception:  # noqa: BLE001 - what authors do
            spin()

    with pytest.raises(TimedOut):
        call_within(0.02, swallow)


def test_code_that_catches_even_that_is_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "_AGAIN_S", 0.02)
    began = time.monotonic()

    with pytest.raises(TimedOut):
        call_within(0.02, stubborn)

    assert time.monotonic() - began < NEVER / 2


@pytest.mark.parametrize("seconds", [0.0, NEVER])
def test_what_a_function_raises_comes_through(seconds: float) -> None:
    def divide() -> None:
        _ = 1 / 0

    with pytest.raises(ZeroDivisionError):
        call_within(seconds, divide)
    error = in_another_thread(lambda: call_within(seconds, divide))
    assert isinstance(error, ZeroDivisionError)


def test_in_another_thread_python_code_is_stopped() -> None:
    ended = threading.Event()

    def work() -> None:
        try:
            spin()
        finally:
            ended.set()

    assert isinstance(in_another_thread(lambda: call_within(0.02, work)), TimedOut)
    assert ended.wait(NEVER)


def test_in_another_thread_what_cannot_be_stopped_is_said_to_be_stuck(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deadline, "_GRACE_S", 0.02)
    waiting = threading.Lock()
    waiting.acquire()

    try:
        assert isinstance(in_another_thread(lambda: call_within(0.02, waiting.acquire)), Stuck)
    finally:
        waiting.release()


def test_a_datum_that_takes_too_long_is_quarantined_and_the_next_one_runs() -> None:
    ground = Ground(rules=DatumRules(tries=2, timeout_s=0.05, on_error="quarantine"))

    def slow(src: InputFiles, out: Out) -> None:
        if src.path == "a":
            spin()
        out.write(src.path, b"")

    rows = ground.rows(ground.run(slow, *ground.datums({"a": b"", "b": b""})))

    assert [row.state for row in rows] == [DatumState.FAILED, DatumState.PROCESSED]
    assert rows[0].reason == "it took longer than 0.05 s"


def test_an_attempt_that_cannot_stop_a_datum_fails_even_with_quarantine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deadline, "_GRACE_S", 0.02)
    ground = Ground(rules=DatumRules(tries=2, timeout_s=0.02, on_error="quarantine"))
    waiting = threading.Lock()
    waiting.acquire()

    def wait(src: InputFiles) -> None:
        assert src
        waiting.acquire()

    try:
        error = in_another_thread(lambda: ground.run(wait, *ground.datums({"a": b""})))
    finally:
        waiting.release()

    assert isinstance(error, JobFailed)
    assert error.code == "datum-stuck"
