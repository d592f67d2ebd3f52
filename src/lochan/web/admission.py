# SPDX-License-Identifier: Apache-2.0
"""How many requests one user may make: a rate, with a second's worth at once (S18).

For each user one number is kept: until when its requests so far are paid for, if each costs
1 / rate seconds. A request is let in while that lies less than a second ahead. Users whose time has
come are as good as unknown, and go when there are many.

The numbers are of one process: n workers allow n times as much.
"""

from math import ceil
from typing import Final

from lochan.environment import Environment
from lochan.errors import Throttled

BURST_S: Final = 1.0
MOST_USERS: Final = 10_000


class Admission:
    """Who may ask now, in one process."""

    def __init__(self, environment: Environment, per_second: float) -> None:
        """Let in so many requests of each user in a second; 0 is any number."""
        self._monotonic = environment.monotonic
        self._lock = environment.lock()
        self._cost_s = 1 / per_second if per_second else 0.0
        self._burst_s = max(BURST_S, self._cost_s)
        self._paid_until: dict[str, float] = {}

    def __len__(self) -> int:
        """Count the users that are remembered."""
        return len(self._paid_until)

    def admit(self, user: str) -> None:
        """Count a request. Raises Throttled, with `retry_after` in whole seconds."""
        if not self._cost_s:
            return
        with self._lock:
            now = self._monotonic()
            until = max(now, self._paid_until.get(user, now)) + self._cost_s
            wait_s = until - now - self._burst_s
            if wait_s <= 0:
                self._remember(user, until, now)
                return
        retry_after = max(1, ceil(wait_s))
        message = f"too many requests of {user}; wait {retry_after} s and try again"
        raise Throttled(message, code="too-many-requests", retry_after=retry_after)

    def _remember(self, user: str, until: float, now: float) -> None:
        if len(self._paid_until) >= MOST_USERS and user not in self._paid_until:
            self._paid_until = {name: at for name, at in self._paid_until.items() if at > now}
        self._paid_until[user] = until
