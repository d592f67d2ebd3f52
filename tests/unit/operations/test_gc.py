# SPDX-License-Identifier: Apache-2.0
"""Collection removes what is dead for long enough, twice sure, and never anything else."""

import pytest

from lochan.errors import Gone, ObjectExpired
from lochan.model.ids import BranchName, CommitId, ObjectKey, TagName
from lochan.model.records import Commit
from lochan.operations.branches import create_branch, delete_branch
from lochan.operations.compact import compact
from lochan.operations.copy_object import Source, copy_object
from lochan.operations.dump_refs import dump_refs
from lochan.operations.gc.collect import plan
from lochan.operations.hard_reset import hard_reset
from lochan.operations.open_commits.put_file import put_file
from lochan.operations.open_commits.start_commit import start_commit
from lochan.operations.rename_object import rename_object
from lochan.operations.reset import reset
from lochan.operations.retention import delete_gc_rules, set_gc_rules
from lochan.operations.seal import seal
from lochan.operations.tags import create_tag, delete_tag
from lochan.operations.transplant import TransplantRequest, revert
from support.collected_lake import DAY, GRACE, HOUR, Ground, expire, long_dead
from support.lakes import MAIN


@pytest.fixture
def ground() -> Ground:
    return Ground.open()


def test_an_object_that_was_replaced_before_a_commit_goes_after_two_looks(ground: Ground) -> None:
    first, second = ground.put("k", b"first"), ground.put("k", b"second")
    ground.wait(GRACE + 1)
    assert ground.run().waiting.count == 1
    assert ground.is_there(first)
    ground.wait(GRACE + 1)
    assert ground.run().moved == 1
    assert not ground.is_there(first)
    assert ground.is_there(second)
    assert ground.read("k") == b"second"


def test_nothing_goes_before_its_grace_is_over(ground: Ground) -> None:
    long_dead(ground)
    assert ground.run().waiting.count == 1
    ground.wait(GRACE - HOUR)
    assert ground.run().moved == 0
    assert ground.run().due.count == 0
    ground.wait(HOUR)
    assert ground.run().moved == 1


def test_rel_H19_b_a_young_object_is_nobodys_garbage(ground: Ground) -> None:
    storage = ground.stage.storage
    storage.objects.put(storage.addresses.new("k"), b"on its way")
    ground.wait(GRACE - 1)
    report = ground.run()
    assert (report.young, report.dead.count) == (1, 0)


def test_a_plan_changes_nothing(ground: Ground) -> None:
    long_dead(ground)
    before = ground.addresses()
    assert plan(*ground.where).waiting.count == 1
    ground.wait(2 * GRACE)
    assert plan(*ground.where).due.count == 0, "a plan condemns nobody"
    assert ground.addresses() == before
    assert plan(*ground.where).examples


def test_without_rules_nothing_that_was_committed_goes(ground: Ground) -> None:
    first = ground.put("k", b"first")
    old = ground.commit()
    ground.delete("k")
    ground.commit()
    ground.wait(400 * DAY)
    ground.run_twice()
    assert ground.is_there(first)
    assert ground.read("k", old.id) == b"first"


def test_rules_take_what_only_older_commits_hold(ground: Ground) -> None:
    old = expire(ground)
    assert ground.run_twice().moved == 2
    assert ground.read("k") == b"third"
    with pytest.raises(ObjectExpired, match="collected") as told:
        ground.read("k", old)
    assert (told.value.status, told.value.code) == (410, "object-expired")


def test_a_branch_keeps_what_it_showed_within_its_days(ground: Ground) -> None:
    set_gc_rules(*ground.where, 7, {})
    first = ground.put("k", b"first")
    ground.commit()
    ground.wait(30 * DAY)
    ground.delete("k")
    ground.commit()
    ground.wait(6 * DAY - 2 * GRACE)
    ground.run_twice()
    assert ground.is_there(first), "the commit before the deletion was the head six days ago"
    ground.wait(4 * DAY)
    ground.run_twice()
    assert not ground.is_there(first)


def test_a_branch_may_have_days_of_its_own(ground: Ground) -> None:
    set_gc_rules(*ground.where, 7, {"main": 300})
    first = ground.put("k", b"first")
    ground.commit()
    ground.delete("k")
    ground.commit()
    ground.wait(100 * DAY)
    ground.run_twice()
    assert ground.is_there(first)


def test_a_deleted_branch_goes_by_the_default_days(ground: Ground) -> None:
    set_gc_rules(*ground.where, 30, {})
    dev = ground.branch("dev", ground.commit())
    first = ground.put("k", branch=dev)
    ground.commit(dev)
    delete_branch(*ground.where, dev)
    ground.wait(20 * DAY)
    ground.run_twice()
    assert ground.is_there(first)
    ground.wait(20 * DAY)
    ground.run_twice()
    assert not ground.is_there(first)


