# SPDX-License-Identifier: Apache-2.0
"""Points in time: whole nanoseconds since 1970-01-01T00:00:00Z.

An integer, because it compares, sorts and hashes without a time zone, and because what another
program stored with nanoseconds must come back unchanged (a datetime keeps microseconds). Instants
run from the year 1 to the end of the year 9999, the range of protobuf's Timestamp.
"""

from datetime import UTC, datetime, timedelta
from typing import NewType

from lochan.errors import InvalidInput

Instant = NewType("Instant", int)

NANOSECONDS = 1_000_000_000
EPOCH = Instant(0)
_EARLIEST = -62_135_596_800 * NANOSECONDS
_LATEST = 253_402_300_800 * NANOSECONDS - 1
_1970 = datetime(1970, 1, 1, tzinfo=UTC)


def instant(nanoseconds: int) -> Instant:
    """Check that a number of nanoseconds is an instant that can be stored."""
    if not _EARLIEST <= nanoseconds <= _LATEST:
        message = f"{nanoseconds} ns since 1970 is not between the years 1 and 9999"
        raise InvalidInput(message, code="invalid-time", value=nanoseconds)
    return Instant(nanoseconds)


def from_seconds(seconds: float) -> Instant:
    """Turn seconds since 1970, as the Environment tells them, into an instant."""
    whole = int(seconds)  # apart, because a float of today's size has no exact nanoseconds
    return instant(whole * NANOSECONDS + round((seconds - whole) * NANOSECONDS))


def to_seconds(moment: Instant) -> int:
    """Give the whole seconds since 1970, rounded down: what REST and lakeFS's hashes use."""
    return moment // NANOSECONDS


def to_datetime(moment: Instant) -> datetime:
    """Give a datetime in UTC, cut to microseconds."""
    return _1970 + timedelta(microseconds=moment // 1000)


def from_datetime(moment: datetime) -> Instant:
    """Turn a datetime with a time zone into an instant."""
    if moment.tzinfo is None:
        raise InvalidInput(f"{moment} has no time zone; say which", code="invalid-time")
    return instant((moment - _1970) // timedelta(microseconds=1) * 1000)
