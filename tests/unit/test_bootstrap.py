# SPDX-License-Identifier: Apache-2.0
"""What a process that serves does before it begins; tried in one of its own."""

import subprocess
import sys

PREPARED = """
import gc, sys
from lochan.bootstrap.lake import prepare_process
prepare_process()
assert sys.getswitchinterval() < 0.001, sys.getswitchinterval()
assert gc.get_freeze_count() > 10_000, gc.get_freeze_count()
"""


def test_a_prepared_process_gives_way_soon_and_collects_little() -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", PREPARED], check=True)