def test_a_tag_keeps_its_commit_for_ever(ground: Ground) -> None:
    set_gc_rules(*ground.where, 0, {})
    first = ground.put("k")
    create_tag(*ground.where, TagName("v1"), ground.commit())
    ground.delete("k")
    ground.commit()
    ground.wait(300 * DAY)
    ground.run_twice()
    assert ground.is_there(first)
    delete_tag(*ground.where, TagName("v1"))
    ground.run_twice()
    assert not ground.is_there(first)


def test_rel_H19_a_sealed_tokens_are_roots(ground: Ground) -> None:
    first = ground.put("k")
    seal(*ground.where, MAIN)
    ground.wait(GRACE + 1)
    assert ground.run_twice().dead.count == 0
    assert ground.is_there(first)


def test_what_was_compacted_under_a_branch_is_a_root(ground: Ground) -> None:
    first = ground.put("k")
    compact(*ground.where, MAIN)
    ground.wait(GRACE + 1)
    ground.run_twice()
    assert ground.is_there(first)


def test_what_a_reset_forgot_goes(ground: Ground) -> None:
    first = ground.put("k")
    reset(*ground.where, MAIN)
    ground.wait(GRACE + 1)
    assert ground.run_twice().moved == 1
    assert not ground.is_there(first)


def test_rel_H19_d_the_log_of_copies_is_a_root(ground: Ground) -> None:
    first = ground.put("k")
    ground.wait(10 * DAY)
    copy_object(*ground.where, MAIN, ObjectKey(b"c"), Source(MAIN, ObjectKey(b"k")))
    for key in ("k", "c"):
        ground.delete(key)
    assert ground.run().dead.count == 0, "it was copied a moment ago"
    ground.wait(3 * GRACE)
    ground.run()  # forgets the row, at its end
    ground.run_twice()
    assert not ground.is_there(first)


def test_a_renamed_object_lives_under_its_new_key(ground: Ground) -> None:
    ground.put("k")
    ground.wait(10 * DAY)
    rename_object(*ground.where, MAIN, ObjectKey(b"k"), ObjectKey(b"n"))
    ground.wait(10 * DAY)
    ground.run_twice()
    assert ground.read("n") == b"body"


def test_a_started_commit_keeps_its_files_and_what_it_stands_on(ground: Ground) -> None:
    set_gc_rules(*ground.where, 0, {})
    first = ground.put("k")
    parent = ground.commit()
    opened = start_commit(*ground.where, parent.id, "other")
    put_file(*ground.where, opened.id, ObjectKey(b"f"), b"file")
    ground.delete("k")
    ground.commit()
    ground.wait(30 * DAY)
    assert ground.run_twice().dead.count == 0
    assert ground.is_there(first)


def test_blocks_go_by_the_age_that_the_store_tells(ground: Ground) -> None:
    opened = start_commit(*ground.where, None, "other")
    put_file(*ground.where, opened.id, ObjectKey(b"f"), b"file")
    (block,) = ground.addresses("data/blocks/")
    ground.wait(GRACE + 1)
    ground.stage.storage.objects.put("data/blocks/ab/abcd", b"nobody's")
    ground.wait(GRACE + 1)
    ground.run_twice()
    assert ground.addresses("data/blocks/") == {block}


def test_the_latest_dump_of_refs_can_be_restored(ground: Ground) -> None:
    set_gc_rules(*ground.where, 0, {})
    dev = ground.branch("dev", ground.commit())
    first = ground.put("k", branch=dev)
    ground.commit(dev)
    dump_refs(*ground.where)
    delete_branch(*ground.where, dev)
    ground.wait(30 * DAY)
    ground.run_twice()
    assert ground.is_there(first)


def test_nobody_builds_on_a_commit_that_is_not_kept(ground: Ground) -> None:
    old = expire(ground)
    ground.run()
    lake, repository = ground.where
    record = lake.tables(repository).commits.get(old.encode()).record
    head = lake.branches.fresh(repository, MAIN).record.commit_id
    second = lake.tables(repository).commits.get(head.encode()).record
    for build in (
        lambda: create_branch(lake, repository, BranchName("b"), record.id),
        lambda: create_tag(lake, repository, TagName("t"), record),
        lambda: hard_reset(lake, repository, MAIN, record),
        lambda: revert(lake, repository, MAIN, _child(ground, record.id), TransplantRequest("me")),
        lambda: start_commit(lake, repository, record.id, "b"),
    ):
        with pytest.raises(Gone, match="older than the rules"):
            build()
    create_tag(lake, repository, TagName("t"), second)


def _child(ground: Ground, parent: CommitId) -> Commit:
    lake, repository = ground.where
    commits = (row for _, row in lake.tables(repository).commits.scan())
    return next(row for row in commits if parent in row.parents)


def test_a_commit_that_other_rules_keep_again_can_be_built_on(ground: Ground) -> None:
    old = expire(ground)
    ground.run()
    delete_gc_rules(*ground.where)
    ground.run()
    create_branch(*ground.where, BranchName("b"), old)
    ground.wait(3 * GRACE)
    ground.run()
    assert ground.read("k", "b") == b"first"
