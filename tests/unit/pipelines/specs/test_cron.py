# SPDX-License-Identifier: Apache-2.0
"""Schedules: ticks against an hour-by-hour reading of the rule, and what is refused."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lochan.errors import InvalidInput
from lochan.pipelines.specs.cron import Schedule


def seconds(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def text_of(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M")


@pytest.mark.parametrize(
    ("schedule", "since", "expected"),
    [
        ("@hourly", "2026-11-16 10:00", "2026-11-16 11:00"),
        ("*/15 * * * *", "2026-11-16 10:14:59", "2026-11-16 10:15"),
        ("0 9 * * mon-fri", "2026-11-13 09:00", "2026-11-16 09:00"),
        ("30 2 29 feb *", "2026-01-01 00:00", "2028-02-29 02:30"),
        ("0 0 13 * fri", "2026-11-01 00:00", "2026-11-06 00:00"),
        ("5/20 0 1 1,7 *", "2026-02-01 00:00", "2026-07-01 00:05"),
        ("0 0 * * 7", "2026-11-16 00:00", "2026-11-22 00:00"),
        ("@every 1h30m", "1970-01-01 01:31", "1970-01-01 03:00"),
        ("59 23 31 12 *", "2026-12-31 23:59", "2027-12-31 23:59"),
    ],
)
def test_the_next_tick_is_the_first_one_behind_a_moment(
    schedule: str, since: str, expected: str
) -> None:
    assert text_of(Schedule(schedule).after(seconds(since))) == expected


@settings(max_examples=60, deadline=None)
@given(
    st.sets(st.integers(0, 23), min_size=1, max_size=3),
    st.sets(st.integers(1, 28), min_size=1, max_size=2),
    st.sets(st.integers(0, 6), max_size=2),
    st.integers(0, 3 * 365 * 24),
)
def test_no_tick_is_left_out_and_none_is_made_up(
    hours: set[int], days: set[int], weekdays: set[int], start: int
) -> None:
    week = ",".join(map(str, sorted(weekdays))) or "*"
    told = f"0 {','.join(map(str, hours))} {','.join(map(str, days))} * {week}"
    began = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(hours=start)

    def ticks(at: datetime) -> bool:
        of_month, of_week = at.day in days, at.isoweekday() % 7 in weekdays
        return at.hour in hours and (of_month or of_week if weekdays else of_month)

    walked = next(at for hour in range(1, 40 * 24) if ticks(at := began + timedelta(hours=hour)))
    assert Schedule(told).after(began.timestamp()) == walked.timestamp()


def test_the_newest_tick_of_a_span_is_found_and_an_idle_span_has_none() -> None:
    hourly = Schedule("@hourly")
    began, ended = seconds("2026-11-16 10:30"), seconds("2026-11-16 13:00")
    assert text_of(hourly.latest(began, ended) or 0) == "2026-11-16 13:00"
    assert hourly.latest(began, began + 60) is None
    assert Schedule("@every 10s").latest(0, 35) == 30


@pytest.mark.parametrize(
    ("schedule", "named"),
    [
        ("* * * *", "five fields"),
        ("60 * * * *", "minute"),
        ("* 5-2 * * *", "hour"),
        ("* * 0 * *", "day of the month"),
        ("* * * foo *", "month"),
        ("*/0 * * * *", "minute"),
        ("0 0 31 feb *", "never comes"),
        ("@every", "how long"),
    ],
)
def test_a_schedule_that_means_nothing_is_refused_by_name(schedule: str, named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        Schedule(schedule)
