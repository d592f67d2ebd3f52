# SPDX-License-Identifier: Apache-2.0
"""A short run of the fuzzer; tests/verify/test_sstable_fuzz.py has the long one."""

from lochan.kernel import twin
from lochan.kernel.interface import Kernel
from support.table_fuzzer import fuzz


def test_rel_S20_damaged_files_are_answered_or_refused(kernel: Kernel) -> None:
    ends = fuzz(kernel, seed=7, count=400 if kernel is twin else 6000)
    for way in ("blind", "sealed", "rebuilt"):
        assert ends[f"{way}, refused at open"] > 0
        assert ends[f"{way}, refused by verify"] > 0
    assert ends["rebuilt, accepted"] > 0
