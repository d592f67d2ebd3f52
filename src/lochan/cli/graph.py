# SPDX-License-Identifier: Apache-2.0
r"""How commits follow one another, drawn beside a log: a column for each line of history.

    *   M        a merge: a line for its second parent opens
    |\
    | * B
    * | A
    |/           two lines that wait for the same commit become one
    * R

Commits come newest first, children before their parents. A column holds the id of the commit that
it waits for.
"""

from collections.abc import Sequence
from typing import NamedTuple


class Row(NamedTuple):
    """What is drawn for one commit: lines before it, the one it is on, and lines behind it."""

    before: list[str]
    line: str
    behind: list[str]


class Graph:
    """The columns between one commit of a log and the next."""

    def __init__(self) -> None:
        """Begin without lines."""
        self._waiting: list[str] = []

    def add(self, commit: str, parents: Sequence[str]) -> Row:
        """Draw a commit, and let its parents be waited for."""
        if commit not in self._waiting:
            self._waiting.append(commit)
        before = self._join(commit)
        column = self._waiting.index(commit)
        line = " ".join("*" if at == column else "|" for at in range(len(self._waiting)))
        return Row(before, line, self._follow(column, parents))

    def _join(self, commit: str) -> list[str]:
        """Make one column of all that wait for a commit."""
        lines = []
        while self._waiting.count(commit) > 1:
            last = len(self._waiting) - 1 - self._waiting[::-1].index(commit)
            del self._waiting[last]
            kept = ["|"] * last
            moved = ["/"] * (len(self._waiting) - last)
            lines.append(f"{' '.join(kept)}/{' '.join(['', *moved])}".rstrip())
        return lines

    def _follow(self, column: int, parents: Sequence[str]) -> list[str]:
        if not parents:
            del self._waiting[column]
            return []
        self._waiting[column] = parents[0]
        lines = []
        for parent in parents[1:]:
            self._waiting.insert(column + 1, parent)
            kept = ["|"] * (column + 1)
            moved = ["\\"] * (len(self._waiting) - column - 2)
            lines.append(f"{' '.join(kept)}\\{' '.join(['', *moved])}".rstrip())
        return lines
