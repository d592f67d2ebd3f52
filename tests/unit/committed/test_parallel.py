# SPDX-License-Identifier: Apache-2.0
"""Jobs beside the caller: results in order, a bounded number ahead, errors in their place."""

from collections.abc import Iterator
from threading import Barrier, Event

import pytest

from lochan.committed.parallel import Crew, Job
from support.trees import ENVIRONMENT


@pytest.fixture
def crew() -> Iterator[Crew]:
    with ENVIRONMENT.executor(2) as executor:
        yield Crew(executor, 2)


def answer(number: int) -> Job[int]:
    return Job(lambda: number)


def test_results_come_in_the_order_of_the_pieces(crew: Crew) -> None:
    pieces: list[int | Job[int]] = [
        answer(number) if number % 3 else number for number in range(50)
    ]
    assert list(crew.in_order(pieces)) == list(range(50))
    assert list(crew.in_order([])) == []


def test_jobs_run_beside_each_other(crew: Crew) -> None:
    both = Barrier(2)
    pieces: list[int | Job[int]] = [Job(both.wait), Job(both.wait)]
    assert sorted(crew.in_order(pieces)) == [0, 1]


def test_no_more_jobs_are_begun_than_may_wait(crew: Crew) -> None:
    begun = list[int]()

    def pieces() -> Iterator[int | Job[int]]:
        for number in range(40):
            begun.append(number)
            yield answer(number)

    for taken, _ in enumerate(crew.in_order(pieces()), 1):
        assert len(begun) <= taken + crew.ahead


def test_an_error_comes_in_its_place_and_cancels_what_waits(crew: Crew) -> None:
    gate, begun = Event(), list[int]()

    def fail() -> int:
        raise OSError("the second")

    occupied = [Job(gate.wait), Job(gate.wait)]  # both threads
    waiting = [Job(lambda: begun.append(1)), Job(lambda: begun.append(2))]
    results = crew.in_order([answer(1), Job(fail), *occupied, *waiting])
    assert next(results) == 1
    with pytest.raises(OSError, match="the second"):
        next(results)
    gate.set()
    crew.executor.shutdown()
    assert begun == []


def test_an_error_of_the_pieces_themselves_is_told(crew: Crew) -> None:
    def pieces() -> Iterator[int | Job[int]]:
        yield answer(1)
        raise OSError("no more")

    with pytest.raises(OSError, match="no more"):
        list(crew.in_order(pieces()))
