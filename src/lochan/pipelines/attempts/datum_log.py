# SPDX-License-Identifier: Apache-2.0
"""The log of a shard attempt: what the code of each datum said, as JSON lines.

    {"job", "shard", "attempt", "datum", "stream", "time", "text"}

`stream` is stdout, stderr (tracebacks, too), log (Python's logging, with level and logger in front)
or lochan (which try failed, and why). What a function prints is caught by thread: while
its datum runs, `sys.stdout` and `sys.stderr` hand its thread's text to the log, and that of all
other threads to where it went before. Text that a function's child processes write is not caught;
a command's is.

Lines gather in memory, and on disk when they become many. A datum that says more than 16 MB is cut.
"""

import io
import logging
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from tempfile import SpooledTemporaryFile
from threading import Lock
from typing import IO, Any, Final, TextIO, cast

import msgspec

from lochan.environment import Environment
from lochan.model.instant import from_seconds, to_datetime
from lochan.pipelines.model.log_line import LogLine

_MEMORY: Final = 1 << 20
_CHUNK: Final = 1 << 20
_MOST: Final = 16 << 20  # characters a datum
_LONGEST: Final = 64 << 10  # characters a line
_LAST: Final = 10  # lines that an error shows

_current: Final[ContextVar["AttemptLog | None"]] = ContextVar("lochan_datum_log", default=None)


class AttemptLog:
    """Lines of one attempt, datum by datum; any thread of a datum may add to it."""

    def __init__(self, job: str, shard: int, attempt: str, environment: Environment) -> None:
        """Begin an empty log."""
        self._names = (job, shard, attempt)
        self._environment = environment
        self._lines: IO[bytes] = SpooledTemporaryFile(_MEMORY)  # noqa: SIM115 - close ends it
        self._lock = environment.lock()
        self.begin(b"")

    def begin(self, datum: bytes) -> None:
        """Let lines that follow be those of a datum."""
        self._datum = datum.hex()
        self._partial: dict[str, str] = {}
        self._said = 0
        self.last: deque[str] = deque(maxlen=_LAST)

    def add(self, stream: str, text: str) -> None:
        """Add text; a line is written when it ends."""
        with self._lock:
            whole, newline, rest = (self._partial.pop(stream, "") + text).rpartition("\n")
            if newline:
                for line in whole.split("\n"):
                    self._write(stream, line)
            if len(rest) >= _LONGEST:
                self._write(stream, rest)
            elif rest:
                self._partial[stream] = rest

    def end(self) -> bool:
        """End the datum's lines; say whether there are any."""
        with self._lock:
            for stream, rest in self._partial.items():
                self._write(stream, rest)
            self._partial = {}
            return bool(self._said)

    def chunks(self) -> Iterator[bytes]:
        """Yield all lines."""
        self._lines.seek(0)
        while chunk := self._lines.read(_CHUNK):
            yield chunk

    def close(self) -> None:
        """Forget the lines."""
        self._lines.close()

    @contextmanager
    def catching(self) -> Iterator[None]:
        """Catch what this thread, and whoever runs in its context, prints and logs."""
        _streams.install()
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)
            _streams.remove()

    def _write(self, stream: str, text: str) -> None:
        if self._said >= _MOST:
            return
        self._said += len(text) + 1
        cut = "the datum says more than its log takes; the rest is left out"
        lines = [(stream, text)] if self._said < _MOST else [(stream, text), ("lochan", cut)]
        time = to_datetime(from_seconds(self._environment.now())).isoformat()
        for name, line in lines:
            self.last.append(line)
            # JSON has no half characters, which stand for bytes of keys that are no text.
            whole = line.encode(errors="backslashreplace").decode()
            said = LogLine(*self._names, self._datum, name, time, whole)
            self._lines.write(msgspec.json.encode(said) + b"\n")


class _Routed(io.TextIOBase):
    """A standard stream whose text goes to the log of whoever writes it, if he has one."""

    def __init__(self, name: str, usual: TextIO) -> None:
        super().__init__()
        self._stream = name
        self.usual = usual

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a property of the standard streams, too
        return self.usual.encoding

    @property
    def buffer(self) -> "_RoutedBytes":
        return _RoutedBytes(self)

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        log = _current.get()
        if log is None:
            return self.usual.write(text)
        log.add(self._stream, text)
        return len(text)

    def flush(self) -> None:
        self.usual.flush()

    def fileno(self) -> int:
        return self.usual.fileno()

    def isatty(self) -> bool:
        return _current.get() is None and self.usual.isatty()


class _RoutedBytes(io.RawIOBase):
    """The bytes below a standard stream."""

    def __init__(self, text: _Routed) -> None:
        super().__init__()
        self._text = text

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:  # noqa: ANN401 - any buffer
        raw = bytes(data)
        self._text.write(raw.decode(errors="replace"))
        return len(raw)


class _LogHandler(logging.Handler):
    """Python's logging, for threads that have a log."""

    def emit(self, record: logging.LogRecord) -> None:
        log = _current.get()
        if log is not None:
            log.add("log", f"{record.levelname} {record.name}: {self.format(record)}\n")


class _Streams:
    """The standard streams of this process: routed while any attempt runs."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._handler = _LogHandler()

    def install(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                sys.stdout = cast("TextIO", _Routed("stdout", sys.stdout))
                sys.stderr = cast("TextIO", _Routed("stderr", sys.stderr))
                logging.getLogger().addHandler(self._handler)

    def remove(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                logging.getLogger().removeHandler(self._handler)
                if isinstance(sys.stdout, _Routed):
                    sys.stdout = sys.stdout.usual
                if isinstance(sys.stderr, _Routed):
                    sys.stderr = sys.stderr.usual


# One for a process, as the standard streams are.
_streams: Final = _Streams()
