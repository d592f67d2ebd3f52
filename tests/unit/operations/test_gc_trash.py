# SPDX-License-Identifier: Apache-2.0
"""The trash, refusals and crashes of collection: what goes can come back."""

import msgspec
import pytest

from lochan.errors import Conflict, Corruption, Gone, InvalidInput, NotFound, Refused
from lochan.model.ids import BranchName, ObjectKey, RepositoryId, StorageNamespace, TagName
from lochan.model.instant import EPOCH
from lochan.model.keys import GC_EXPIRED, partition_of
from lochan.objects.address import metadata_address
from lochan.operations.branches import create_branch
from lochan.operations.create_repository import create_repository
from lochan.operations.findings import Finding, Kind, Severity
from lochan.operations.fsck import fsck
from lochan.operations.gc.collect import Collection, plan
from lochan.operations.gc.empty import empty_trash
from lochan.operations.gc.lease import LEASE_S, Lease
from lochan.operations.gc.marks import PREFIX as MARKS
from lochan.operations.gc.trash import State, Trash, list_trash, trash_table
from lochan.operations.gc.undo import undo
from lochan.operations.import_objects import ImportRequest
from lochan.operations.import_paths import ImportPath, import_paths
from lochan.operations.read_object import stat_object
from lochan.operations.retention import set_gc_rules
from lochan.operations.tags import create_tag, delete_tag
from lochan.refs.expired import Expired, expired_commits
from support.collected_lake import GRACE, Ground, expire, long_dead
from support.lakes import MAIN


@pytest.fixture
def ground() -> Ground:
    return Ground.open()


def test_undo_brings_everything_back(ground: Ground) -> None:
    old = expire(ground)
    before = ground.addresses()
    run = ground.run_twice()
    assert ground.addresses() != before
    row, count = undo(*ground.where)
    assert (row.run, count) == (run.run, 2)
    assert ground.addresses() == before
    assert ground.read("k", old) == b"first"
    create_branch(*ground.where, BranchName("b"), old)
    with pytest.raises(NotFound, match="nothing is in the trash"):
        undo(*ground.where)


def test_nobody_builds_on_a_commit_of_which_a_later_run_has_moved_something(
    ground: Ground,
) -> None:
    set_gc_rules(*ground.where, 0, {})
    ground.put("a"), ground.put("b")
    old = ground.commit()
    ground.delete("a")
    create_tag(*ground.where, TagName("t"), ground.commit())
    ground.delete("b")
    ground.commit()
    ground.wait(3 * GRACE)
    ground.commit()
    first = ground.run_twice()
    delete_tag(*ground.where, TagName("t"))
    second = ground.run_twice()
    assert (first.moved, second.moved) == (1, 1)

    undo(*ground.where, first.run)
    with pytest.raises(Gone, match="older than the rules"):
        create_branch(*ground.where, BranchName("dev"), old.id)
    undo(*ground.where, second.run)
    create_branch(*ground.where, BranchName("dev"), old.id)
    assert (ground.read("a", "dev"), ground.read("b", "dev")) == (b"body", b"body")


def test_the_trash_is_emptied_after_another_grace(ground: Ground) -> None:
    long_dead(ground)
    ground.run_twice()
    assert empty_trash(*ground.where)[0].count == 0
    ground.wait(GRACE)
    assert empty_trash(*ground.where)[0].count == 1
    assert ground.addresses("_lochan/trash/") == set()
    assert list_trash(*ground.where) == []


def test_what_is_alive_after_all_comes_back_when_the_trash_is_emptied(ground: Ground) -> None:
    first = ground.put("k", b"first")
    lake, repository = ground.where
    token = lake.branches.fresh(repository, MAIN).record.staging_token
    staged = lake.staging.find(token, b"k")
    assert staged is not None
    ground.delete("k")
    ground.wait(GRACE + 1)
    ground.run_twice()
    lake.staging.set(token, staged[0])  # as a snapshot of the KV store would bring it back
    ground.wait(GRACE)
    gone, back = empty_trash(lake, repository)
    assert (gone.count, back.count) == (0, 1)
    assert ground.is_there(first)


