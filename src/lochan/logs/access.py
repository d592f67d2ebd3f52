# SPDX-License-Identifier: Apache-2.0
"""One line for each request: what was asked for, how it ended, and how long it took.

It is written for every request, so it goes around the general log: its fields are few and known,
and none of them comes from a client but the method and the id, which are checked. The route is the
declared one, `/repositories/{repository}`; paths and queries, which hold names and signatures, are
not logged.
"""

from typing import Literal

import msgspec

from lochan.environment import Environment
from lochan.logs.lines import Lines, timestamp


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

    def request(
        self,
        *,
        method: str,
        route: str,
        status: int,
        seconds: float,
        sent: int,
        principal: str,
        request_id: str,
    ) -> None:
        """Write down a request that has ended; `principal` is a user's id, or empty."""
        now = timestamp(self._environment.now())
        took = round(seconds * 1000, 3)
        self._lines.write(
            self._render(
                _Line(
                    now, "info", "request", request_id, method, route, status, took, sent, principal
                )
            )
        )


_encode = msgspec.json.Encoder().encode


def _json(line: _Line) -> bytes:
    return _encode(line) + b"\n"


def _console(line: _Line) -> bytes:
    who = line.principal or "-"
    text = f"{line.timestamp} {line.status} {line.method} {line.route} {line.ms:.1f} ms"
    return f"{text} {line.bytes} bytes {who} {line.request_id}\n".encode()
