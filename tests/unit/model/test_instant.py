# SPDX-License-Identifier: Apache-2.0
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.errors import InvalidInput
from lochan.model.instant import (
    Instant,
    from_datetime,
    from_seconds,
    instant,
    to_datetime,
    to_seconds,
)

YEAR_1 = -62_135_596_800 * 10**9
YEAR_9999 = 253_402_300_799 * 10**9 + 999_999_999


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_datetime_survives_the_way_there_and_back(moment: datetime) -> None:
    assert to_datetime(from_datetime(moment)) == moment


def test_a_datetime_of_another_zone_is_the_same_instant() -> None:
    there = datetime(2024, 1, 1, 3, tzinfo=timezone(timedelta(hours=3)))

    assert from_datetime(there) == from_datetime(datetime(2024, 1, 1, tzinfo=UTC))


def test_a_datetime_without_zone_is_refused() -> None:
    with pytest.raises(InvalidInput, match="time zone"):
        from_datetime(datetime(2024, 1, 1))  # noqa: DTZ001 - it is what is refused


@given(st.floats(min_value=-1e10, max_value=1e10))
def test_seconds_are_kept_to_a_microsecond(seconds: float) -> None:
    assert abs(from_seconds(seconds) / 10**9 - seconds) < 2e-6


def test_whole_seconds_are_rounded_down_before_1970_too() -> None:
    assert to_seconds(Instant(1_999_999_999)) == 1
    assert to_seconds(Instant(-1)) == -1


@pytest.mark.parametrize("nanoseconds", [YEAR_1, 0, YEAR_9999])
def test_the_years_1_to_9999_can_be_stored(nanoseconds: int) -> None:
    assert instant(nanoseconds) == nanoseconds


@pytest.mark.parametrize("nanoseconds", [YEAR_1 - 1, YEAR_9999 + 1])
def test_what_lies_outside_is_refused(nanoseconds: int) -> None:
    with pytest.raises(InvalidInput, match="years 1 and 9999"):
        instant(nanoseconds)
