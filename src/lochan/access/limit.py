# SPDX-License-Identifier: Apache-2.0
"""How often somebody may try to log in: a token bucket an access key, and one for all together.

A bucket holds a number of tokens; a key's gains as many in a minute. An attempt takes one from
both; a login that succeeds gives the key's back, so that only failures count against a key. Memory
is bounded: a bucket that is full again is as good as none, and past the limit the one that was used
least recently goes, whose key then has a full bucket; the common bucket bounds what that can be
worth.

Buckets are of one process: n processes allow n times as much.
"""

from dataclasses import dataclass
from typing import Final

from lochan.environment import Environment
from lochan.errors import Throttled

KEY_BURST: Final = 10.0  # unless a server's settings say otherwise
ALL_BURST: Final = 200.0
ALL_RATE: Final = 50.0
MOST_KEYS: Final = 10_000


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


class LoginLimit:
    """The buckets of one process."""

    def __init__(
        self,
        environment: Environment,
        most_keys: int = MOST_KEYS,
        *,
        per_minute: float = KEY_BURST,
    ) -> None:
        """Begin with full buckets; a key may fail so often in a minute."""
        self._burst, self._rate = per_minute, per_minute / 60
        self._monotonic = environment.monotonic
        self._lock = environment.lock()
        self._most_keys = most_keys
        self._all = _Bucket(ALL_BURST, self._monotonic())
        self._keys: dict[str, _Bucket] = {}

    def __len__(self) -> int:
        """Count the keys that are watched."""
        return len(self._keys)

    def take(self, access_key_id: str) -> None:
        """Count an attempt. Raises Throttled, with `retry_after` in seconds."""
        with self._lock:
            now = self._monotonic()
            _fill(self._all, now, ALL_RATE, ALL_BURST)
            bucket = self._keys.pop(access_key_id, None) or _Bucket(self._burst, now)
            _fill(bucket, now, self._rate, self._burst)
            self._keep(access_key_id, bucket)
            wait_s = max(
                (1 - bucket.tokens) / self._rate,
                (1 - self._all.tokens) / ALL_RATE,
            )
            if wait_s <= 0:
                bucket.tokens -= 1
                self._all.tokens -= 1
                return
        retry_after = int(wait_s) + 1
        message = f"too many attempts to log in; wait {retry_after} s and try again"
        raise Throttled(message, code="too-many-logins", retry_after=retry_after)

    def give_back(self, access_key_id: str) -> None:
        """Take back what an attempt cost its key, because it succeeded."""
        with self._lock:
            bucket = self._keys.get(access_key_id)
            if bucket is not None:
                bucket.tokens = min(self._burst, bucket.tokens + 1)

    def _keep(self, access_key_id: str, bucket: _Bucket) -> None:
        if len(self._keys) >= self._most_keys:
            del self._keys[next(iter(self._keys))]  # in order of use: `take` puts a key at the end
        self._keys[access_key_id] = bucket


def _fill(bucket: _Bucket, now: float, rate: float, burst: float) -> None:
    bucket.tokens = min(burst, bucket.tokens + (now - bucket.at) * rate)
    bucket.at = now
