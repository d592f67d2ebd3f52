# SPDX-License-Identifier: Apache-2.0
"""How many requests one user may make."""

from pathlib import Path

import pytest

from lochan.config.server import Limits
from lochan.environment import RealEnvironment
from lochan.errors import Throttled
from lochan.web.admission import MOST_USERS, Admission
from support.web import open_api


class Clock(RealEnvironment):
    def __init__(self) -> None:
        self.at = 100.0

    def monotonic(self) -> float:
        return self.at


def admitted(admission: Admission, user: str, tries: int) -> int:
    count = 0
    for _ in range(tries):
        try:
            admission.admit(user)
        except Throttled:
            break
        count += 1
    return count


def test_rel_S18_a_user_gets_a_seconds_worth_at_once_and_the_rate_from_then_on() -> None:
    clock = Clock()
    admission = Admission(clock, 4)
    assert admitted(admission, "ann", 10) == 4
    clock.at += 0.5
    assert admitted(admission, "ann", 10) == 2
    assert admitted(admission, "bob", 10) == 4


def test_rel_S18_less_than_one_in_a_second_is_a_rate_too() -> None:
    clock = Clock()
    admission = Admission(clock, 0.25)
    assert admitted(admission, "ann", 2) == 1
    with pytest.raises(Throttled) as refused:
        admission.admit("ann")
    assert refused.value.facts["retry_after"] == 4
    clock.at += 4
    assert admitted(admission, "ann", 2) == 1


def test_without_a_rate_nothing_is_counted() -> None:
    admission = Admission(Clock(), 0)
    assert admitted(admission, "ann", 1000) == 1000
    assert len(admission) == 0


def test_users_whose_time_has_come_are_forgotten() -> None:
    clock = Clock()
    admission = Admission(clock, 2)
    for number in range(MOST_USERS):
        admission.admit(f"user-{number}")
    clock.at += 1
    admission.admit("one more")
    assert len(admission) == 1


def test_rel_S18_too_many_requests_get_429_and_when_to_come_again(tmp_path: Path) -> None:
    with open_api(tmp_path / "lake", limits=Limits(requests_per_second=2)) as api:
        answers = [api.get("/user") for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert answers[2].headers["retry-after"] == "1"
        assert answers[2].json["code"] == "too-many-requests"
        assert api.nobody().get("/healthcheck").status_code == 204
