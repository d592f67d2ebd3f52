# SPDX-License-Identifier: Apache-2.0
"""`make bench`: every figure beside its yardstick, measured in the same run.

Figures are the best of three, and with Spark the median of five. Each part runs in a process of its
own, so that one part's memory does not count for another. Lakes and files are made under
.cache/bench on the first run (about 9 GB) and kept for the next. Parts may be named
on the command line; `--small` goes on to them, and shows only that they run.
"""

import subprocess
import sys
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

from measure import SMALL, Row

PARTS = (
    *("tables", "look_ups", "applies", "diffs", "kinship"),
    *("commits", "commit_memory", "contention", "branch_writes", "long_commit_multiple_staging"),
    *("refs_transport", "tombstones", "rest", "gc_mark", "attempts"),
    *("spark_direct", "spark_webhdfs", "spark_import", "spark_tables", "pipelines"),
)
console = Console(width=max(Console().width, 150))  # a table to be read, also in a log


def run(part: str, options: list[str]) -> list[Row]:
    """Run one part and read its rows."""
    script = Path(__file__).parent / f"{part}.py"
    command = [sys.executable, str(script), *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=list[Row])


def main(words: list[str]) -> int:
    """Print the table; 1 where a target was missed."""
    options = [word for word in words if word == SMALL]
    parts = [word for word in words if word != SMALL]
    if unknown := sorted(set(parts) - set(PARTS)):
        sys.exit(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    table = Table(title="lochan: figures beside their yardsticks (2 cores)")
    for name in ("what", "lochan", "yardstick", "ratio", "target", ""):
        table.add_column(name, justify="right" if name == "ratio" else "left")
    missed = 0
    for part in parts or PARTS:
        with console.status(f"measuring {part} ..."):
            rows = run(part, options)
        for row in rows:
            missed += row.met is False
            mark = {True: "[green]met", False: "[red]missed", None: ""}[row.met]
            ratio = f"{row.ratio:.2f}x" if row.ratio is not None else ""
            table.add_row(row.what, row.figure, row.yardstick, ratio, row.target, mark)
    console.print(table)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
