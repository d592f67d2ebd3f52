# SPDX-License-Identifier: Apache-2.0
"""Logs of refs: pages, and commits that touched a path."""

import pytest

from lochan.errors import NotFound
from lochan.model.ids import BranchName, CommitId
from lochan.model.records import Commit
from lochan.operations.branches import create_branch
from lochan.operations.log_commits import LogRequest, log_commits
from lochan.operations.merge import MergeRequest, merge
from support.branch_content import delete, put, record
from support.lakes import MAIN, Stage, open_stage

DEV = BranchName("dev")


@pytest.fixture
def told() -> Stage:
    """Make a history: put a/1, put b, change a/1, remove a/1."""
    stage = open_stage()
    for key, body in [(b"a/1", b"x"), (b"b", b"x"), (b"a/1", b"y")]:
        put(stage, key, body)
        record(stage, message=f"put {key.decode()}")
    delete(stage, b"a/1")
    record(stage, message="remove a/1")
    return stage


def messages(stage: Stage, ref: str = "main", amount: int = 100, **request: object) -> list[str]:
    asked = LogRequest(amount, **request)  # type: ignore[arg-type]
    return [
        commit.message for commit in log_commits(stage.lake, stage.repository, ref, asked).commits
    ]


def test_a_log_of_paths_holds_the_commits_that_changed_them(told: Stage) -> None:
    changes = ["remove a/1", "put a/1", "put a/1"]
    assert messages(told, objects=[b"a/1"]) == changes
    assert messages(told, prefixes=[b"a/"]) == changes
    assert messages(told, objects=[b"a"]) == []
    assert messages(told, objects=[b"b"], prefixes=[b"zz"]) == ["put b"]
    assert messages(told, prefixes=[b""]) == ["remove a/1", "put a/1", "put b", "put a/1"]


def test_pages_put_together_are_the_whole_log(told: Stage) -> None:
    whole = log_commits(told.lake, told.repository, "main", LogRequest(100)).commits
    found: list[Commit] = []
    after: CommitId | None = None
    while True:
        page = log_commits(told.lake, told.repository, "main", LogRequest(2, after))
        found += page.commits
        if not page.has_more:
            break
        after = page.commits[-1].id
    assert tuple(found) == whole
    assert len(whole) == 5


def test_a_log_of_exactly_so_many_does_not_look_further(told: Stage) -> None:
    page = log_commits(told.lake, told.repository, "main", LogRequest(2, exactly=True))
    assert (len(page.commits), page.has_more) == (2, False)


def test_a_log_ends_at_a_ref_and_begins_behind_a_commit_of_its_own(told: Stage) -> None:
    assert messages(told, stop_at="main~1") == ["remove a/1", "put a/1"]
    with pytest.raises(NotFound):
        messages(told, after=CommitId("ab" * 32))


def test_first_parents_leave_out_what_a_merge_brought(told: Stage) -> None:
    create_branch(told.lake, told.repository, DEV, record(told).id)
    put(told, b"d", b"1", DEV)
    source = record(told, DEV, "on dev")
    merge(told.lake, told.repository, MAIN, source, MergeRequest("ada", "merge"))
    assert "on dev" in messages(told)
    assert "on dev" not in messages(told, first_parent=True)
    assert messages(told, objects=[b"d"]) == ["on dev"]
