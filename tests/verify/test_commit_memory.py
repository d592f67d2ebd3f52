# SPDX-License-Identifier: Apache-2.0
"""A commit of ten million staged objects, SQLite and local files, in less than 1 GiB of memory.

It runs in a process of its own, and its largest resident size is read when the commit is done.
Staging takes longer than the commit. About 6 GB of disk are used, and free again at the end.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

ROOT = Path(__file__).parents[2]
COUNT = 10_000_000
ROOM = 12 << 30


@pytest.mark.campaign
def test_a_commit_of_ten_million_objects_takes_less_than_a_gibibyte(
    capsys: pytest.CaptureFixture[str],
) -> None:
    if shutil.disk_usage(ROOT).free < ROOM:
        pytest.skip(f"NOT MEASURED: {COUNT:,} staged objects need {ROOM >> 30} GiB of disk")
    command = [sys.executable, str(ROOT / "bench" / "commit_memory.py"), str(COUNT)]
    done = subprocess.run(command, capture_output=True, check=True)
    (row,) = msgspec.json.decode(done.stdout)
    with capsys.disabled():
        print(f"\n{row['what']}: {row['figure']}; {row['yardstick']}")
    assert row["target"] == "< 1024 MiB"
    assert row["met"]
