# SPDX-License-Identifier: Apache-2.0
"""What commands show: tables and lines for people, JSON for programs, bars for who waits.

With --json stdout holds one JSON value and nothing else: an array for rows, an object for a record
or for something done. Its fields are those of the REST API where the thing comes from there, and
what is secret is masked like everywhere. Without a terminal there are no colours and no bars, and
lines are not broken.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TypeVar

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lochan.cli.progress import (
    UNSEEN,
    Bar,
    add_bar,
    bytes_columns,
    count_columns,
    new_progress,
)

T = TypeVar("T")
Columns = Mapping[str, Callable[[T], object]]
_WIDE = 1_000_000  # no line ends before its text, where no person reads


class Show:
    """Where one command shows its results."""

    def __init__(self, *, json: bool = False) -> None:
        """Show as JSON, or for people."""
        self.json = json
        self._out = _console(sys.stdout.isatty(), stderr=False)
        self._err = _console(sys.stderr.isatty(), stderr=True)

    def rows(
        self, found: Iterable[T], columns: Columns[T] | None = None, *, title: str = ""
    ) -> None:
        """Show many things, a line each; columns take their texts from the thing.

        Without columns the fields are shown as they are.
        """
        if self.json:
            self._json([plain(one) for one in found])
            return
        things = list(found)
        looks = columns or {name: _field(name) for name in _fields(things)}
        table = Table(title=title or None, title_justify="left", box=None, pad_edge=False)
        for name in looks:
            table.add_column(name.upper().replace("_", " "), header_style="bold", overflow="fold")
        for one in things:
            table.add_row(*(_cell(look(one)) for look in looks.values()))
        self._out.print(table)

    def record(self, found: T, columns: Columns[T] | None = None) -> None:
        """Show one thing: a line a field."""
        if self.json:
            self._json(plain(found))
            return
        grid = Table.grid(padding=(0, 2))
        fields = {name: look(found) for name, look in columns.items()} if columns else plain(found)
        if not isinstance(fields, Mapping):
            fields = {"": fields}
        for name, value in fields.items():
            grid.add_row(Text(str(name), style="bold"), _cell(value))
        self._out.print(grid)

    def done(self, message: str, **facts: object) -> None:
        """Say that something was done; programs get the facts."""
        if self.json:
            self._json(plain(facts))
        else:
            self._out.print(Text(message))

    def line(self, message: str, *, style: str = "") -> None:
        """Say something to a person; programs do not hear it."""
        if not self.json:
            self._out.print(Text(message, style=style))

    def text(self, content: str) -> None:
        """Give content as it is, with no word of ours."""
        self._out.file.write(content)

    def note(self, message: str) -> None:
        """Say something beside the results, on stderr."""
        self._err.print(Text(message, style="yellow"))

    def value(self, found: object) -> None:
        """Show a value as JSON, with --json and without."""
        self._json(plain(found))

    @contextmanager
    def bytes_bar(self, label: str, total: int | None = None) -> Iterator[Bar]:
        """Show how work that moves bytes gets on: amount, rate, time left."""
        if not self._watched():
            yield UNSEEN
            return
        with new_progress(self._err, bytes_columns()) as progress:
            yield add_bar(progress, label, total)

    @contextmanager
    def count_bar(self, label: str, total: int | None = None) -> Iterator[Bar]:
        """Show how work on things that are counted gets on."""
        if not self._watched():
            yield UNSEEN
            return
        with new_progress(self._err, count_columns()) as progress:
            yield add_bar(progress, label, total)

    def _watched(self) -> bool:
        return self._err.is_terminal and not self.json

    def _json(self, value: object) -> None:
        encoded = msgspec.json.format(msgspec.json.encode(value), indent=2)
        self._out.file.write(encoded.decode() + "\n")
        self._out.file.flush()  # a server that says where it is goes on for long


def plain(value: object) -> object:
    """Give a value as JSON has it: structs as objects, what JSON does not know as its text."""
    return msgspec.to_builtins(value, enc_hook=str)


def when(seconds: float) -> str:
    """Give a time as people read it, in the zone of this machine."""
    moment = datetime.fromtimestamp(seconds, tz=UTC).astimezone()
    return f"{moment:%Y-%m-%d %H:%M:%S %z}"


def size(count: int) -> str:
    """Give a count of bytes as people read it."""
    amount = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024:  # noqa: PLR2004 - the step of these units
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"


def _fields(things: list[T]) -> Iterable[str]:
    shown = plain(things[0]) if things else {}
    return shown.keys() if isinstance(shown, Mapping) else ()


def _field(name: str) -> Callable[[T], object]:
    def look(one: T) -> object:
        return one.get(name) if isinstance(one, Mapping) else getattr(one, name, None)

    return look


def _cell(value: object) -> Text:
    if isinstance(value, Text):
        return value
    return Text("" if value is None else str(value))


def _console(terminal: bool, *, stderr: bool) -> Console:  # noqa: FBT001 - read where it is called
    return Console(
        stderr=stderr, highlight=False, soft_wrap=True, width=None if terminal else _WIDE
    )
