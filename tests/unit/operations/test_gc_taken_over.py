# SPDX-License-Identifier: Apache-2.0
"""Runs, sweeps and undos that die, stand still or meet damage: what others make of it."""

import pytest

from lochan.errors import Conflict, Corruption, Gone, Unavailable
from lochan.kv.store import Present
from lochan.kv.table import Table
from lochan.model.ids import BranchName, CommitId
from lochan.operations.branches import create_branch
from lochan.operations.gc.collect import collect
from lochan.operations.gc.condemned import Dead
from lochan.operations.gc.empty import empty_trash
from lochan.operations.gc.mark import Told
from lochan.operations.gc.sweeping import (
    end_sweeping,
    is_under_way,
    last_sweep,
    sweeping_blocks,
)
from lochan.operations.gc.trash import Bin, State, list_trash
from lochan.operations.gc.undo import undo
from lochan.operations.retention import set_gc_rules
from lochan.refs.expired import expired_commits
from support.collected_lake import FORCED, GRACE, Ground, expire, let_pass, long_dead, opened_anew

Patch = pytest.MonkeyPatch
DEV = BranchName("dev")


@pytest.fixture
def ground() -> Ground:
    return Ground.open()


def dies_once(monkeypatch: Patch, method: str) -> None:
    """Have a method of the trash end its process."""

    def dies(*_: object) -> None:
        monkeypatch.undo()
        raise Unavailable("the power is gone")

    monkeypatch.setattr(Bin, method, dies)


def condemn(ground: Ground) -> CommitId:
    """Have a commit that expired, and whose objects the next run moves."""
    old = expire(ground)
    ground.run()
    ground.wait(GRACE + 1)
    return old


def test_a_run_that_was_taken_over_takes_no_row_from_its_follower(
    ground: Ground, monkeypatch: Patch
) -> None:
    old = condemn(ground)
    set_gc_rules(*ground.where, 1000, {})
    delete_if = Table.delete_if

    def late(table: Table[object], name: bytes, predicate: Present) -> None:
        if name == old.encode():
            monkeypatch.undo()
            ground.wait(700)
            set_gc_rules(*ground.where, 7, {})
            assert ground.run().moved > 0
        delete_if(table, name, predicate)

    monkeypatch.setattr(Table, "delete_if", late)
    with pytest.raises(Conflict, match="took over"):
        ground.run()
    with pytest.raises(Gone):
        create_branch(*ground.where, DEV, old)


def test_a_damaged_tree_of_an_expired_commit_holds_up_collection_for_a_grace_at_most(
    ground: Ground,
) -> None:
    set_gc_rules(*ground.where, 7, {})
    long_dead(ground)
    ground.run()
    ground.put("x", b"x")
    damaged = ground.commit()
    ground.delete("x")
    ground.commit()
    let_pass(ground)
    files = [each for each in ground.addresses("_lakefs/") if damaged.meta_range_id in each]
    ground.stage.storage.objects.delete(*files)
    lake = opened_anew(ground)

    with pytest.raises(Corruption, match="fsck finds no damage"):
        collect(lake, ground.stage.repository, FORCED)
    ground.wait(GRACE + 1)
    assert collect(lake, ground.stage.repository, FORCED).moved > 0


def test_a_run_that_dies_before_it_moves_anything_spoils_no_commit(
    ground: Ground, monkeypatch: Patch
) -> None:
    old = condemn(ground)

    dies_once(monkeypatch, "open")
    with pytest.raises(Unavailable):
        ground.run()
    set_gc_rules(*ground.where, 1000, {})
    ground.run()
    create_branch(*ground.where, DEV, old)
    assert ground.read("k", DEV) == b"first"


def test_an_undo_lets_commits_be_built_on_of_which_later_runs_have_taken_nothing(
    ground: Ground,
) -> None:
    old = expire(ground)
    first = ground.run_twice()
    ground.put("z", b"1"), ground.put("z", b"2")
    ground.wait(GRACE + 1)
    assert (first.moved, ground.run_twice().moved) == (2, 1)
    undo(*ground.where, first.run)
    create_branch(*ground.where, DEV, old)
    assert ground.read("k", DEV) == b"first"


def test_an_undo_asks_every_other_run_whatever_clocks_say(
    ground: Ground, monkeypatch: Patch
) -> None:
    old = expire(ground)
    ground.run()
    ground.wait(GRACE + 60)
    dies_once(monkeypatch, "put")
    with pytest.raises(Unavailable):
        ground.run()
    (died,) = list_trash(*ground.where)
    Bin(*ground.where, died.run, lambda: None).become(State.MOVED)
    ground.wait(-30)  # another machine, and another clock
    assert ground.run().moved == 2
    assert list_trash(*ground.where)[-1].run != died.run
    undo(*ground.where, died.run)
    with pytest.raises(Gone):
        create_branch(*ground.where, DEV, old)


def test_a_run_that_died_before_it_moved_anything_is_undone_by_the_next(
    ground: Ground, monkeypatch: Patch
) -> None:
    old = condemn(ground)
    dies_once(monkeypatch, "put")
    with pytest.raises(Unavailable):
        ground.run()
    assert ground.run().moved == 2
    assert len(list_trash(*ground.where)) == 1
    undo(*ground.where)
    create_branch(*ground.where, DEV, old)
    assert ground.read("k", DEV) == b"first"


def test_a_sweep_is_ended_by_who_began_it(ground: Ground) -> None:
    with sweeping_blocks(*ground.where, "one"):
        with sweeping_blocks(*ground.where, "two"):
            end_sweeping(*ground.where, "one")
            assert is_under_way(last_sweep(*ground.where))
        assert last_sweep(*ground.where) == b"-two"
    assert last_sweep(*ground.where) == b"-two"


def test_an_undo_that_another_process_ends_meanwhile_ends_well(
    ground: Ground, monkeypatch: Patch
) -> None:
    old = expire(ground)
    ground.run_twice()
    take_back = Bin.take_back

    def late(trash: Bin, dead: list[Dead], told: Told) -> int:
        monkeypatch.undo()
        count = take_back(trash, dead, told)
        ground.wait(700)
        ground.run()
        return count

    monkeypatch.setattr(Bin, "take_back", late)
    undo(*ground.where)
    assert list_trash(*ground.where) == []
    assert ground.read("k", old) == b"first"


def test_an_undo_that_died_is_ended_before_the_trash_is_emptied(
    ground: Ground, monkeypatch: Patch
) -> None:
    old = expire(ground)
    ground.run_twice()

    dies_once(monkeypatch, "take_back")
    with pytest.raises(Unavailable):
        undo(*ground.where)
    ground.wait(GRACE + 1)
    gone, _ = empty_trash(*ground.where)
    assert (gone.count, list_trash(*ground.where)) == (0, [])
    assert ground.read("k", old) == b"first"
    lake, repository = ground.where
    assert not any(row.swept for _, row in expired_commits(lake.store, repository).scan())
