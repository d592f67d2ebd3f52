# SPDX-License-Identifier: Apache-2.0
"""Run the tests of the committed tree again in a process of its own, on either kernel."""

import os
import subprocess
import sys
from pathlib import Path

from support.tree_strategies import SCALE

TESTS = Path(__file__).resolve().parents[1]
PROPERTIES = ["writes", "reads", "machine"]
UNITS = ["cursor", "cuts", "join", "metarange", "verify"]


def run_tree_tests(kernel: str, scale: float) -> str:
    """Run them with so many times the usual examples; give what pytest says at the end."""
    files = [f"properties/test_committed_{name}.py" for name in PROPERTIES]
    files += [f"unit/committed/test_{name}.py" for name in UNITS]
    # The store of examples belongs to the run that started this one.
    options = ["-q", "-x", "-p", "no:cacheprovider", "--rootdir", str(TESTS.parent)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *(str(TESTS / name) for name in files)],
        cwd=TESTS.parent,
        env={**os.environ, "LOCHAN_KERNEL": kernel, SCALE: str(scale)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-10_000:] + done.stderr[-2_000:]
    return done.stdout.splitlines()[-1]
