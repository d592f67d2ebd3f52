# SPDX-License-Identifier: Apache-2.0
"""A small lake from nothing: put, commit, branch, diff, merge, and what each step costs.

`make demo` runs it, on the real stores: SQLite, local objects, table files. The lake stays in
.cache/demo, to be looked at (`make serve`); the next run starts it afresh.
"""

import hashlib
import shutil

import lake
from rich.console import Console
from rich.progress import track
from rich.table import Table as Grid

from lochan.committed import Applied
from lochan.errors import Conflict, PredicateFailed
from lochan.model.changes import summarize
from lochan.model.ids import LineageId, MetaRangeId

DAYS = [f"2024-{month:02}-{day:02}" for month in range(1, 13) for day in range(1, 29)]
SENSORS = ["attic", "cellar", "garden"]

console = Console(soft_wrap=True, highlight=False)


def reading(day: str, sensor: str, warmer: float = 0) -> bytes:
    """Make a small table, the same on every run."""
    seed = hashlib.sha256(f"{day}/{sensor}".encode()).digest()
    rows = (f"{hour:02}:00,{10 + seed[hour] / 16 + warmer:.1f}\n" for hour in range(24))
    return f"hour,celsius\n{''.join(rows)}".encode()


def path(day: str, sensor: str) -> str:
    """Say where a reading lies in the lake."""
    return f"readings/{day}/{sensor}.csv"


def corrected(
    demo: lake.Lake, day: str, sensors: list[str], warmer: float
) -> list[tuple[bytes, bytes, bytes]]:
    """Put a day's readings again, warmer."""
    return [demo.put(path(day, sensor), reading(day, sensor, warmer)) for sensor in sensors]


def row(grid: Grid, what: str, applied: Applied) -> None:
    """Show what a commit changed, and how little of the tree it wrote."""
    counts = (applied.changed, applied.ranges_written, applied.ranges_reused)
    grid.add_row(what, *map(str, counts), applied.id[:12])


def differences(demo: lake.Lake, left: MetaRangeId, right: MetaRangeId) -> int:
    """Count the objects that differ between two trees."""
    found = demo.snapshots.diff(left, right)
    return summarize(change for chunk in found for change in chunk).total


def commit_a_year(demo: lake.Lake) -> Applied:
    """Put every reading, and commit them at once."""
    wanted = [(day, sensor) for day in DAYS for sensor in SENSORS]
    rows = [
        demo.put(path(*which), reading(*which))
        for which in track(wanted, "putting objects", console=console)
    ]
    return demo.commit("main", "a year of readings", rows)


def show_merge(demo: lake.Lake, grid: Grid) -> None:
    """Merge a branch that corrected July into main, which corrected October meanwhile."""
    base = demo.head("main")
    demo.create_branch("july", base.id, LineageId(""))
    rows = corrected(demo, "2024-07-14", SENSORS, 0.5)
    row(grid, "july: correct one day", demo.commit("july", "the thermometers were cold", rows))
    rows = corrected(demo, "2024-10-01", SENSORS, -0.5)
    row(grid, "main: correct another", demo.commit("main", "the thermometers were warm", rows))
    source, dest = demo.head("july"), demo.head("main")
    merged = demo.snapshots.merge(base.meta_range_id, dest.meta_range_id, source.meta_range_id)
    if merged.id is None:
        raise Conflict("july and main changed different days, and yet they conflict")
    demo.advance("main", "Merge 'july' into 'main'", merged.id, source.id)
    changed = differences(demo, dest.meta_range_id, merged.id)
    result = Applied(merged.id, changed, merged.ranges_reused, merged.ranges_written)
    row(grid, "main: merge july", result)


def show_conflict(demo: lake.Lake) -> None:
    """Let two branches change one object differently."""
    base = demo.head("main")
    demo.create_branch("other", base.id, LineageId(""))
    demo.commit("other", "x", corrected(demo, "2024-07-14", ["attic"], 2))
    demo.commit("main", "y", corrected(demo, "2024-07-14", ["attic"], 3))
    sides = (base, demo.head("main"), demo.head("other"))
    merged = demo.snapshots.merge(*(side.meta_range_id for side in sides))
    keys = ", ".join(conflict.key.decode() for conflict in merged.conflicts)
    console.print(f"both changed one object: no merge, {merged.conflict_count} conflict: {keys}")


def show_race(demo: lake.Lake) -> None:
    """Let two writers move one branch from the same state: one wins, the other is told."""
    seen = demo.branches.get(b"main")
    demo.advance("main", "the first of two", demo.head("main").meta_range_id)
    try:
        demo.branches.set_if(b"main", seen.record, seen.predicate)
    except PredicateFailed as error:
        console.print(f"two writers move main at once; the second is told {error.code!r}")


def main() -> None:
    """Build the lake and show what each step left behind."""
    shutil.rmtree(lake.FOLDER, ignore_errors=True)
    with lake.open_lake() as demo:
        grid = Grid("commit", "objects", "ranges written", "reused", "metarange")
        first = commit_a_year(demo)
        row(grid, "main: a year", first)
        same = corrected(demo, "2024-03-03", SENSORS, 0)
        row(grid, "main: same content again", demo.commit("main", "no change", same))
        show_merge(demo, grid)
        console.print(grid)
        head = demo.head("main").meta_range_id
        changed = differences(demo, first.id, head)
        console.print(f"from the first commit to main: {changed} of {first.changed} objects differ")
        verified = demo.snapshots.verify(head)
        console.print(f"main read back from end to end: {verified} objects, every checksum right")
        show_conflict(demo)
        show_race(demo)
    console.print(f"the lake is in {lake.FOLDER}; look at it with a browser: make serve")


if __name__ == "__main__":
    main()
