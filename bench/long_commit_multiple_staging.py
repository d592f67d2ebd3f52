# SPDX-License-Identifier: Apache-2.0
"""One long commit while many stage: the scenario that seed 000 asks to be measured.

Sixteen stagers write to the branch whose half a million staged objects are being committed, in five
rounds of which the median counts. In each they first write as fast as they can, which gives the
saturated rate of that time: a shared machine is not always as fast. Then half of it is offered on a
fixed timetable, without the commit and with it. Without it that lasts as long as the last one took:
a pause of the machine that comes once in ten seconds would else be met on one side only.

Writes that the disk held up by standing still do not count for a p99; the table says how many do,
and what it is of all. A window in which fewer than nine tenths count measured nothing; where most
are so, neither did the row. Of two middle windows the quicker one counts without the commit, the
slower one with it.

SQLite and PostgreSQL, both with fsync; stagers in the committer's own process, where they share one
interpreter lock with it, and in others.
"""

import math
import os
import sys
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from statistics import median_high, median_low
from time import monotonic, sleep

import msgspec

from disk import DiskWatch
from ground import MAIN, Ground, new_ground, stage_objects
from lochan.operations.commit import CommitRequest, commit
from measure import Row, chosen
from postgres import postgres, settle
from stagers import Processes, Threads, Timetable, Window

OBJECTS = chosen(500_000, small=2_000)
STAGERS = 16
PROCESSES = 4
ROUNDS = chosen(5, small=1)  # of which the median counts
WARM_UP_S = chosen(1.0, small=0.1)
SATURATED_S = chosen(4.0, small=0.3)
WINDOW_S = chosen(10.0, small=0.3)  # before the first commit
LEAST_SHARE = 0.95
LEAST_COUNTED = 0.9
MOST_P99 = 3.0

Stagers = Threads | Processes


@dataclass(frozen=True, slots=True)
class Figures:
    """The same stagers four times: saturated and at half of that, without the commit and with."""

    saturated: Window
    saturated_beside: Window
    alone: list[Window]
    beside: list[Window]


class Scenario:
    """Loads on one lake, each beside nothing or beside a commit of freshly staged objects."""

    def __init__(self, ground: Ground, stagers: Stagers, disk: DiskWatch) -> None:
        """Measure these stagers."""
        self._ground = ground
        self._stagers = stagers
        self._disk = disk
        self._numbers = count(1)

    def measured(self) -> Figures:
        """Run all four, the last one once; as much is staged in each of them."""
        saturated, alone, beside = list[Window](), list[Window](), list[Window]()
        for _ in range(ROUNDS):
            self._stage()
            saturated.append(self._load(0.0, SATURATED_S))
            half = saturated[-1].rate / 2
            alone.append(self._load(half, beside[-1].seconds if beside else WINDOW_S))
            beside.append(self._load(half))
        self._stage()
        middle = sorted(saturated, key=lambda window: window.rate)[ROUNDS // 2]
        return Figures(middle, self._load(0.0), alone, beside)

    def _stage(self) -> None:
        """Stage what will be committed, and have it written down before anything is measured."""
        stage_objects(self._ground, OBJECTS, version=next(self._numbers))
        if self._ground.kv.startswith("postgres"):
            settle(self._ground.kv)
        os.sync()

    def _load(self, rate: float, seconds: float | None = None) -> Window:
        """Offer a load for so long, or for as long as a commit takes."""
        self._stagers.begin(Timetable(monotonic(), rate, next(self._numbers)))
        sleep(WARM_UP_S)
        start = monotonic()
        if seconds is None:
            said = CommitRequest("bench", "long")
            commit(self._ground.lake, self._ground.repository, MAIN, said)
        else:
            sleep(seconds)
        end = monotonic()
        return self._stagers.finish(end).within(start, end, self._disk.stills())


def main() -> list[Row]:
    """Measure both stores, each with stagers in this process and in others."""
    rows = _rows("SQLite", "")
    with postgres() as url:
        if url:
            return rows + _rows("PostgreSQL", url)
    why = "NOT MEASURED: no initdb and postgres found"
    return [*rows, Row("the same, PostgreSQL", why, "", None, "", None)]


def _rows(name: str, kv: str) -> list[Row]:
    with new_ground(kv) as ground, closing(DiskWatch(ground.folder)) as disk:
        with closing(Threads(ground, STAGERS)) as inside:
            mine = Scenario(ground, inside, disk).measured()
        with closing(Processes(ground, STAGERS, PROCESSES)) as outside:
            theirs = Scenario(ground, outside, disk).measured()
    return [
        *_shown(f"{name}, {STAGERS} threads of the committer's process", mine),
        *_shown(f"{name}, {STAGERS} threads of {PROCESSES} other processes", theirs),
    ]


def _shown(where: str, found: Figures) -> list[Row]:
    beside, alone = found.beside, found.alone
    p99, p99_alone = median_high(_p99s(beside)), median_low(_p99s(alone))
    slower = _ratio(p99, p99_alone)
    return [
        Row(
            f"long-commit-multiple-staging, {where}: writes done",
            f"{_share(beside):.1%} of {beside[-1].offered / beside[-1].seconds:,.0f}/s",
            f"without the commit {_share(alone):.1%}",
            _ratio(_share(beside), _share(alone)),
            f">= {LEAST_SHARE:.0%}",
            _share(beside) >= LEAST_SHARE,
        ),
        Row(
            "  their p99, from when they were due",
            f"{p99 * 1e3:.1f} ms while {OBJECTS:,} are committed; {_counted(beside)}",
            f"without the commit {p99_alone * 1e3:.1f} ms; {_counted(alone)}",
            slower,
            f"<= {MOST_P99:g}x",
            slower is not None
            and slower <= MOST_P99
            and all(2 * len(_measured(each)) > len(each) for each in (alone, beside)),
        ),
        Row(
            f"  saturated; the commit takes {found.saturated_beside.seconds:.1f} s,"
            f" at half the load {median_low(each.seconds for each in beside):.1f} s",
            f"{found.saturated_beside.rate:,.0f}/s,"
            f" p99 {found.saturated_beside.p99_s * 1e3:.1f} ms",
            f"without the commit {found.saturated.rate:,.0f}/s,"
            f" p99 {found.saturated.p99_s * 1e3:.1f} ms",
            _ratio(found.saturated_beside.rate, found.saturated.rate),
            "report",
            None,
        ),
    ]


def _share(windows: list[Window]) -> float:
    offered = sum(each.offered for each in windows)
    return sum(each.done for each in windows) / offered if offered else 0.0


def _measured(windows: list[Window]) -> list[Window]:
    return [each for each in windows if each.counted >= LEAST_COUNTED * each.offered]


def _p99s(windows: list[Window]) -> list[float]:
    return [each.p99_s for each in _measured(windows) or windows]


def _counted(windows: list[Window]) -> str:
    measured = _measured(windows)
    share = sum(each.counted for each in measured) / max(1, sum(each.offered for each in measured))
    of_all = median_high(each.p99_of_all_s for each in windows)
    return (
        f"{len(measured)} of {len(windows)} windows, of which {share:.1%} count;"
        f" median p99 of all {of_all * 1e3:.1f} ms"
    )


def _ratio(one: float, other: float) -> float | None:
    """Compare; on a machine that hardly runs there may be nothing to compare with."""
    return one / other if other and math.isfinite(one) and math.isfinite(other) else None


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(main()))
