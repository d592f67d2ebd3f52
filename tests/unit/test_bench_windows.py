# SPDX-License-Identifier: Apache-2.0
"""Which windows of `long-commit-multiple-staging` count, and when its table says that it is met."""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCH = str(Path(__file__).resolve().parents[2] / "bench")


@pytest.fixture(scope="module")
def bench() -> Iterator[ModuleType]:
    sys.path.insert(0, BENCH)
    try:
        yield import_module("long_commit_multiple_staging")
    finally:
        sys.path.remove(BENCH)


def window(bench: ModuleType, p99_s: float, *, counted: int = 100, done: int = 100) -> object:
    return bench.Window(
        seconds=1.0,
        offered=100,
        done=done,
        answered=done,
        counted=counted,
        p99_s=p99_s,
        p99_of_all_s=2 * p99_s,
    )


def rows(bench: ModuleType, alone: list[object], beside: list[object]) -> tuple[Any, Any]:
    one = window(bench, 1.0)
    done, p99, _ = bench._shown("here", bench.Figures(one, one, alone, beside))
    return done, p99


def test_medians_of_both_sides_are_compared(bench: ModuleType) -> None:
    alone = [window(bench, p99) for p99 in (0.009, 0.001, 0.002)]
    beside = [window(bench, p99) for p99 in (0.004, 0.090, 0.001)]
    _, p99 = rows(bench, alone, beside)
    assert (p99.ratio, p99.met) == (pytest.approx(2.0), True)


def test_of_two_middle_windows_the_worse_comparison_counts(bench: ModuleType) -> None:
    alone = [window(bench, p99) for p99 in (0.001, 0.009)]
    beside = [window(bench, p99) for p99 in (0.001, 0.004)]
    _, p99 = rows(bench, alone, beside)
    assert (p99.ratio, p99.met) == (pytest.approx(4.0), False)


def test_where_the_disk_spoilt_most_windows_nothing_is_met(bench: ModuleType) -> None:
    alone = [window(bench, 0.001)] * 3
    spoilt = [window(bench, 0.090, counted=80)] * 2
    _, p99 = rows(bench, alone, [window(bench, 0.001), *spoilt])
    assert (p99.ratio, p99.met) == (pytest.approx(1.0), False)
    assert "1 of 3 windows" in p99.figure
    _, p99 = rows(bench, alone, [window(bench, 0.001), window(bench, 0.001), spoilt[0]])
    assert p99.met


def test_writes_done_are_those_of_all_windows(bench: ModuleType) -> None:
    beside = [window(bench, 0.001), window(bench, 0.001), window(bench, 0.090, done=80, counted=80)]
    done, _ = rows(bench, [window(bench, 0.001)] * 3, beside)
    assert not done.met
    assert done.figure.startswith("93.3%")
