# SPDX-License-Identifier: Apache-2.0
"""The measurements of the versioning engine run, at sizes that say nothing about its speed."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

BENCH = Path(__file__).resolve().parent.parent / "bench"


@pytest.mark.parametrize(
    ("part", "rows"),
    [
        ("commits", 4),
        ("commit_memory", 1),
        ("contention", 4),
        ("branch_writes", 2),
        ("long_commit_multiple_staging", 12),
        ("refs_transport", 2),
        ("tombstones", 5),
        ("rest", 6),
        ("attempts", 2),
        ("pipelines trees", 4),
    ],
)
def test_a_part_measures_every_row_that_it_promises(part: str, rows: int) -> None:
    script, *words = part.split()
    command = [sys.executable, "-W", "error", str(BENCH / f"{script}.py"), "--small", *words]
    ran = subprocess.run(command, capture_output=True, check=False, timeout=240)
    assert ran.returncode == 0, ran.stderr.decode()
    found = msgspec.json.decode(ran.stdout)
    assert len(found) == rows or "NOT MEASURED" in ran.stdout.decode()
    assert all(row["what"] and row["figure"] for row in found)
