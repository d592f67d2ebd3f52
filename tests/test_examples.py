# SPDX-License-Identifier: Apache-2.0
"""The examples run as a newcomer runs them: by their own process, in an empty folder."""

import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def run_demo(folder: Path, *options: str) -> str:
    command = [sys.executable, "-W", "error", str(EXAMPLES / "demo.py"), *options]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("newcomer")


@pytest.fixture(scope="module")
def shown(folder: Path) -> str:
    return run_demo(folder)


def test_the_demo_says_what_it_did(shown: str) -> None:
    assert re.search(r"\d{3} files, \d+\.\d MB in ", shown)
    assert re.search(r"branch tidy made in \d+ ms; files copied: 0", shown)
    assert "tidy has 3 uncommitted changes, main has 0" in shown
    assert re.search(r": 2 files written for the tree of all objects", shown)
    assert "- lib/antigravity.py\n  ~ lib/this.py\n  + modules.csv\n" in shown
    assert "The Zen of Python" in shown
    assert "Gur Mra bs Clguba" in shown
    assert "refused: the merge met conflicts" in shown
    assert "source wins: # Python, with batteries" in shown
    assert "8 objects in " in shown
    assert re.search(r"reverted: [1-9]\d* files of lib/json/ are back", shown)
    assert "nothing to commit" in shown
    assert re.search(r"merge tidy +\n", shown)


def test_the_demo_reads_a_ref_and_writes_a_job_with_spark(shown: str) -> None:
    assert re.search(r"\d{2,3},\d{3} lines of Python, \d+,\d{3} of them comments", shown)
    assert re.search(r"private branch job-[0-9a-f]+\.\.\.; on main: 0 files", shown)
    assert re.search(r"[1-9]\d files in one commit, [0-9a-f]{12}", shown)
    assert re.search(r"most used: self \d+,\d{3}, ", shown)
    assert "files of it on main: 0; head moved: False" in shown


def test_the_demo_runs_a_pipeline_that_skips_what_did_not_change(shown: str) -> None:
    assert re.search(r"modules: success, \d{3} datums run, 1 left out", shown)
    assert re.search(r"modules: success, 1 datum run, \d{3} unchanged and not run", shown)
    assert len(re.findall(r"imports: success, 1 datum run, ", shown)) == 2
    assert re.search(r"python@[0-9a-f]{12}:lib/this\.py, by job [0-9a-f]{12}", shown)
    assert re.search(r"python@\S+ -> modules@\S+ -> imports@\S+\n", shown)


def test_the_demo_can_be_run_again_and_leaves_no_server(shown: str, folder: Path) -> None:
    url = re.search(r"http://127\.0\.0\.1:\d+", run_demo(folder, "--quick"))
    assert url is not None
    with pytest.raises(httpx.ConnectError):
        httpx.get(url[0])
