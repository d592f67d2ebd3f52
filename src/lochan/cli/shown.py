# SPDX-License-Identifier: Apache-2.0
"""How refs, commits and changes look: the same in every command that shows them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from rich.text import Text

from lochan.cli.show import Columns, Show, size, when
from lochan.client.commit import Commit
from lochan.client.reference import Reference
from lochan.shapes.refs import Diff

SHORT: Final = 12  # digits of a commit's id that people see
_SIGNS: Final[Mapping[str, tuple[str, str]]] = {
    "added": ("+", "green"),
    "removed": ("-", "red"),
    "changed": ("~", "yellow"),
    "conflict": ("x", "bold red"),
    "prefix_changed": ("~", "yellow"),
}

REF_COLUMNS: Final[Columns[dict[str, str]]] = {
    "name": lambda one: one["id"],
    "commit": lambda one: Text(one["commit_id"][:SHORT], style="yellow"),
}


def shown_ref(reference: Reference) -> dict[str, str]:
    """Give a branch or tag as the API shows it."""
    return {"id": reference.id, "commit_id": reference.commit_id}


def show_commit(show: Show, commit: Commit) -> None:
    """Show all that a commit says."""
    record = commit.record
    if show.json:
        show.value(record)
        return
    show.line(f"commit {record.id}", style="yellow")
    if len(record.parents) > 1:
        show.line(f"merge   {' '.join(parent[:SHORT] for parent in record.parents)}")
    show.line(f"author  {record.committer}")
    show.line(f"date    {when(record.creation_date)}")
    for key, value in record.metadata.items():
        show.line(f"meta    {key} = {value}")
    show.line("")
    for line in record.message.splitlines():
        show.line(f"    {line}")


def tell_commit(show: Show, commit: Commit, what: str) -> None:
    """Say what became of a branch by one more commit."""
    if show.json:
        show.value(commit.record)
    else:
        show.line(f"{what} {commit.id[:SHORT]} {first_line(commit.message)}".rstrip())


def counted(count: int, noun: str) -> str:
    """Give a number of things: 1 file, 2 files."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def first_line(message: str) -> str:
    """Give the first line of a message."""
    return message.partition("\n")[0]


def show_changes(show: Show, changes: Iterable[Diff], *, nothing: str) -> None:
    """Show changes as they come, a line each, and a summary behind them."""
    if show.json:
        show.rows(changes)
        return
    counted = Counted()
    for change in changes:
        counted.add(change)
        sign, style = _SIGNS[change.type]
        amount = "" if change.size_bytes is None else f"  ({size(change.size_bytes)})"
        show.line(f"{sign} {change.path}{amount}", style=style)
    show.line(counted.summary() or nothing, style="bold")


class Counted:
    """Changes by kind: how many, and how many bytes."""

    def __init__(self) -> None:
        """Begin with none."""
        self._found: dict[str, tuple[int, int]] = {}

    def add(self, change: Diff) -> None:
        """Count one."""
        count, amount = self._found.get(change.type, (0, 0))
        self._found[change.type] = count + 1, amount + (change.size_bytes or 0)

    def summary(self) -> str:
        """Tell all in one line; empty for nothing."""
        return ", ".join(self._words())

    def _words(self) -> Iterator[str]:
        for kind in _SIGNS:
            if kind in self._found:
                count, amount = self._found[kind]
                yield f"{count} {_WORDS.get(kind, kind)} ({size(amount)})"


_WORDS: Final = {"prefix_changed": "prefixes with changes", "conflict": "in conflict"}
