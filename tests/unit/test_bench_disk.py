# SPDX-License-Identifier: Apache-2.0
"""When a disk counts as standing still, and which writes it then holds up."""

import importlib.util
from pathlib import Path

import pytest

DISK = Path(__file__).resolve().parents[2] / "bench" / "disk.py"
_spec = importlib.util.spec_from_file_location("bench_disk", DISK)
assert _spec is not None
assert _spec.loader is not None
disk = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(disk)

Look = tuple[float, int, int]  # when; what was answered by then, and what was not


def stretches(*looks: Look) -> list[tuple[float, float]]:
    seen = disk.Looks()
    counts = ([answered, *[0] * 7, waiting] for _, answered, waiting in looks)
    found = [seen.ended(now, each) for (now, _, _), each in zip(looks, counts, strict=True)]
    return [tuple(each) for each in found if each]


def test_a_disk_that_is_asked_and_answers_nobody_stands_still() -> None:
    waits = [(turn / 256, 5, 1) for turn in range(10)]
    assert stretches(*waits, (10 / 256, 6, 0)) == [(0.0, 9 / 256)]


@pytest.mark.parametrize(
    "looks",
    [
        [(0.0, 1, 0), (0.004, 2, 0), (0.034, 9, 0)],  # who looks was held up
        [(0.0, 1, 1), (0.030, 2, 1), (0.060, 3, 1)],
        [(0.004 * turn, 5, 0) for turn in range(20)],  # nobody asks
        [(0.004 * turn, turn, 3) for turn in range(20)],  # it answers
        [(0.0, 5, 1), (0.004, 5, 1), (0.008, 6, 1)],  # soon enough
    ],
)
def test_a_disk_that_was_not_seen_waiting_does_not(looks: list[Look]) -> None:
    assert stretches(*looks) == []


def test_writes_are_held_up_until_what_has_gathered_is_done() -> None:
    still = disk.Still(10.0, 10.1)
    dues = (9.99, 10.0, 10.05, 10.29, 10.31)
    assert [still.touches(due) for due in dues] == [False, True, True, True, False]
