# SPDX-License-Identifier: Apache-2.0
"""Reads that are surely fresh, shared by all who ask at the same time (seed 004: amortised reads).

A reader or writer must know the branch as it was *after* its own work. So a caller may share a read
only if that read begins after the call (G17, H8): `Turns` sees to that.
"""

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Generic, TypeVar

from lochan.environment import Environment
from lochan.turns import Turns

Value = TypeVar("Value")


class FreshReads(Generic[Value]):
    """Reads by key, each begun after every caller that it answers."""

    def __init__(self, read: Callable[[Hashable], Value], environment: Environment) -> None:
        """Share calls of `read`."""
        self._read = read
        self._turns = Turns[list[Value]](environment)

    def read(self, key: Hashable) -> Value:
        """Give a value that was read after this call began; what the read raises goes to all."""
        answer: list[Value] = []
        self._turns.take(key, answer, partial(self._answer, key))
        return answer[0]

    def _answer(self, key: Hashable, asked: Sequence[list[Value]]) -> None:
        value = self._read(key)
        for answer in asked:
            answer.append(value)
