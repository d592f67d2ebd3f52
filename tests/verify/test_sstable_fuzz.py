# SPDX-License-Identifier: Apache-2.0
"""One million damaged table files against the compiled reader (V9, S20)."""

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
SEEDS = [20240601, 20240602, 20240603, 20240604]
INPUTS_PER_SEED = 250_000


@pytest.mark.campaign
@pytest.mark.parametrize("seed", SEEDS)
def test_the_native_reader_survives_a_quarter_of_a_million_damaged_files(seed: int) -> None:
    command = [sys.executable, "-X", "faulthandler", "-m", "support.table_fuzzer"]
    asked = ["--kernel=native", f"--seed={seed}", f"--count={INPUTS_PER_SEED}"]
    done = subprocess.run(
        [*command, *asked], cwd=TESTS, capture_output=True, text=True, check=False
    )
    print(done.stdout)
    assert done.returncode == 0, done.stderr[-20000:]
    assert f"seed {seed}: {INPUTS_PER_SEED} inputs read by native" in done.stdout
