# SPDX-License-Identifier: Apache-2.0
"""Drivers in processes of their own: what they are told, how they end, and who goes on."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from lochan.bootstrap.driver_process import DriverProcess
from lochan.bootstrap.job_runner import Order, Runner, run_order, start_runner
from lochan.bootstrap.lake import open_lake
from lochan.environment import RealEnvironment
from lochan.errors import JobFailed, Unavailable
from lochan.pipelines.attempts.in_process import InProcess
from lochan.pipelines.jobs.job_records import LEASE_S
from lochan.pipelines.jobs.run_job import run_job
from lochan.pipelines.model.records import JobState
from lochan.pipelines.model.spec import DatumRules, FilesTransform
from lochan.pipelines.model.work import Code, JobTask, Progress, Shard
from lochan.spark.drive import asked_for
from support.pipelines_on_disk import DiskWorld, disk_world, stored
from support.processes import children_of, eventually, members_of

DRIVE = "lochan.spark.drive"
TASK = JobTask(
    job="j1",
    epoch=1,
    pipeline="caps",
    transform=FilesTransform(function="steps:make"),
    rules=DatumRules(),
    code=Code(),
    output_namespace="mem://out",
    input_namespaces={},
)
MANIFEST = {
    "manifest": {
        **dict.fromkeys(("attempt", "fragment", "log", "datums_hash"), "x"),
        **dict.fromkeys(("shard", "processed", "failed", "files", "bytes", "milliseconds"), 1),
    }
}
# Each datum's text names a folder: there it is counted, and the last one waits for a word.
STEPS = """
import os, time

def make(text, out):
    folder, name = text.read_text(), os.path.basename(text.path)
    with open(f"{folder}/ran-{name}", "a") as ran:
        ran.write("x")
    while name == "3" and not os.path.exists(f"{folder}/go"):
        time.sleep(0.05)
    out.write(text.path, name)
