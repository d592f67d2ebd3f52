# SPDX-License-Identifier: Apache-2.0
"""Time things fairly: the best of three, in wall and processor time."""

import gc
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")
SMALL = "--small"  # on the command line: sizes that only show that a script runs


@dataclass(frozen=True, slots=True)
class Timing:
    """The best of some runs."""

    wall_s: float
    cpu_s: float


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: what was measured, beside its yardstick and its target."""

    what: str
    figure: str
    yardstick: str
    ratio: float | None
    target: str
    met: bool | None  # None where the issue asks for a report only


def chosen(full: T, *, small: T) -> T:
    """Give the size to be measured, or the small one if the command line asks for it."""
    return small if SMALL in sys.argv[1:] else full


def is_wanted(what: str) -> bool:
    """Say whether a row was asked for: one of the words on the command line is in its name."""
    words = [word for word in sys.argv[1:] if word != SMALL]
    return not words or any(word in what for word in words)


def best(work: Callable[[], object], times: int = 3) -> Timing:
    """Run work some times and keep the fastest."""
    found: Timing | None = None
    for _ in range(times):
        gc.collect()
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        timing = Timing(time.perf_counter() - wall, time.process_time() - cpu)
        if found is None or timing.wall_s < found.wall_s:
            found = timing
    assert found is not None
    return found


def peak_mib() -> int:
    """The most memory that this process has had resident."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
