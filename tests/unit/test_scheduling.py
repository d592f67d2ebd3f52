# SPDX-License-Identifier: Apache-2.0
"""The scheduler's thread: one among the workers of a server, and another when that one is gone."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event

import pytest

from lochan.bootstrap.scheduling import LOCK, Scheduling
from lochan.config.server import Pipelines, Settings
from lochan.environment import RealEnvironment
from lochan.logs.log import open_log
from lochan.pipelines.model.tables import PipelineTables
from lochan.pipelines.specs.registry import delete_pipeline
from support.pipeline_world import PipelineWorld

SOON_S = 0.02
HOLDS = """
import fcntl, sys
lock = open(sys.argv[1], "wb")
fcntl.flock(lock, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


class Unread:
    """Takes what is logged."""

    is_terminal = False

    def write(self, line: bytes) -> None:
        """Forget it."""


class Watched:
    """A lake in which a turn shows: it takes away the open row of a job that has ended."""

    def __init__(self) -> None:
        world = PipelineWorld.open()
        world.create()
        self.lake, self._job = world.lake, world.run({"a": "x"}).id.encode()
        delete_pipeline(world.lake, "thumbs")
        self._rows = PipelineTables.of(world.lake.store).open
        self._rows.set(self._job, b"")

    def has_turned(self) -> bool:
        return self._rows.find(self._job) is None

    def wait(self) -> None:
        late = Event()
        for _ in range(1_000):
            if self.has_turned():
                return
            late.wait(SOON_S)
        pytest.fail("no turn was taken")


def scheduling(watched: Watched, folder: Path, *, enabled: bool = True) -> Scheduling:
    settings = Settings(pipelines=Pipelines(enabled=enabled, pause_seconds=SOON_S))
    log = open_log(Unread(), RealEnvironment(), format="json")  # type: ignore[arg-type]
    return Scheduling(watched.lake, settings, log, folder)


@contextmanager
def other_worker(folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that has the lock until it ends."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(folder / LOCK)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        try:
            yield process
        finally:
            process.kill()


def test_of_two_workers_of_a_server_one_takes_turns(tmp_path: Path) -> None:
    first, second = Watched(), Watched()
    with (
        closing(scheduling(first, tmp_path)) as one,
        closing(scheduling(second, tmp_path)) as other,
    ):
        one.start()
        first.wait()
        other.start()
        Event().wait(5 * SOON_S)
        assert not second.has_turned()
        one.close()
        second.wait()


def test_a_worker_takes_over_when_the_one_that_had_the_scheduler_is_killed(tmp_path: Path) -> None:
    watched = Watched()
    with other_worker(tmp_path) as process, closing(scheduling(watched, tmp_path)) as mine:
        mine.start()
        Event().wait(5 * SOON_S)
        assert not watched.has_turned()
        process.kill()
        watched.wait()


def test_a_server_whose_settings_say_so_has_no_scheduler(tmp_path: Path) -> None:
    with closing(scheduling(Watched(), tmp_path, enabled=False)) as mine:
        mine.start()
        assert not (tmp_path / LOCK).exists()
