# SPDX-License-Identifier: Apache-2.0
"""The runner of one job: a process that opens the lake, and has the user's code run by a driver.

    lochan serve, lochan worker      decide, and start a runner for each job that is ready
    a runner                         the protocol (`pipelines.run_job`): claim to success
    a driver                         Spark and the user's code (`driver_process`)

A driver that asks the server gets a token that reads its inputs, a day at most, and only while the
job is its own: `lochan.connect()` in a pipeline's code takes it by itself.

`python -m lochan.bootstrap.job_runner` reads its order from standard input, so that no other
process of the machine sees the store's password. A job that another runner has is left to it.
"""

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Final, NoReturn

import msgspec

from lochan.access.access import open_access
from lochan.access.job_token import LONGEST_S, JobClaims, issue_job_token
from lochan.bootstrap.driver_process import DriverProcess, table_task
from lochan.bootstrap.lake import open_lake
from lochan.environment import Environment, RealEnvironment
from lochan.errors import Conflict, InvalidInput, LochanError
from lochan.model.records import Commit, Repository
from lochan.operations.lake import Lake
from lochan.pipelines.attempts.checks import CheckTask
from lochan.pipelines.jobs.egress import Send, sender
from lochan.pipelines.jobs.job_records import get_job
from lochan.pipelines.jobs.run_job import Beside, run_job
from lochan.pipelines.model.records import Job
from lochan.pipelines.model.spec import Egress, SparkRules
from lochan.pipelines.model.tables import get_version
from lochan.pipelines.model.work import JobTask, Progress

_MODULE: Final = "lochan.bootstrap.job_runner"
SERVER: Final = "LOCHAN_SERVER_ENDPOINT_URL"
TOKEN: Final = "LOCHAN_CREDENTIALS_TOKEN"  # noqa: S105 - a variable's name
_NOT_OURS: Final = frozenset({"job-claimed", "job-ended", "job-waiting", "job-lease-lost"})


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What a runner is told: whose job, and where the lake is."""

    job: str
    kv_url: str
    readable: tuple[str, ...] = ()
    places: tuple[str, ...] = ()  # below which results may be copied
    log: str  # file that drivers' output is added to
    cores: int = 2
    server: str = ""  # by which drivers may read the lake
    secret: str = ""  # that signs their tokens, in hex; it stays with the runner


class Runner:
    """A runner that was started."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        """Watch a process."""
        self._process = process

    @property
    def pid(self) -> int:
        """Name the process."""
        return self._process.pid

    def is_alive(self) -> bool:
        """Say whether it still runs."""
        return self._process.poll() is None

    def end(self, seconds: float) -> None:
        """Ask it to end, and wait a little; its job is taken up by another."""
        self._process.terminate()
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def start_runner(order: Order, log: IO[bytes]) -> Runner:
    """Start a runner; what it has to say of itself is added to the log."""
    process = subprocess.Popen(  # noqa: S603 - our own module
        [sys.executable, "-m", _MODULE],
        stdin=subprocess.PIPE,
        stdout=log,
        stderr=log,
        start_new_session=True,  # a Ctrl-C for the server is passed on by the server
    )
    assert process.stdin is not None  # noqa: S101 - asked for
    with process.stdin as told:
        told.write(msgspec.json.encode(order))
    return Runner(process)


def run_order(order: Order, environment: Environment) -> Job:
    """Drive the job of an order. Raises as `run_job`."""
    folders: Sequence[Path] = [Path(folder) for folder in order.readable]
    with open_lake(order.kv_url, environment, readable=folders) as lake:
        engine = DriverProcess(
            lambda task: _token(order, lake, task), Path(order.log), cores=order.cores
        )
        rules = rules_of(lake, order.job)
        return run_job(lake, order.job, engine, beside(lake, engine, order.places, rules))


def _token(order: Order, lake: Lake, task: JobTask) -> dict[str, str]:
    """Let a driver read the inputs of its job through the server, where there is one."""
    if not order.server or not order.secret:
        return {}
    access = open_access(lake.store, lake.environment, bytes.fromhex(order.secret))
    claims = JobClaims(task.pipeline, task.job, task.epoch, tuple(sorted(task.input_namespaces)))
    token = issue_job_token(access, claims, lasts_s=LONGEST_S)
    return {SERVER: order.server, TOKEN: token}


def rules_of(lake: Lake, job_id: str) -> SparkRules:
    """Give what the spec of a job says about Spark. Raises NotFound."""
    job = get_job(lake.store, job_id)
    return get_version(lake.store, job.pipeline, job.version).spec.spark


def beside(
    lake: Lake,
    engine: DriverProcess,
    places: Sequence[str] | None,
    rules: SparkRules | None = None,
) -> Beside:
    """Give checks and egress that are run by drivers; databases are reached as the rules say."""

    def check(task: CheckTask) -> None:
        engine.check(task, _tell_nobody)

    def table(_: Lake, output: Repository, commit: Commit, egress: Egress) -> None:
        asked = table_task(output, commit, egress, rules or SparkRules())
        engine.send_table(asked, _tell_nobody)

    def send(egresses: Sequence[Egress]) -> Send | None:
        return sender(lake, egresses, tables=table, places=places)

    return Beside(check=check, sender=send)


def _tell_nobody(progress: Progress) -> None:
    """Go on; a lease is kept by the runner's own thread."""


def main() -> int:
    """Run the job that standard input orders; gives the status of the process."""
    signal.signal(signal.SIGTERM, _stop)
    try:
        order = msgspec.json.decode(sys.stdin.buffer.read(), type=Order)
        run_order(order, RealEnvironment())
    except Conflict as error:
        return 0 if error.code in _NOT_OURS else _said(error)
    except LochanError as error:
        return _said(error)
    except msgspec.MsgspecError as error:
        return _said(InvalidInput(f"the order cannot be read: {error}"))
    return 0


def _stop(number: int, _: object) -> NoReturn:
    """End in good order: the driver ends too, and the job is free for another runner."""
    signal.signal(number, signal.SIG_IGN)
    raise SystemExit(128 + number)


def _said(error: LochanError) -> int:
    sys.stderr.write(f"{error.message}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
