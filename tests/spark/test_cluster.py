# SPDX-License-Identifier: Apache-2.0
"""A master with two workers on two addresses: what fails there is seen whole or not at all."""

from collections.abc import Iterator
from typing import Any

import pytest

from support.two_hosts import surroundings, told_by, two_hosts


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    around = surroundings(tmp_path_factory.mktemp("workers"))
    folder = tmp_path_factory.mktemp("cluster")
    with two_hosts(around) as master:
        yield told_by("spark_on_cluster.py", around, master, str(folder / "lake"), str(folder))


@pytest.mark.parametrize("scene", ["a task fails", "an executor is killed", "a task is slow"])
def test_rel_V14_every_row_is_there_once(told: dict[str, Any], scene: str) -> None:
    expected = {"error": "", "rows": 4000, "distinct": 4000, "files": 4, "moved": True}

    assert told["scenes"][scene] == expected


def test_rel_V14_a_second_attempt_ran(told: dict[str, Any]) -> None:
    assert told["speculated"]


def test_rel_V14_a_write_whose_attempts_all_fail_leaves_nothing(told: dict[str, Any]) -> None:
    found = told["scenes"]["all attempts fail"]

    assert (found["rows"], found["moved"]) == (0, False)
    assert found["error"]


def test_rel_V14_rel_P5_a_job_whose_tasks_fail_dawdle_and_lose_executors_makes_one_commit(
    told: dict[str, Any],
) -> None:
    [job] = told["jobs"]

    # A host that comes back late leaves a slow task to end by itself.
    assert job.pop("tried again") >= 2
    assert job == {
        "state": "success",
        "reason": "",
        "processed": 6,
        "files": True,
        "commits": 1,
        "linked is shown": True,
        "others wrote": True,
    }
