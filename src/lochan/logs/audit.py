# SPDX-License-Identifier: Apache-2.0
"""Who did what: one line for each action that was allowed, refused or failed, apart from the rest.

    {"time": ..., "request_id": ..., "principal": "alice", "action": "fs:DeleteBranch",
     "resource": "arn:lakefs:fs:::repository/r/branch/b", "result": "denied", "address": "10.0.0.7"}

The file is only ever appended to, one write a line. Lines are numbered within a process by `n`, so
that a gap shows where one is missing.
"""

import itertools
import os
from typing import Literal

import msgspec

from lochan.environment import Environment
from lochan.logs.lines import Lines, timestamp
from lochan.logs.log import Log
from lochan.logs.redact import redact_text
from lochan.logs.request import request_id

Result = Literal["allowed", "denied", "failed"]


class AuditLine(msgspec.Struct, frozen=True):
    """One line, in the order in which it is written."""

    time: str
    process: int
    n: int
    request_id: str
    principal: str
    action: str
    resource: str
    result: Result
    address: str = ""
    event: Literal["audit"] = "audit"


class AuditLog:
    """The audit lines of one process."""

    def __init__(self, lines: Lines, environment: Environment, log: Log) -> None:
        """Write to `lines`; what cannot be written there is reported to `log`."""
        self._lines = lines
        self._environment = environment
        self._log = log
        self._process = os.getpid()
        self._numbers = itertools.count(1)

    def record(
        self, principal: str, action: str, resource: str, result: Result, *, address: str = ""
    ) -> None:
        """Write down that somebody did something, or tried to."""
        line = AuditLine(
            timestamp(self._environment.now()),
            self._process,
            next(self._numbers),
            request_id(),
            principal,
            action,
            redact_text(resource),
            result,
            address,
        )
        if not self._lines.write(msgspec.json.encode(line) + b"\n"):
            self._log.error("an audit line could not be written", line=msgspec.to_builtins(line))
