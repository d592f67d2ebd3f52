# SPDX-License-Identifier: Apache-2.0
"""A command as the transform: run once for each datum, in a folder that holds its files.

    <input name>/<path>     copies of the datum's files
    out/                    what the command leaves here is the datum's output

The command runs in that folder, in a process group of its own, with stdin from the spec and these
variables, then those of the spec; the lake's own (LOCHAN_*, LAKECTL_*) are not handed on.

    LOCHAN_JOB, LOCHAN_PIPELINE, LOCHAN_DATUM       ids
    LOCHAN_IDEMPOTENCY_KEY                          the datum's hash
    LOCHAN_OUT                                      the folder out/
    LOCHAN_INPUT_<NAME>                             the file or folder that matched; of a group,
                                                    the input's folder
    LOCHAN_PARAM_<NAME>                             a parameter; what is no text, as JSON
    LOCHAN_CODE                                     the folder of the pipeline's code, in PYTHONPATH

It succeeds with one of `ok_codes`. When its time is over, and at its end whatever that is, the
whole group is killed: what it left in the background writes nothing any more. A link to a file in
out/ stands for the file; other things than files and folders are refused. A command that cannot
even be started fails the job, quarantine or not.
"""

import codecs
import os
import re
import selectors
import signal
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final

import msgspec

from lochan.config.surroundings import variables
from lochan.environment import Environment
from lochan.errors import InvalidInput, JobFailed
from lochan.pipelines.attempts.datum_log import AttemptLog
from lochan.pipelines.attempts.deadline import TimedOut
from lochan.pipelines.attempts.input_files import DatumReading, InputFiles
from lochan.pipelines.attempts.output_files import Out
from lochan.pipelines.model.datum import Datum, DatumFile
from lochan.pipelines.model.spec import FilesTransform
from lochan.pipelines.model.work import JobTask

_OUT: Final = "out"
_NOT_NAME: Final = re.compile(r"[^A-Z0-9]")
_LOOK_S: Final = 0.05  # how often a silent command is looked at
_SHORT_S: Final = 0.001
_CHUNK: Final = 64 << 10


class CommandFailed(Exception):
    """A command ended, and not as it should."""


