# SPDX-License-Identifier: Apache-2.0
"""When a request is sent again: how often, after how long, and for how long altogether.

The wait is what the server asked for, plus a random share of a ceiling that doubles each time (full
jitter): clients that were refused together do not come back together.
"""

from email.utils import parsedate_to_datetime
from typing import Final

from lochan.environment import Environment

_FIRST_S: Final = 0.1
_LONGEST_S: Final = 10.0
_RANDOM_BYTES: Final = 4


class Repeats:
    """The repeats of one request."""

    def __init__(self, environment: Environment, *, most: int, budget_s: float) -> None:
        """Allow so many, with no more than `budget_s` seconds of waiting between them."""
        self._environment = environment
        self._most = most
        self._left_s = budget_s
        self._done = 0

    def wait(self, asked_s: float = 0.0) -> bool:
        """Wait before the next; say no, at once, where there is none or it would take too long."""
        ceiling = min(_LONGEST_S, _FIRST_S * 2**self._done)
        seconds = asked_s + self._share() * ceiling
        if self._done >= self._most or seconds > self._left_s:
            return False
        self._done += 1
        self._left_s -= seconds
        self._environment.sleep(seconds)
        return True

    def _share(self) -> float:
        drawn = int.from_bytes(self._environment.random_bytes(_RANDOM_BYTES), "big")
        return drawn / (1 << 8 * _RANDOM_BYTES)


def retry_after_s(text: str | None, now: float) -> float:
    """Read a Retry-After header, seconds or a date; what cannot be read asks for nothing."""
    if text is None:
        return 0.0
    if text.strip().isdecimal():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except ValueError:
        return 0.0
