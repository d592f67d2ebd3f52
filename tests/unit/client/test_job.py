# SPDX-License-Identifier: Apache-2.0
"""A job is one commit or nothing, and a run that is done is not done again."""

import pytest

from lochan.client import Branch, Repository
from lochan.client.job import JOB, JOB_ID
from lochan.errors import Conflict, Refused


def hidden(repository: Repository) -> list[str]:
    return [one.id for one in repository.branches(show_hidden=True) if one.id != "main"]


def test_a_job_is_one_commit_that_says_whose_it_is(repository: Repository, main: Branch) -> None:
    before = main.head.id
    with main.job("nightly", {"owner": "me"}) as job:
        job.branch.upload("a", b"1")
        job.branch.commit("half way")
        job.branch.upload("b", b"2")
        assert list(main.objects()) == []

    assert [one.path for one in main.objects()] == ["a", "b"]
    assert (main.head.id, main.head.parents) == (job.commit_id, [before])
    told = main.head.metadata
    assert (told[JOB], told[JOB_ID], told["owner"]) == ("nightly", job.id, "me")
    assert hidden(repository) == []


def test_a_job_that_fails_leaves_nothing(repository: Repository, main: Branch) -> None:
    def fail() -> None:
        with main.job("nightly") as job:
            job.branch.upload("a", b"1")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert (list(main.objects()), hidden(repository)) == ([], [])


def test_a_job_without_changes_makes_no_commit(main: Branch) -> None:
    before = main.head.id
    with main.job("nightly") as job:
        pass

    assert (main.head.id, job.commit_id) == (before, "")


def test_a_run_that_is_in_history_brings_nothing_again(main: Branch) -> None:
    for body in (b"1", b"2"):
        with main.job("nightly", id="2026-11-16") as job:
            job.branch.upload("a", body)
    first = main.head.id

    assert job.commit_id == first
    assert main.object("a").read() == b"1"


def test_a_job_merges_with_what_others_did_meanwhile(repository: Repository, main: Branch) -> None:
    with main.job("nightly") as job:
        job.branch.upload("a", b"1")
        main.upload("b", b"2")
        main.commit("meanwhile")
    assert [one.path for one in main.objects()] == ["a", "b"]

    def collide() -> None:
        with main.job("nightly") as job:
            job.branch.upload("a", b"3")
            main.upload("a", b"4")
            main.commit("meanwhile")

    with pytest.raises(Conflict):
        collide()
    assert (main.object("a").read(), hidden(repository)) == (b"4", [])


def test_a_dirty_branch_refuses_before_the_work(main: Branch) -> None:
    main.upload("x", b"1")
    with pytest.raises(Refused, match="uncommitted"), main.job("nightly"):
        pytest.fail("the block ran")