"""
PIPELINE = """
pipeline: caps
input: {repo: {name: text, repo: texts, branch: main, glob: "/*"}}
transform: {files: "steps:make"}
output: {repo: caps}
shards: 4
spark: {conf: {spark.driver.memory: 512m}}
"""


class Later(RealEnvironment):
    """The same world, when the leases of now have run out."""

    def now(self) -> float:
        return super().now() + LEASE_S + 1


@pytest.fixture
def world(tmp_path: Path) -> Iterator[DiskWorld]:
    with disk_world(tmp_path) as opened:
        opened.create(PIPELINE, STEPS)
        opened.put({str(number): str(tmp_path) for number in range(4)})
        yield opened


def driver(folder: Path, text: str) -> DriverProcess:
    """Make an engine whose driver is a small program; it can say lines."""
    program = folder / "driver.py"
    said = (
        "import json, os, signal, subprocess, sys, time\n"
        "def say(**line): os.write(int(os.environ['LOCHAN_DRIVER_LINES']),"
        " json.dumps(line).encode() + b'\\n')\n"
    )
    program.write_text(said + text)
    return DriverProcess(
        lambda _: {}, folder / "log", cores=2, command=(sys.executable, str(program))
    )


def hear_nothing(_: Progress) -> None:
    """Go on."""


def run(engine: DriverProcess) -> list[int]:
    return [one.shard for one in engine.run(TASK, [Shard(0, ())], hear_nothing)]


def order(world: DiskWorld, job: str) -> Order:
    return Order(job=job, kv_url=world.kv_url, log=str(world.folder / "log"))


@contextmanager
def running_runner(world: DiskWorld, job: str) -> Iterator[Runner]:
    with (world.folder / "runner.log").open("wb") as log:
        runner = start_runner(order(world, job), log)
    try:
        yield runner
    finally:
        runner.end(1)


def ran(world: DiskWorld) -> str:
    """Say how often each datum was run."""
    found = [world.folder / f"ran-{number}" for number in range(4)]
    return " ".join(str(len(one.read_text())) if one.exists() else "0" for one in found)


def manifests(world: DiskWorld, job: str, epoch: int) -> int:
    found = stored(world, "caps", f"_work/jobs/{job}/{epoch}/")
    return sum(one.endswith("/manifest") for one in found)


def test_manifests_come_as_lines_and_the_last_one_says_done(tmp_path: Path) -> None:
    said = f"say(**{MANIFEST!r}); say(progress={{'shards': 1}}); say(done=True)"

    assert run(driver(tmp_path, said)) == [1]


def test_what_a_driver_says_of_a_failure_ends_the_job(tmp_path: Path) -> None:
    engine = driver(tmp_path, "say(failed={'message': 'no such word', 'code': 'datum-failed'})")

    with pytest.raises(JobFailed, match="no such word") as told:
        run(engine)

    assert told.value.code == "datum-failed"


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("sys.exit('out of luck')", "status 1 .* it said last: out of luck"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "status -9"),
        ("os.write(int(os.environ['LOCHAN_DRIVER_LINES']), b'{}}\\n')", "what is no line"),
        (
            "os.write(int(os.environ['LOCHAN_DRIVER_LINES']), b'x' * (2 << 20))",
            "what is no line",
        ),
        (
            "print('x' * (9 << 20)); sys.exit('password=word')",
            r"last: .{,205}password=\*\*\*",
        ),
    ],
)
def test_a_driver_that_comes_to_no_end_leaves_the_job_to_the_next(
    tmp_path: Path, program: str, said: str
) -> None:
    with pytest.raises(Unavailable, match=said):
        run(driver(tmp_path, program))


def test_a_driver_that_is_not_wanted_ends_with_all_that_it_started(tmp_path: Path) -> None:
    engine = driver(
        tmp_path,
        "subprocess.Popen(['sleep', '600']); say(progress={'shards': os.getpid()})\n"
        "time.sleep(600)",
    )
    group = 0

    def refuse(progress: Progress) -> None:
        nonlocal group
        if progress.shards:
            group = progress.shards
            assert len(members_of(group)) == 2
            raise JobFailed("not wanted")

    with pytest.raises(JobFailed, match="not wanted"):
        list(engine.run(TASK, [], refuse))

    eventually(lambda: not members_of(group), 30)


def test_a_silent_driver_ends_when_nobody_hears_it_any_more(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir()
    reads, writes = os.pipe()
    program = (
        "import os, pathlib, sys; from lochan.spark.drive import watch;"
        "os.write(int(sys.argv[1]), b'ready'); watch(int(sys.argv[1]), pathlib.Path(sys.argv[2]))"
    )
    silent = subprocess.Popen(
        [sys.executable, "-c", program, str(writes), str(private)],
        pass_fds=(writes,),
        start_new_session=True,
    )
    os.close(writes)
    assert os.read(reads, 9) == b"ready"

    os.close(reads)

    assert silent.wait(60) == -signal.SIGKILL
    assert not private.exists()


def test_rel_S25_a_driver_is_told_no_store_and_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "only-the-server-knows"
    for name in (
        "LOCHAN_KV",
        "LOCHAN_DATABASE_POSTGRES_CONNECTION_STRING",
        "LOCHAN_AUTH_ENCRYPT_SECRET_KEY",
        "LOCHAN_SECRET_ACCESS_KEY",
        "PGPASSWORD",
        "DATABASE_URL",
    ):
        monkeypatch.setenv(name, secret)
    engine = driver(
        tmp_path,
        "held = [open(os.path.join(sys.argv[1], one), 'rb').read().decode(errors='replace')"
        " for one in os.listdir(sys.argv[1])]\n"
        "json.dump([dict(os.environ), held, sys.argv], open('seen', 'w')); say(done=True)",
    )
    monkeypatch.chdir(tmp_path)

    run(engine)

    seen = (tmp_path / "seen").read_text()
    assert secret not in seen
    assert "PATH" in json.loads(seen)[0]
    assert [name for name in json.loads(seen)[0] if name.startswith("LOCHAN_")] == [
        "LOCHAN_DRIVER_LINES"
    ]


def test_rel_V14_rel_P5_runners_and_drivers_that_are_killed_leave_one_commit(
    world: DiskWorld,
) -> None:
    [job] = world.due()

    # A driver is killed: its runner says so, and lets go of the job.
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run_order, order(world, job), RealEnvironment())
        eventually(lambda: manifests(world, job, 1) == 3 and ran(world) == "1 1 1 1")
        [driven] = children_of(os.getpid(), DRIVE)
        os.kill(driven, signal.SIGKILL)
        with pytest.raises(Unavailable, match="status -9"):
            running.result()
    eventually(lambda: not members_of(driven), 30)
    eventually(lambda: world.due() == [job])  # after a pause

    # A runner is killed: its driver ends by itself, with its JVM.
    with running_runner(world, job) as runner:
        eventually(lambda: ran(world) == "1 1 1 2")
        [driven] = children_of(runner.pid, DRIVE)
        os.kill(runner.pid, signal.SIGKILL)
        eventually(lambda: not members_of(driven), 30)

    # The next one runs what has not come to an end, and that alone.
    (world.folder / "go").touch()
    with open_lake(world.kv_url, Later()) as lake:
        done = run_job(lake, job, InProcess(RealEnvironment(), lake.storage))
    assert (done.state, done.epoch, ran(world)) == (JobState.SUCCESS, 3, "1 1 1 3")
    assert len(world.commits_of(job, "caps")) == 1
    assert world.shown("caps") == {str(number): b"%d" % number for number in range(4)}


def test_a_runner_that_is_asked_to_end_takes_its_driver_along_and_lets_go_of_the_job(
    world: DiskWorld,
) -> None:
    [job] = world.due()
    with running_runner(world, job) as runner:
        eventually(lambda: children_of(runner.pid, DRIVE))
        [driven] = children_of(runner.pid, DRIVE)

        runner.end(30)

        eventually(lambda: not members_of(driven), 30)
        assert world.due() == [job]


def test_what_a_task_needs_is_said_in_sparks_words() -> None:
    assert asked_for({"cores": "2", "memory": "4g", "gpu": "1"}) == {
        "spark.task.cpus": "2",
        "spark.executor.memory": "4g",
        "spark.task.resource.gpu.amount": "1",
        "spark.executor.resource.gpu.amount": "1",
    }
