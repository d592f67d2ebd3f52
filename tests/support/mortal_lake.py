# SPDX-License-Identifier: Apache-2.0
"""A lake whose user dies, or is overtaken, at a chosen request."""

from collections.abc import Callable
from typing import Any, cast

from lochan.client.lake import Lake
from lochan.client.transport import Transport


class Killed(BaseException):
    """The process is gone; nothing of it runs any more."""


class MortalTransport:
    """Passes requests on, and calls `happens` once, before the request of a number or behind it."""

    def __init__(self, inner: Transport, at: int, happens: Callable[[], None]) -> None:
        self._inner = inner
        self._at = at  # even: before request at // 2; odd: behind it
        self._happens = happens
        self._dead = False
        self.count = 0

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a transport has
        found = getattr(self._inner, name)
        if name not in {"call", "send", "upload"}:
            return found

        def asked(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - passed on
            number, self.count = self.count, self.count + 1
            self._moment(2 * number)
            try:
                return found(*args, **kwargs)
            finally:
                self._moment(2 * number + 1)

        return asked

    def _moment(self, moment: int) -> None:
        if self._dead:
            raise Killed
        if moment == self._at:
            try:
                self._happens()
            except Killed:
                self._dead = True
                raise


def mortal(lake: Lake, at: int, happens: Callable[[], None]) -> tuple[Lake, MortalTransport]:
    """Give the same lake to a user to whom something happens at a moment."""
    transport = MortalTransport(lake.transport, at, happens)
    return Lake(cast("Transport", transport), name=lake.name), transport


def die() -> None:
    raise Killed
