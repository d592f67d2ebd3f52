# SPDX-License-Identifier: Apache-2.0
"""What is kept of a driver's output: how it began and how it ended, and no more than that."""

import subprocess
import sys
from pathlib import Path

import pytest

from lochan.bootstrap.driver_log import HEAD, TAIL, DriverLog
from lochan.bootstrap.driver_process import DriverProcess
from lochan.errors import Unavailable
from lochan.pipelines.attempts.checks import CheckTask
from lochan.pipelines.model.work import Code


def say(folder: Path, program: str, *, head: int, tail: int) -> str:
    log = folder / "log"
    with DriverLog(log, head=head, tail=tail) as kept:
        command = [sys.executable, "-c", program]
        with subprocess.Popen(command, stdout=kept.writes) as process:
            kept.hand_over()
            process.wait()
    return log.read_text()


def test_a_short_output_is_kept_as_it_is(tmp_path: Path) -> None:
    assert say(tmp_path, "print('x' * 99)", head=60, tail=40) == "x" * 99 + "\n"


def test_of_a_long_output_the_beginning_and_the_end_are_kept(tmp_path: Path) -> None:
    program = "for n in range(100_000): print(f'{n:06}')"
    kept = say(tmp_path, program, head=14, tail=7)
    assert kept == "000000\n000001\n\n... 699979 bytes left out ...\n099999\n"


def test_outputs_of_several_drivers_follow_each_other(tmp_path: Path) -> None:
    say(tmp_path, "print('one')", head=9, tail=9)
    assert say(tmp_path, "print('two')", head=9, tail=9) == "one\ntwo\n"


def test_a_driver_that_floods_its_log_and_dies_is_told_by_its_last_words(tmp_path: Path) -> None:
    program = "import sys; sys.stdout.write('flood ' * 4_000_000 + '\\nlast words\\n')"
    engine = DriverProcess(
        lambda _: {}, tmp_path / "log", cores=1, command=(sys.executable, "-c", program)
    )
    task = CheckTask(
        job="", pipeline="one", checks=(), code=Code(), output_namespace="mem://x", tree=""
    )
    with pytest.raises(Unavailable, match="last words"):
        engine.check(task, lambda _: None)
    assert (tmp_path / "log").stat().st_size < HEAD + TAIL + 100
