# SPDX-License-Identifier: Apache-2.0
"""A driver in a process of its own: the user's code never runs where the lake's stores are open.

    runner (opens the lake: claims, plans, squashes, publishes)
       |  a private folder: task, shards           the driver's standard output: lines of JSON
       v                                                                            ^
    driver (Spark, the user's functions)   -----------------------------------------+

The driver is told no address of the key-value store and no secret of the server. What it gets of
the runner's environment is named here (`_PASSED`). It reads the files that the plan names with the
machine's own credentials for the storage, if that needs any; to ask the server it has a token of
its own, for its inputs and for as long as the job may take. What its code prints goes to a log
(`driver_log`), not into the lines. While a driver says nothing `tell` is asked again and again
whether it is still wanted; one that is not is ended with all its children, and one whose runner has
died ends by itself when the pipe is closed.

What the folder holds says what is asked: a task and its shards; a check; a table to be sent.

    {"manifest": {...}}   {"progress": {...}}   {"failed": {"message", "code"}}   {"done": true}
"""

import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Final

import msgspec

from lochan.bootstrap.driver_log import DriverLog
from lochan.config.surroundings import variables
from lochan.errors import JobFailed, Unavailable
from lochan.model.records import Commit, Repository
from lochan.pipelines.attempts.checks import CheckTask
from lochan.pipelines.model.spec import Egress, SparkRules
from lochan.pipelines.model.work import JobTask, Manifest, Progress, Shard, Tell
from lochan.pipelines.specs.masked_spec import masked_text

