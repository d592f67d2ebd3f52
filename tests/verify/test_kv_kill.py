# SPDX-License-Identifier: Apache-2.0
"""kill -9 of processes that write to one SQLite file: what was acknowledged is there afterwards."""

import random
from pathlib import Path

import pytest

from verify.kv_workload import Told, Writer, wrong

CYCLES = 40


@pytest.mark.campaign
def test_killed_writers_lose_nothing_and_block_nobody(tmp_path: Path) -> None:
    path = tmp_path / "kv.db"
    dice = random.Random("kill")
    told = Told()
    for cycle in range(CYCLES):
        # Threads have new numbers in each cycle, so that writes are never repeated.
        options = ["--threads", "2", "--reopen-after", "100", "--first-thread"]
        with (
            Writer(path, *options, str(4 * cycle)) as victim,
            Writer(path, *options, str(4 * cycle + 2)) as survivor,
        ):
            victim.wait_for(dice.randrange(200))
            victim.kill()
            survivor.wait_for(len(survivor.told.acknowledged) + 50)
            survivor.kill()
        for writer in (victim, survivor):
            told.acknowledged |= writer.told.acknowledged
        assert wrong(path, told) == []
    print(
        f"\nkill -9, SQLite: {2 * CYCLES} processes killed in {CYCLES} cycles,"
        f" {len(told.acknowledged)} acknowledged writes, 0 lost"
    )
