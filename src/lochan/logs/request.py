# SPDX-License-Identifier: Apache-2.0
"""The id of the request that a thread works for; every line that it logs carries it."""

import re
from contextvars import ContextVar, Token

_current: ContextVar[str] = ContextVar("lochan_request_id", default="")
_ACCEPTED = re.compile(r"[\w.:-]{1,128}", re.ASCII)


def request_id() -> str:
    """Give the id of the request in hand, or nothing outside of any."""
    return _current.get()


def accepted_id(given: str | None) -> str | None:
    """Give a client's id back if it may be echoed and logged; else the server draws one."""
    return given if given and _ACCEPTED.fullmatch(given) else None


class RequestScope:
    """While it is entered, this thread works for one request."""

    __slots__ = ("_id", "_token")

    def __init__(self, identifier: str) -> None:
        """Name the request."""
        self._id = identifier

    def __enter__(self) -> None:
        """Begin to work for it."""
        self._token: Token[str] = _current.set(self._id)

    def __exit__(self, *_: object) -> None:
        """Work again for whoever was before, if anybody."""
        _current.reset(self._token)
