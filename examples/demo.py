# SPDX-License-Identifier: Apache-2.0
"""A small lake from nothing: put, commit, branch, diff, merge, revert, and what each step costs.

`make demo` runs it, on the real stores: SQLite, local objects, table files. The lake stays in
.cache/demo, to be looked at (`make serve`); the next run starts it afresh.
"""

import hashlib
import shutil
from concurrent.futures import ThreadPoolExecutor

import lake
from rich.console import Console
from rich.progress import track
from rich.table import Table as Grid

from lochan.errors import InvalidInput
from lochan.model.changes import summarize
from lochan.model.ids import BranchName, ObjectKey, valid_branch_name, valid_tag_name
from lochan.model.records import Commit
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.diff import diff_three_dot, diff_two_dot, diff_uncommitted
from lochan.operations.merge import MergeConflict, MergeRequest, merge
from lochan.operations.put_object import put_object
from lochan.operations.read_object import get_object
from lochan.operations.reference import commit_of
from lochan.operations.reset import reset
from lochan.operations.tags import create_tag
from lochan.operations.transplant import TransplantRequest, revert
from lochan.refs.log import log

DAYS = [f"2024-{month:02}-{day:02}" for month in range(1, 13) for day in range(1, 29)]
SENSORS = ["attic", "cellar", "garden"]
JULY, OTHER = valid_branch_name("july"), valid_branch_name("other")

console = Console(soft_wrap=True, highlight=False)


def reading(day: str, sensor: str, warmer: float = 0) -> bytes:
    """Make a small table, the same on every run."""
    seed = hashlib.sha256(f"{day}/{sensor}".encode()).digest()
    rows = (f"{hour:02}:00,{10 + seed[hour] / 16 + warmer:.1f}\n" for hour in range(24))
    return f"hour,celsius\n{''.join(rows)}".encode()


def path(day: str, sensor: str) -> ObjectKey:
    """Say where a reading lies in the lake."""
    return ObjectKey(f"readings/{day}/{sensor}.csv".encode())


def correct(
    demo: lake.Opened, branch: BranchName, day: str, warmer: float, sensors: list[str] = SENSORS
) -> None:
    """Put a day's readings again, warmer."""
    for sensor in sensors:
        body = reading(day, sensor, warmer)
        put_object(*demo, branch, path(day, sensor), body, content_type="text/csv")


def record(demo: lake.Opened, branch: BranchName, message: str) -> Commit:
    """Commit what is staged on a branch."""
    return commit(*demo, branch, CommitRequest("demo", message))


def row(demo: lake.Opened, grid: Grid, what: str, made: Commit) -> None:
    """Show what a commit changed, and how little of the tree it wrote."""
    snapshots = demo.lake.storage(demo.repository.storage_namespace).snapshots
    parent = commit_of(*demo, made.parents[0])
    changes = (
        change
        for chunk in snapshots.diff(parent.meta_range_id, made.meta_range_id)
        for change in chunk
    )
    before, after = (
        set(snapshots.files.metarange(each.meta_range_id).range_ids) for each in (parent, made)
    )
    counts = (summarize(changes).total, len(after - before), len(after & before))
    grid.add_row(what, *map(str, counts), made.id[:12])


def commit_a_year(demo: lake.Opened) -> Commit:
    """Put every reading, and commit them at once."""
    wanted = [(day, sensor) for day in DAYS for sensor in SENSORS]
    for which in track(wanted, "putting objects", console=console):
        put_object(*demo, lake.MAIN, path(*which), reading(*which), content_type="text/csv")
    return record(demo, lake.MAIN, "a year of readings")


def show_no_change(demo: lake.Opened) -> None:
    """Write the same content again: it is no change, whoever writes it and when."""
    correct(demo, lake.MAIN, "2024-03-03", 0)
    try:
        record(demo, lake.MAIN, "the same content again")
    except InvalidInput as error:
        console.print(f"the same content again: {error}")


