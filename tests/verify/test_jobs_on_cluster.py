# SPDX-License-Identifier: Apache-2.0
"""Many jobs on a cluster of two hosts, each with tasks that fail, dawdle and lose executors."""

from pathlib import Path

import pytest

from support.two_hosts import surroundings, told_by, two_hosts

ROUNDS = 30


@pytest.mark.campaign
def test_rel_V14_every_job_of_a_bad_day_makes_exactly_one_commit(tmp_path: Path) -> None:
    around = surroundings(tmp_path / "workers")
    with two_hosts(around) as master:
        found = told_by("jobs_on_cluster.py", around, master, str(tmp_path), str(ROUNDS))

    jobs = found["jobs"]
    assert len(jobs) == ROUNDS
    assert {job["state"] for job in jobs} == {"success"}
    assert {(job["processed"], job["commits"], job["files"]) for job in jobs} == {(6, 1, True)}
    assert all(job["linked is shown"] and job["others wrote"] for job in jobs)
