# SPDX-License-Identifier: Apache-2.0
"""Bars for long work, on stderr and on a terminal only: what it is at, how fast, how long yet."""

from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)


class Bar(Protocol):
    """One piece of long work, as whoever does it tells of it; its methods fit callbacks."""

    def advance(self, amount: int) -> None:
        """Tell of so many more bytes or things."""

    def reach(self, done: int, total: int | None = None) -> None:
        """Tell how far it is, and how far it will be where that is known."""

    def describe(self, text: str) -> None:
        """Say what it is at."""


class _Unseen:
    def advance(self, amount: int) -> None: ...

    def reach(self, done: int, total: int | None = None) -> None: ...

    def describe(self, text: str) -> None: ...


class _Seen:
    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task

    def advance(self, amount: int) -> None:
        self._progress.advance(self._task, amount)

    def reach(self, done: int, total: int | None = None) -> None:
        self._progress.update(self._task, completed=done, total=total)

    def describe(self, text: str) -> None:
        self._progress.update(self._task, description=text)


UNSEEN: Bar = _Unseen()


def bytes_columns() -> tuple[ProgressColumn, ...]:
    """Give the columns of work that moves bytes."""
    amounts = (DownloadColumn(binary_units=True), TransferSpeedColumn(), TimeRemainingColumn())
    return (TextColumn("{task.description}"), BarColumn(), *amounts)


def count_columns() -> tuple[ProgressColumn, ...]:
    """Give the columns of work on things that are counted."""
    return (
        *(SpinnerColumn(), TextColumn("{task.description}"), BarColumn()),
        *(MofNCompleteColumn(), TimeElapsedColumn()),
    )


def new_progress(console: Console, columns: tuple[ProgressColumn, ...]) -> Progress:
    """Make the place where bars are drawn; it vanishes when the work is done."""
    return Progress(*columns, console=console, transient=True)


def add_bar(progress: Progress, label: str, total: int | None) -> Bar:
    """Draw one bar."""
    return _Seen(progress, progress.add_task(label, total=total))
