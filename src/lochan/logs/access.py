# SPDX-License-Identifier: Apache-2.0
"""One line for each request: what was asked for, how it ended, and how long it took.

It is written for every request, so it goes around the general log: its fields are few and known,
and none of them comes from a client but the method and the id, which are checked. The route is the
declared one, `/repositories/{repository}`; paths and queries, which hold names and signatures, are
not logged.

Lines are gathered and written together, ten times a second and when the log is closed: a request
pays for a few words in memory, not for a call of the system. What a kill takes with it is the last
tenth of a second; who did what is written at once, by `audit`.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple

import msgspec

from lochan.environment import Environment
from lochan.logs.lines import Lines, timestamp

_EVERY_S: Final = 0.1
_TOGETHER: Final = 256  # lines of one write


class Ended(NamedTuple):
    """A request that has ended; `principal` is a user's id, or empty."""

    at: float
    method: str
    route: str
    status: int
    seconds: float
    sent: int
    principal: str
    request_id: str


class _Line(msgspec.Struct):
    timestamp: str
    level: Literal["info"]
    event: Literal["request"]
    request_id: str
    method: str
    route: str
    status: int
    ms: float
    bytes: int
    principal: str


class AccessLog:
    """The lines of finished requests."""

    def __init__(self, lines: Lines, environment: Environment, *, console: bool = False) -> None:
        """Write to `lines`: JSON, or shorter for a person."""
        self._lines = lines
        self._environment = environment
        self._render = _console if console else _json
        self._ended: deque[Ended] = deque()
        self._lock = environment.lock()
        self._is_open = True
        self.request: Callable[[Ended], None] = self._ended.append

    def start(self) -> None:
        """Write what has gathered from now on, in a thread of its own."""
        self._environment.spawn(self._write_often, name="access log")

    def flush(self) -> None:
        """Write what has gathered."""
        with self._lock:
            while self._ended:
                count = min(len(self._ended), _TOGETHER)
                self._lines.write(self._render([self._ended.popleft() for _ in range(count)]))

    def close(self) -> None:
        """Write the last lines. Idempotent: yes."""
        self._is_open = False
        self.flush()

    def _write_often(self) -> None:
        while self._is_open:
            self._environment.sleep(_EVERY_S)
            self.flush()


_encode_lines = msgspec.json.Encoder().encode_lines


def _json(ended: Sequence[Ended]) -> bytes:
    return _encode_lines(
        [
            _Line(
                timestamp(one.at),
                "info",
                "request",
                one.request_id,
                one.method,
                one.route,
                one.status,
                round(one.seconds * 1000, 3),
                one.sent,
                one.principal,
            )
            for one in ended
        ]
    )


def _console(ended: Sequence[Ended]) -> bytes:
    return b"".join(
        f"{timestamp(one.at)} {one.status} {one.method} {one.route} {one.seconds * 1000:.1f} ms"
        f" {one.sent} bytes {one.principal or '-'} {one.request_id}\n".encode()
        for one in ended
    )