TASK: Final = "task"
SHARDS: Final = "shards"
CHECK: Final = "check"
TABLE: Final = "table"
OUTPUT: Final = "LOCHAN_DRIVER_LINES"  # number of the file that lines are written to
_MODULE: Final = "lochan.spark.drive"
NOTHING_TOLD: Final[Mapping[str, str]] = {}
_LOOK_S: Final = 1.0
_END_S: Final = 5.0
_LAST_LINES: Final = 8
_LAST_BYTES: Final = 8 << 10
_SHOWN: Final = 200  # characters of each
_LONGEST_LINE: Final = 1 << 20
# Nothing of ours: what finds programs, speaks to a cloud's storage, or says how Spark is set up.
_PASSED: Final = (
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "JAVA_HOME",
    "PYTHONPATH",
    "PYTHONWARNINGS",
    "VIRTUAL_ENV",
)
_PASSED_PREFIXES: Final = ("AWS_", "AZURE_", "GOOGLE_", "SPARK_", "HADOOP_")


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of a driver."""

    manifest: Manifest | None = None
    progress: Progress | None = None
    failed: "Failure | None" = None
    done: bool = False


class Failure(msgspec.Struct, frozen=True):
    """Why a job can come to no good end."""

    message: str
    code: str


class TableTask(msgspec.Struct, frozen=True, kw_only=True):
    """A tree that is sent to a database."""

    pipeline: str
    output_namespace: str
    tree: str  # metarange id
    egress: Egress
    spark: SparkRules = SparkRules()  # whose settings name the jar of the database's driver


def table_task(output: Repository, commit: Commit, egress: Egress, rules: SparkRules) -> TableTask:
    """Ask that a commit is sent to a database."""
    return TableTask(
        pipeline=output.repository_id,
        output_namespace=output.storage_namespace,
        tree=commit.meta_range_id,
        egress=egress,
        spark=rules,
    )


class DriverProcess:
    """An `Engine` that has the work done by a driver of its own."""

    def __init__(
        self,
        told: Callable[[JobTask], Mapping[str, str]],
        log: Path,
        *,
        cores: int,
        command: Sequence[str] = (sys.executable, "-m", _MODULE),
    ) -> None:
        """Tell drivers of a task these variables besides; what they print is added to the log."""
        self._told = told
        self._log = log
        self._cores = cores
        self._command = command

    @property
    def cores(self) -> int:
        """Say how many shards run at once."""
        return self._cores

    def run(self, task: JobTask, shards: Sequence[Shard], tell: Tell) -> Iterator[Manifest]:
        """Start a driver and give its manifests.

        Raises: JobFailed; Unavailable when the driver died; what `tell` raises.
        """
        files = {TASK: msgspec.msgpack.encode(task), SHARDS: msgspec.msgpack.encode(list(shards))}
        yield from self._asked(files, tell, self._told(task))

    def check(self, task: CheckTask, tell: Tell) -> None:
        """Have checks run on a tree. Raises as `run`."""
        for _ in self._asked({CHECK: msgspec.msgpack.encode(task)}, tell):
            pass

    def send_table(self, task: TableTask, tell: Tell) -> None:
        """Have a tree sent to a database. Raises as `run`."""
        for _ in self._asked({TABLE: msgspec.msgpack.encode(task)}, tell):
            pass

    def _asked(
        self, files: Mapping[str, bytes], tell: Tell, told: Mapping[str, str] = NOTHING_TOLD
    ) -> Iterator[Manifest]:
        with TemporaryDirectory(prefix="lochan-driver-") as folder, DriverLog(self._log) as log:
            for name, data in files.items():
                Path(folder, name).write_bytes(data)
            reads, writes = os.pipe()
            with os.fdopen(reads, "rb", buffering=0) as lines:
                started = self._start(folder, writes, log.writes, told)
                log.hand_over()
                try:
                    yield from self._manifests(lines, started, tell, log)
                finally:
                    end(started)

    def _start(
        self, folder: str, writes: int, log: int, told: Mapping[str, str]
    ) -> "subprocess.Popen[bytes]":
        try:
            return subprocess.Popen(  # noqa: S603 - our own module
                [*self._command, folder],
                env={**_passed(), **told, OUTPUT: str(writes)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(writes,),
                start_new_session=True,  # so that its JVM and its workers end with it
            )
        finally:
            os.close(writes)

    def _manifests(
        self, lines: IO[bytes], started: "subprocess.Popen[bytes]", tell: Tell, log: DriverLog
    ) -> Iterator[Manifest]:
        progress = Progress()
        for line in _lines(lines):
            if line is not None:
                progress = line.progress or progress
            tell(progress)
            if line is None:
                continue
            if line.failed is not None:
                raise JobFailed(line.failed.message, code=line.failed.code)
            if line.manifest is not None:
                yield line.manifest
            if line.done:
                return
        code = started.wait()
        log.end()
        message = f"the driver ended with status {code} before the job did{_last(self._log)}"
        raise Unavailable(message, code="driver-died")


def end(started: "subprocess.Popen[bytes]") -> None:
    """End a driver and all that it started; one that has ended by itself may have left children."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(started.pid, number)
        except ProcessLookupError:
            break
        try:
            started.wait(_END_S)
        except subprocess.TimeoutExpired:
            continue
    started.wait()


def _lines(source: IO[bytes]) -> Iterator[Line | None]:
    """Give lines as they come, and None whenever none has come for a while."""
    held = b""
    decoder = msgspec.json.Decoder(Line)
    with selectors.DefaultSelector() as selector:
        selector.register(source, selectors.EVENT_READ)
        while True:
            if not selector.select(_LOOK_S):
                yield None
                continue
            read = source.read(1 << 16)
            if not read:
                return
            *whole, held = (held + read).split(b"\n")
            if len(held) > _LONGEST_LINE:
                raise _no_line()
            for line in whole:
                try:
                    yield decoder.decode(line)
                except msgspec.MsgspecError as error:
                    raise _no_line() from error


def _no_line() -> Unavailable:
    return Unavailable("the driver wrote what is no line", code="driver-died")


def _passed() -> dict[str, str]:
    return {
        name: value
        for name, value in variables().items()
        if name in _PASSED or name.startswith(_PASSED_PREFIXES)
    }


def _last(log: Path) -> str:
    """Give the last lines of a log, for a message; how long it is, the user's code decides."""
    with log.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _LAST_BYTES))
        text = file.read().decode(errors="replace")
    last = [line.strip()[-_SHOWN:] for line in text.splitlines() if line.strip()][-_LAST_LINES:]
    return f"; it said last: {masked_text(' | '.join(last))}" if last else ""
