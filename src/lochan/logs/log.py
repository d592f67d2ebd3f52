# SPDX-License-Identifier: Apache-2.0
"""The log of events: JSON lines, or coloured ones for a person at a terminal.

    log = open_log(lines, environment, level="info")
    log.warning("a namespace does not answer", namespace=name)

Every line has timestamp, level, event and, inside a request, its id. Redaction is the last step
before a line is rendered, tracebacks included, so nothing comes around it.
"""

import logging
from collections.abc import Callable, MutableMapping
from typing import Literal

import msgspec
import structlog
from structlog.typing import FilteringBoundLogger

from lochan.environment import Environment
from lochan.logs.lines import Lines, timestamp
from lochan.logs.redact import redact_facts, redact_text
from lochan.logs.request import request_id

Log = FilteringBoundLogger
Level = Literal["debug", "info", "warning", "error"]
Format = Literal["auto", "json", "console"]

_Facts = MutableMapping[str, object]


def open_log(
    lines: Lines,
    environment: Environment,
    *,
    level: Level = "info",
    format: Format = "auto",  # noqa: A002 - the setting's name
) -> Log:
    """Make a log that writes to `lines`."""

    def stamp(_: object, method: str, facts: _Facts) -> _Facts:
        line: _Facts = {
            "timestamp": timestamp(environment.now()),
            "level": _LEVELS.get(method, method),
        }
        line["event"] = facts.pop("event", "")
        if current := request_id():
            line["request_id"] = current
        return {**line, **facts}

    console = format == "console" or (format == "auto" and lines.is_terminal)
    log: Log = structlog.wrap_logger(
        _Printer(lines.write),
        processors=[
            stamp,
            structlog.processors.format_exc_info,
            _redacted,
            _console(lines.is_terminal) if console else _json,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.getLevelNamesMapping()[level.upper()]
        ),
    ).bind()
    return log


def capture_standard_logging(log: Log, level: Level = "warning") -> None:
    """Send what other packages log through the standard library to `log`, redacted like ours."""
    root = logging.getLogger()
    root.handlers = [_Forward(log)]
    root.setLevel(level.upper())


_LEVELS = {"exception": "error", "warn": "warning", "critical": "error", "fatal": "error"}


class _Printer:
    """What structlog calls a logger: each level is a method that takes a rendered line."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write

    def msg(self, line: str | bytes) -> None:
        self._write(line if isinstance(line, bytes) else line.encode("utf-8", "backslashreplace"))

    debug = info = warning = error = critical = msg


class _Forward(logging.Handler):
    """A standard library handler that hands records on."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        facts: dict[str, object] = {"logger": record.name}
        if record.exc_info:
            facts["exc_info"] = record.exc_info
        self._log.log(record.levelno, record.getMessage(), **facts)


def _redacted(_: object, __: str, facts: _Facts) -> _Facts:
    kept = {name: facts[name] for name in ("timestamp", "level", "request_id") if name in facts}
    rest = {name: value for name, value in facts.items() if name not in kept}
    return {**kept, **redact_facts(rest)}


def _json(_: object, __: str, facts: _Facts) -> bytes:
    return msgspec.json.encode(facts, enc_hook=lambda value: redact_text(str(value))) + b"\n"


def _console(colors: bool) -> Callable[[object, str, _Facts], str]:  # noqa: FBT001 - structlog's name
    render = structlog.dev.ConsoleRenderer(colors=colors, sort_keys=False)

    def rendered(logger: object, method: str, facts: _Facts) -> str:
        safe = {
            name: value if name == "exception" else _printable(value)
            for name, value in facts.items()
        }
        return f"{render(logger, method, safe)}\n"

    return rendered


def _printable(value: object) -> object:
    """Keep a text from moving the cursor or feigning another line."""
    if not isinstance(value, str) or value.isprintable():
        return value
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in value)
