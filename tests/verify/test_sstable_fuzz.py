# SPDX-License-Identifier: Apache-2.0
"""Damaged table files by the million, against the readers (V9, S20)."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from lochan.errors import Corruption
from lochan.kernel import twin
from lochan.sstable import read_table
from support.kernels import load
from support.table_samples import sample_metarange, sample_range, written

pytestmark = pytest.mark.beside_others
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


@pytest.mark.campaign
@pytest.mark.parametrize(("kernel_name", "masks"), [("native", range(1, 256)), ("twin", [0xFF])])
@pytest.mark.parametrize("kind", ["ranges", "metaranges"])
def test_every_byte_changed_in_every_way_is_found(
    kernel_name: str, masks: Sequence[int], kind: str
) -> None:
    kernel = load(kernel_name)
    records = sample_range() if kind == "ranges" else sample_metarange()
    name, data = written(records, kind, twin)
    tried, missed = 0, []
    for at in range(len(data)):
        for mask in masks:
            changed = data[:at] + bytes([data[at] ^ mask]) + data[at + 1 :]
            tried += 1
            try:
                read_table(changed, name, kernel=kernel).verify()
                found = False
            except Corruption as error:
                found = str(error).startswith(f"{name} is damaged at offset {error.offset}: ")
            if not found:
                missed.append((at, mask))
    print(f"{tried} changes of one byte, {len(missed)} missed by {kernel_name}")
    assert missed == []