def show_merge(demo: lake.Opened, grid: Grid) -> None:
    """Merge a branch that corrected July into main, which corrected October meanwhile."""
    create_branch(*demo, JULY, commit_of(*demo, "main").id)
    correct(demo, JULY, "2024-07-14", 0.5)
    staged = len(diff_uncommitted(*demo, JULY).changes)
    console.print(f"july shows {staged} uncommitted changes, main shows none of them")
    row(demo, grid, "july: correct one day", record(demo, JULY, "the thermometers were cold"))
    correct(demo, lake.MAIN, "2024-10-01", -0.5)
    row(demo, grid, "main: correct another", record(demo, lake.MAIN, "they were warm"))
    brought = len(diff_three_dot(*demo, "main", "july").changes)
    console.print(f"a merge of july would bring {brought} objects to main")
    made = merge(*demo, lake.MAIN, commit_of(*demo, "july"), MergeRequest("demo"))
    row(demo, grid, "main: merge july", made)


def show_conflict(demo: lake.Opened) -> None:
    """Let two branches change one object differently; then let one side win."""
    create_branch(*demo, OTHER, commit_of(*demo, "main").id)
    correct(demo, OTHER, "2024-07-14", 2, ["attic"])
    source = record(demo, OTHER, "two degrees")
    correct(demo, lake.MAIN, "2024-07-14", 3, ["attic"])
    record(demo, lake.MAIN, "three degrees")
    try:
        merge(*demo, lake.MAIN, source, MergeRequest("demo"))
    except MergeConflict as error:
        keys = ", ".join(conflict.key.decode() for conflict in error.keys)
        console.print(f"both changed one object: no merge, {len(error.keys)} conflict: {keys}")
    merge(*demo, lake.MAIN, source, MergeRequest("demo", strategy="source-wins"))
    with get_object(*demo, "main", path("2024-07-14", "attic"))[1] as body:
        taken = body.read() == reading("2024-07-14", "attic", 2)
    console.print(f"merged again, source wins: main has the other side's object: {taken}")


def show_crowd(demo: lake.Opened) -> None:
    """Let eight writers put and commit to one branch at once: nothing waits, nothing is lost."""
    day = "2025-01-01"

    def work(number: int) -> None:
        key = ObjectKey(f"readings/{day}/sensor{number}.csv".encode())
        put_object(*demo, lake.MAIN, key, reading(day, str(number)), content_type="text/csv")
        commit(*demo, lake.MAIN, CommitRequest("demo", f"sensor {number}", allow_empty=True))

    before = commit_of(*demo, "main").id
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    objects = len(diff_two_dot(*demo, before, "main").changes)
    records = (
        len(
            list(
                log(demo.lake.tables(demo.repository), commit_of(*demo, "main").id, stop_at=before)
            )
        )
        - 1
    )
    console.print(f"eight writers at once: {objects} objects, {records} commits, none lost")


def show_way_back(demo: lake.Opened) -> None:
    """Undo: what is staged, and what is committed."""
    correct(demo, lake.MAIN, "2024-05-05", 40)
    reset(*demo, lake.MAIN)
    correct(demo, lake.MAIN, "2024-05-05", 50)
    wrong = record(demo, lake.MAIN, "fifty degrees")
    revert(*demo, lake.MAIN, wrong, TransplantRequest("demo"))
    left = len(diff_two_dot(*demo, wrong.parents[0], "main").changes)
    console.print(f"a mistake, reverted: {left} objects differ from before it")


def main() -> None:
    """Build the lake and show what each step left behind."""
    shutil.rmtree(lake.FOLDER, ignore_errors=True)
    with lake.open_demo() as demo:
        grid = Grid("commit", "objects", "ranges written", "reused", "id")
        first = commit_a_year(demo)
        row(demo, grid, "main: a year", first)
        create_tag(*demo, valid_tag_name("year"), first)
        show_no_change(demo)
        show_merge(demo, grid)
        console.print(grid)
        changed = len(diff_two_dot(*demo, "year", "main").changes)
        console.print(
            f"from tag year to main: {changed} of {len(DAYS) * len(SENSORS)} objects differ"
        )
        snapshots = demo.lake.storage(demo.repository.storage_namespace).snapshots
        verified = snapshots.verify(commit_of(*demo, "main").meta_range_id)
        console.print(f"main read back from end to end: {verified} objects, every checksum right")
        show_conflict(demo)
        show_crowd(demo)
        show_way_back(demo)
    console.print(f"the lake is in {lake.FOLDER}; look at it with a browser: make serve")


if __name__ == "__main__":
    main()