def test_more_than_a_share_of_the_store_is_refused(ground: Ground) -> None:
    for number in range(4):
        ground.put("k", b"%d" % number)
    ground.wait(GRACE + 1)
    careful = Collection()
    ground.run(careful)
    ground.wait(GRACE + 1)
    with pytest.raises(Refused, match="3 of 4 objects") as told:
        ground.run(careful)
    assert told.value.code == "gc-share"
    assert len(ground.addresses()) == 4
    assert ground.run().moved == 3


def test_a_tree_that_is_missing_ends_the_run(ground: Ground) -> None:
    ground.put("k")
    made = ground.commit()
    long_dead(ground)
    ground.stage.storage.objects.delete(metadata_address(made.meta_range_id))
    ground.stage.storage.snapshots.files._metaranges._kept.clear()
    with pytest.raises(Corruption, match="fsck"):
        ground.run()


def test_a_bare_repository_is_not_collected(ground: Ground) -> None:
    lake, repository = ground.where
    long_dead(ground)
    lake.tables(repository).branches.delete(MAIN.encode())
    with pytest.raises(Refused, match="restore its refs"):
        plan(*ground.where)


def test_one_collection_at_a_time(ground: Ground) -> None:
    lease = Lease(*ground.where)
    with pytest.raises(Conflict, match="under way"):
        ground.run()
    ground.wait(LEASE_S + 1)
    ground.run()  # whoever had it is gone
    with pytest.raises(Conflict, match="took over"):
        lease.renew()


def test_the_next_run_ends_what_a_crashed_one_began(ground: Ground) -> None:
    long_dead(ground)
    run = ground.run_twice()
    trash_table(*ground.where).update(
        run.run.encode(), lambda row: row and _as(row, State.MOVING), ground.clock
    )
    ground.run()
    assert [row.state for row in list_trash(*ground.where)] == [State.MOVED]
    trash_table(*ground.where).update(
        run.run.encode(), lambda row: row and _as(row, State.UNDONE), ground.clock
    )
    ground.run()
    assert list_trash(*ground.where) == []
    assert len(ground.addresses()) == 2


def _as(row: Trash, state: State) -> Trash:
    return msgspec.structs.replace(row, state=state)


def test_ranges_are_read_once_and_damaged_marks_again(ground: Ground) -> None:
    long_dead(ground)
    ground.commit()
    ground.run()
    (mark,) = ground.addresses(MARKS)
    opened = ground.stage.storage.snapshots.files.opened
    ground.run()
    assert ground.stage.storage.snapshots.files.opened == opened
    ground.stage.storage.objects.put(mark, b"LOCHANM2 and nothing sensible")
    assert ground.run().dead.count == 1
    assert ground.stage.storage.snapshots.files.opened == opened + 1


def test_without_a_grace_both_looks_are_in_one_run(ground: Ground) -> None:
    ground.put("k", b"first")
    ground.put("k", b"second")
    ground.wait(1)
    assert ground.run(Collection(grace_s=0)).moved == 1


def test_no_repository_imports_what_anothers_collector_may_take(ground: Ground) -> None:
    lake, repository = ground.where
    place = f"{repository.storage_namespace}/data/"
    other = create_repository(lake, RepositoryId("other"), StorageNamespace("mem://other"), MAIN)
    path = ImportPath(place, b"stolen/")
    with pytest.raises(InvalidInput, match="overlap"):
        import_paths(lake, other, MAIN, [path], ImportRequest("me"))


def wrong(ground: Ground) -> list[Finding]:
    return [found for found in fsck(ground.where[0]) if found.severity is Severity.ERROR]


def test_fsck_misses_what_is_lost_and_not_what_was_collected(ground: Ground) -> None:
    expire(ground)
    ground.run_twice()
    assert wrong(ground) == []
    kept = stat_object(*ground.where, MAIN, ObjectKey(b"k"))
    ground.stage.storage.objects.delete(kept.address)
    assert [found.kind for found in wrong(ground)] == [Kind.MISSING_OBJECT]


def test_fsck_tells_of_an_expired_commits_row_that_cannot_be_read(ground: Ground) -> None:
    table = expired_commits(ground.where[0].store, ground.where[1])
    table.set(b"c", Expired(time=EPOCH))
    assert wrong(ground) == []
    ground.where[0].store.set(partition_of(ground.where[1]), GC_EXPIRED + b"c", b"{")
    (found,) = wrong(ground)
    assert (found.kind, "gc/expired/c" in found.where) == (Kind.UNREADABLE_RECORD, True)
