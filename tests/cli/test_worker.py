# SPDX-License-Identifier: Apache-2.0
"""`lochan worker` as a person starts and ends it: jobs run in processes of their own."""

import signal
import subprocess
from pathlib import Path

import pytest

import lochan
from support.command import LOCHAN, surroundings
from support.web_pipelines import STEPS, WORDS


def begun(folder: Path, *args: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*LOCHAN, "worker", "--lake", "lake", *args],
        cwd=folder,
        env=surroundings(folder),
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_goes_on_until_it_is_asked_to_end(tmp_path: Path, by: signal.Signals) -> None:
    lochan.open(tmp_path / "lake").close()
    with begun(tmp_path) as worker:
        assert worker.stderr is not None
        assert worker.stderr.readline() == "looking after pipelines\n"
        worker.send_signal(by)
        assert worker.wait(30) == 0
        assert "Traceback" not in worker.stderr.read()


def test_a_worker_runs_what_is_due_in_processes_of_its_own(tmp_path: Path) -> None:
    with lochan.open(tmp_path / "lake") as lake:
        books = lake.repository("books").create().branch("main")
        lake.pipelines.create(WORDS, {"steps.py": STEPS})
        books.upload("a", "one two")
        books.commit("a book")
        with begun(tmp_path, "--once") as worker:
            assert worker.wait(300) == 0
        (job,) = lake.pipelines.jobs.of("words")
        assert (job.state, job.counts.processed) == ("success", 1)
        assert lake.repository("words").ref("main").object("a").read() == b"2"
