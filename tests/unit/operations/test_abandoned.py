# SPDX-License-Identifier: Apache-2.0
"""Private branches that a killed process left behind go, and no other branch does."""

import pytest

from lochan.errors import NotFound
from lochan.model.ids import BranchName
from lochan.operations.branches import create_branch, delete_branch
from lochan.operations.gc.abandoned import IDLE_S, clear_abandoned
from lochan.operations.gc.collect import Collection
from lochan.refs.branches import get_branch, list_branches
from support.collected_lake import DAY, GRACE, Ground
from support.lakes import MAIN

JOB = BranchName("job-" + "0" * 32)


@pytest.fixture
def ground() -> Ground:
    ground = Ground.open()
    ground.put("k")
    ground.commit()
    return ground


def begin(ground: Ground, name: str = JOB, *, hidden: bool = True) -> BranchName:
    head = get_branch(ground.stage.lake.tables(ground.stage.repository), MAIN).record.commit_id
    create_branch(*ground.where, BranchName(name), head, hidden=hidden)
    return BranchName(name)


def branches(ground: Ground) -> list[str]:
    tables = ground.stage.lake.tables(ground.stage.repository)
    return [branch.branch_id for branch in list_branches(tables, hidden=True)]


@pytest.mark.parametrize("kind", ["job", "tx", "local"])
def test_rel_V14_the_private_branch_of_a_killed_process_goes_after_a_week(
    ground: Ground, kind: str
) -> None:
    name = begin(ground, f"{kind}-{'7' * 32}")
    staged = ground.put("part", b"part", name)
    assert clear_abandoned(*ground.where) == []
    ground.wait(IDLE_S - 1)
    assert clear_abandoned(*ground.where) == []
    ground.wait(1)
    assert clear_abandoned(*ground.where) == [name]
    assert branches(ground) == [MAIN]
    ground.wait(GRACE)
    ground.run_twice()
    assert not ground.is_there(staged)


@pytest.mark.parametrize("what", ["stage", "delete", "commit"])
def test_whoever_does_something_within_a_week_keeps_the_branch(ground: Ground, what: str) -> None:
    begin(ground)
    clear_abandoned(*ground.where)
    ground.wait(IDLE_S)
    if what == "stage":
        ground.put("k", b"again", JOB)
    elif what == "delete":
        ground.delete("k", JOB)
    else:
        ground.commit(JOB)
    assert clear_abandoned(*ground.where) == []
    ground.wait(IDLE_S - 1)
    assert clear_abandoned(*ground.where) == []
    assert JOB in branches(ground)


def test_a_branch_that_people_made_is_never_looked_at(ground: Ground) -> None:
    names = ["dev", "job-1", f"job-{'0' * 32}x", f"my-job-{'0' * 32}"]
    made = [begin(ground, name) for name in names] + [begin(ground, hidden=False)]
    for _ in range(3):
        assert clear_abandoned(*ground.where) == []
        ground.wait(2 * IDLE_S)
    assert set(made) <= set(branches(ground))


def test_a_later_branch_of_the_name_is_another_one(ground: Ground) -> None:
    begin(ground)
    clear_abandoned(*ground.where)
    delete_branch(*ground.where, JOB)
    ground.wait(IDLE_S)
    begin(ground)
    assert clear_abandoned(*ground.where) == []
    delete_branch(*ground.where, JOB)
    assert clear_abandoned(*ground.where) == []
    assert branches(ground) == [MAIN]


def test_a_collection_clears_them_and_says_how_many(ground: Ground) -> None:
    begin(ground)
    assert ground.run().branches_removed == 0
    ground.wait(8 * DAY)
    assert ground.run().branches_removed == 1
    begin(ground)
    assert ground.run(Collection(force=True, idle_s=0)).branches_removed == 1
    with pytest.raises(NotFound):
        get_branch(ground.stage.lake.tables(ground.stage.repository), JOB)
