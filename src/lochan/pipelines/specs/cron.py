# SPDX-License-Identifier: Apache-2.0
"""When a clock ticks: schedules of five fields, as cron has them, in UTC.

    minute  hour  day of the month  month  day of the week      0 and 7 are Sunday
    *   1,2   1-5   */10   10-30/5   jan   mon-fri
    @yearly  @monthly  @weekly  @daily  @hourly  @every 90s      every: counted from 1970

Where both days are restricted, either one is enough; that is cron's rule.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from lochan.errors import InvalidInput

_NAMED: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTHS: Final = [
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
]
_DAYS: Final = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_EVERY: Final = re.compile(r"@every\s+(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?\Z")
_PART: Final = re.compile(r"(\*|\w+)(?:-(\w+))?(?:/(\d+))?\Z")
_YEARS_AHEAD: Final = 9  # 29 February falls on every day of the week within 28, on a date within 8
_FIELDS: Final = 5


class _Field(NamedTuple):
    name: str
    least: int
    most: int
    words: Sequence[str] = ()
    first: int = 0  # number of the first word


_MINUTE: Final = _Field("minute", 0, 59)
_HOUR: Final = _Field("hour", 0, 23)
_DAY: Final = _Field("day of the month", 1, 31)
_MONTH: Final = _Field("month", 1, 12, _MONTHS, 1)
_WEEKDAY: Final = _Field("day of the week", 0, 7, _DAYS)


class Schedule:
    """The ticks of a clock."""

    def __init__(self, text: str) -> None:
        """Read a schedule. Raises InvalidInput that says which field, and what it may be."""
        self.text = text.strip()
        self._every = _every(self.text)
        if self._every:
            return
        fields = _NAMED.get(self.text, self.text).split()
        if len(fields) != _FIELDS:
            message = f"schedule {text!r} needs five fields, or @hourly, @daily, @every 5m"
            raise InvalidInput(message, code="bad-schedule")
        minute, hour, day, month, weekday = fields
        self._minutes = _numbers(minute, _MINUTE)
        self._hours = _numbers(hour, _HOUR)
        self._days = _numbers(day, _DAY)
        self._months = _numbers(month, _MONTH)
        self._weekdays = {number % 7 for number in _numbers(weekday, _WEEKDAY)}
        self._either = not day.startswith("*") and not weekday.startswith("*")
        if self._after(datetime(2000, 1, 1, tzinfo=UTC)) is None:
            raise InvalidInput(
                f"schedule {text!r} names a day that never comes", code="bad-schedule"
            )

    def after(self, seconds: float) -> float:
        """Give the first tick behind a moment, both in seconds since 1970."""
        if self._every:
            return (seconds // self._every + 1) * self._every
        tick = self._after(datetime.fromtimestamp(seconds, UTC))
        if tick is None:
            raise InvalidInput(f"schedule {self.text!r} has no further tick", code="bad-schedule")
        return tick.timestamp()

    def latest(self, since: float, now: float) -> float | None:
        """Give the newest tick in (since, now]; None when the clock did not tick."""
        found, tick = None, self.after(since)
        if self._every and tick <= now:
            return now // self._every * self._every
        while tick <= now:
            found, tick = tick, self.after(tick)
        return found

    def _after(self, moment: datetime) -> datetime | None:
        at = moment.replace(second=0, microsecond=0) + timedelta(minutes=1)
        last = at.year + _YEARS_AHEAD
        while at.year <= last:
            if at.month not in self._months:
                at = (at.replace(day=1, hour=0, minute=0) + timedelta(days=32)).replace(day=1)
            elif not self._is_day(at):
                at = at.replace(hour=0, minute=0) + timedelta(days=1)
            elif at.hour not in self._hours:
                at = at.replace(minute=0) + timedelta(hours=1)
            elif at.minute not in self._minutes:
                at += timedelta(minutes=1)
            else:
                return at
        return None

    def _is_day(self, at: datetime) -> bool:
        of_month = at.day in self._days
        of_week = at.isoweekday() % 7 in self._weekdays
        return of_month or of_week if self._either else of_month and of_week


def _every(text: str) -> int:
    if not text.startswith("@every"):
        return 0
    found = _EVERY.match(text)
    hours, minutes, seconds = (int(part or 0) for part in found.groups()) if found else (0, 0, 0)
    length = hours * 3600 + minutes * 60 + seconds
    if not length:
        raise InvalidInput(
            f"schedule {text!r}: say how long, as in @every 1h30m", code="bad-schedule"
        )
    return length


def _numbers(text: str, field: _Field) -> set[int]:
    found: set[int] = set()
    for part in text.lower().split(","):
        match = _PART.match(part)
        if match is None:
            raise _bad(text, field)
        first, last, step = match.groups()
        least = field.least if first == "*" else _number(first, field, text)
        most = field.most if first == "*" or (step and not last) else least
        most = _number(last, field, text) if last else most
        if not field.least <= least <= most <= field.most or step == "0":
            raise _bad(text, field)
        found.update(range(least, most + 1, int(step or 1)))
    return found


def _number(text: str, field: _Field, whole: str) -> int:
    if text in field.words:
        return field.words.index(text) + field.first
    if not text.isdigit():
        raise _bad(whole, field)
    return int(text)


def _bad(text: str, field: _Field) -> InvalidInput:
    message = (
        f"{text!r} is no {field.name} of a schedule; numbers go from {field.least} to {field.most}"
    )
    return InvalidInput(message, code="bad-schedule")