class CommandCall:
    """One command, run on a datum at a time."""

    def __init__(
        self,
        task: JobTask,
        transform: FilesTransform,
        code: Path | None,
        log: AttemptLog,
        environment: Environment,
    ) -> None:
        """Take what all datums share."""
        self._task = task
        self._transform = transform
        self._code = code
        self._log = log
        self._environment = environment

    def __call__(self, datum: Datum, reading: DatumReading, out: Out) -> None:
        """Run the command on a datum. Raises CommandFailed, TimedOut, InvalidInput; JobFailed."""
        folder = reading.folder
        (folder / _OUT).mkdir()
        inputs = self._laid_out(datum, reading)
        code = self._run(folder, self._variables(datum, folder, inputs))
        if code not in self._transform.ok_codes:
            raise CommandFailed(_ended(self._transform.command[0], code))
        for path, file in _files(folder / _OUT):
            out.put(path, file)

    def _laid_out(self, datum: Datum, reading: DatumReading) -> dict[str, Path]:
        files: dict[str, list[DatumFile]] = defaultdict(list)
        for file in datum.files:
            files[file.input].append(file)
        for name in self._task.commits:
            files.setdefault(name, [])
        return {name: InputFiles(name, some, reading).local() for name, some in files.items()}

    def _variables(self, datum: Datum, folder: Path, inputs: Mapping[str, Path]) -> dict[str, str]:
        found = {
            name: value
            for name, value in variables().items()
            if not name.startswith(("LOCHAN_", "LAKECTL_"))
        }
        found |= {f"LOCHAN_INPUT_{_shouted(name)}": str(path) for name, path in inputs.items()}
        found |= {
            f"LOCHAN_PARAM_{_shouted(name)}": _written(value)
            for name, value in self._transform.params.items()
        }
        found |= {
            "LOCHAN_JOB": self._task.job,
            "LOCHAN_PIPELINE": self._task.pipeline,
            "LOCHAN_DATUM": datum.id.hex(),
            "LOCHAN_IDEMPOTENCY_KEY": datum.hash.hex(),
            "LOCHAN_OUT": str(folder / _OUT),
        }
        if self._code is not None:
            found["LOCHAN_CODE"] = str(self._code)
            paths = [str(self._code), found.get("PYTHONPATH", "")]
            found["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        return {**found, **self._transform.environment}

    def _run(self, folder: Path, told: Mapping[str, str]) -> int:
        with TemporaryFile() as given:
            given.write("".join(f"{line}\n" for line in self._transform.stdin).encode())
            given.seek(0)
            try:
                process = subprocess.Popen(  # noqa: S603 - the author's own command
                    self._transform.command,
                    cwd=folder,
                    env=dict(told),
                    stdin=given,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                message = f"command {self._transform.command[0]!r} cannot be started: {error}"
                raise JobFailed(message, code="command-not-started") from error
        with process:
            try:
                self._listen(process)
            finally:
                _end_group(process)
        return process.returncode

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        """Write what the command says to the log until it has ended. Raises TimedOut."""
        seconds = self._task.rules.timeout_s
        until = self._environment.monotonic() + seconds if seconds > 0 else float("inf")
        pause_s = _SHORT_S
        with selectors.DefaultSelector() as selector:
            for stream, pipe in (("stdout", process.stdout), ("stderr", process.stderr)):
                if pipe is not None:
                    os.set_blocking(pipe.fileno(), False)
                    heard = _Heard(pipe, stream, self._log)
                    selector.register(pipe, selectors.EVENT_READ, heard)
            while not _has_ended(process):
                if self._environment.monotonic() > until:
                    raise TimedOut
                if not selector.get_map():
                    self._environment.sleep(pause_s)
                    pause_s = min(2 * pause_s, _LOOK_S)
                _hear(selector, _LOOK_S)
            _hear(selector, 0)


class _Heard:
    """One stream of a command, on its way to the log."""

    def __init__(self, pipe: IO[bytes], stream: str, log: AttemptLog) -> None:
        self._pipe = pipe
        self._stream = stream
        self._log = log
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def read(self) -> bool:
        """Read what is there; False at its end."""
        while True:
            try:
                piece = os.read(self._pipe.fileno(), _CHUNK)
            except BlockingIOError:
                return True
            self._log.add(self._stream, self._decoder.decode(piece, final=not piece))
            if not piece:
                return False


def _hear(selector: selectors.BaseSelector, seconds: float) -> None:
    if not selector.get_map():
        return
    for key, _ in selector.select(seconds):
        if not key.data.read():
            selector.unregister(key.fileobj)


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Look without taking notice, so that the group's number stays its own until it is killed."""
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, process.pid, flags) is not None


def _end_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _ended(name: str, code: int) -> str:
    if code < 0:
        return f"command {name!r} was ended by signal {-code}"
    return f"command {name!r} ended with exit code {code}"


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield what lies below a folder, by path. Raises InvalidInput for what is no file."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in (*folders, *sorted(names)):
            file = Path(place, name)
            path = str(file.relative_to(folder))
            if name in folders:
                if file.is_symlink():
                    raise _not_a_file(path)
            elif not file.is_file():
                raise _not_a_file(path)
            else:
                yield path, file


def _not_a_file(path: str) -> InvalidInput:
    message = f"out/{path} is neither a file nor a folder; leave files there"
    return InvalidInput(message, code="output-not-a-file")


def _shouted(name: str) -> str:
    return _NOT_NAME.sub("_", name.upper())


def _written(value: Any) -> str:  # noqa: ANN401 - any JSON value
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
