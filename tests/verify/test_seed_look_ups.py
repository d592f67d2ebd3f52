# SPDX-License-Identifier: Apache-2.0
"""Seed 001's figure at the seed's size: random look-ups among 200 million objects.

The lake is made once, under .cache/bench, and takes about 25 GB. The figures are printed beside
the seed's 500,000 a second; which of them meet it depends on the machine, so that only the answers
are asserted (`bench/look_ups.py` checks that every key is found).
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COUNT = 200_000_000
ROOM = 40 << 30


@pytest.mark.campaign
def test_look_ups_among_two_hundred_million(capsys: pytest.CaptureFixture[str]) -> None:
    made = list((ROOT / ".cache" / "bench").glob(f"v*-{COUNT}/metarange"))
    if not made and shutil.disk_usage(ROOT).free < ROOM:
        pytest.skip(f"NOT MEASURED: a lake of {COUNT:,} records needs {ROOM >> 30} GiB of disk")
    done = subprocess.run(
        [sys.executable, "look_ups.py", str(COUNT)],
        cwd=ROOT / "bench",
        capture_output=True,
        text=True,
        check=True,
    )
    with capsys.disabled():
        print("\n" + done.stdout)
    assert "keys/s" in done.stdout
