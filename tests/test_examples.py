# SPDX-License-Identifier: Apache-2.0
"""The examples run as a newcomer runs them: by their own process, in an empty folder."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("newcomer")


@pytest.fixture(scope="module")
def shown(folder: Path) -> str:
    command = [sys.executable, "-W", "error", str(EXAMPLES / "demo.py")]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_the_demo_says_what_it_did(shown: str) -> None:
    assert re.search(r"main: a year +│ 1008 +│ \d+ +│ 0 ", shown)
    assert "the same content again: nothing to commit" in shown
    assert "july shows 3 uncommitted changes" in shown
    assert re.search(r"main: merge july +│ 3 ", shown)
    assert "6 of 1008 objects differ" in shown
    assert "main read back from end to end: 1008 objects" in shown
    assert "1 conflict: readings/2024-07-14/attic.csv" in shown
    assert "the other side's object: True" in shown
    assert "8 objects, 8 commits, none lost" in shown
    assert "reverted: 0 objects differ" in shown


def test_the_demo_can_be_run_again(shown: str, folder: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "demo.py")]

    subprocess.run(command, cwd=folder, capture_output=True, check=True)
