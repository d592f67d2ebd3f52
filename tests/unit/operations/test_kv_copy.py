# SPDX-License-Identifier: Apache-2.0
"""Copying a lake from store to store: online, killed at every step, equal in the end."""

from contextlib import suppress

import msgspec
import pytest

from lochan.errors import Conflict, LochanError, Refused
from lochan.faults import Crashed, Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Call, Faulty, fail_nth
from lochan.kv.store import Store
from lochan.model.ids import CommitId, ObjectKey, StagingToken
from lochan.model.keys import token_partition
from lochan.operations.branches import create_branch, delete_branch
from lochan.operations.fsck import fsck
from lochan.operations.kv_copy import Progress, copy_lake, release
from lochan.operations.kv_copy_ledger import PARTITION, Copied, Phase
from lochan.operations.read_object import stat_object
from lochan.refs.ancestry import ancestry
from lochan.refs.cleaner import Cleaner
from lochan.refs.partitions import names_of, repository_partitions
from lochan.refs.repositories import get_repository
from lochan.refs.tables import RepositoryTables, repositories
from support.grown_lake import DEV, MAIN, NAME, OLD, grown, head, open_lake, put, record
from support.kv_copies import SETTLE_S, WORLD, Writer, assert_all_there, at_work, clone, every_row
from support.lakes import Stage
from support.repository_life import at, every_call

# To die after a call is to die before the next one.
FAULTS = (Fault.CRASH_BEFORE, Fault.LOST_RESPONSE)


def copied(source: Store, target: Store) -> Copied:
    return copy_lake(source, target, WORLD, settle_s=0)


def seen(stage: Stage, store: Store) -> Stage:
    """Open the lake that another store holds, over the same objects."""
    lake = open_lake(store, WORLD, stage.storage)
    return Stage(lake, get_repository(store, WORLD, NAME), stage.storage)


@pytest.fixture(scope="module")
def whole() -> Stage:
    return grown(MemoryStore(WORLD))


def fresh(whole: Stage) -> MemoryStore:
    assert isinstance(whole.lake.store, MemoryStore)
    return clone(whole.lake.store)


def test_every_row_is_copied_and_the_target_is_worked_with(whole: Stage) -> None:
    source, target = fresh(whole), MemoryStore(WORLD)
    report = copied(source, target)
    assert every_row(target) == every_row(source)
    assert report.rows == len(every_row(source))
    moved = seen(whole, target)
    assert stat_object(moved.lake, moved.repository, DEV, ObjectKey(b"sealed")).size == 6
    assert list(fsck(moved.lake)) == []
    record(moved, DEV, "after")
    with pytest.raises(Refused, match="read-only"):
        put(seen(whole, source), DEV, "late")


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_copy_killed_at_every_step_goes_on(whole: Stage, fault: Fault, side: str) -> None:
    def run(number: int) -> Faulty:
        source, target = fresh(whole), MemoryStore(WORLD)
        failing = Faulty(source if side == "source" else target, fail_nth(number, fault), WORLD)
        with suppress(LochanError, Crashed):
            if side == "source":
                copied(failing, target)
            else:
                copied(source, failing)
        copied(source, target)
        assert every_row(target) == every_row(source)
        assert not repositories(target).get(NAME.encode()).record.read_only
        return failing

    assert every_call(run) > 200


def test_a_write_that_meets_the_copy_at_any_step_is_refused_or_copied(whole: Stage) -> None:
    """The whole copy falls between two calls of a put and a commit, wherever these are."""

    def run(number: int) -> Faulty:
        source, target = fresh(whole), MemoryStore(WORLD)
        store = Faulty(source, at(number, lambda: copied(source, target)), WORLD)
        writer = seen(whole, store)
        done: list[ObjectKey | CommitId] = []
        with suppress(Refused):
            put(writer, DEV, "met")
            done.append(ObjectKey(b"met"))
            done.append(record(writer, DEV).id)
        if store.calls >= number:
            moved = seen(whole, target)
            if done:
                stat_object(moved.lake, moved.repository, DEV, ObjectKey(b"met"))
            assert head(moved, DEV).id in {*done[1:], head(whole, DEV).id}
            assert len(done) < 2 or head(moved, DEV).id == done[1]
        return store

    assert every_call(run) > 15


def test_what_the_target_names_is_there_whenever_the_copy_dies(whole: Stage) -> None:
    def run(number: int) -> Faulty:
        source, target = fresh(whole), MemoryStore(WORLD)
        writer = seen(whole, source)

        def plan(call: Call) -> Fault:
            if call.number == number:
                with suppress(Refused):
                    record(writer, MAIN, "meanwhile")
            return Fault.CRASH_AFTER if call.number == number + 9 else Fault.OK

        failing = Faulty(target, plan, WORLD)
        with suppress(Crashed):
            copied(source, failing)
        tables = RepositoryTables.of(target, writer.repository)
        for _, branch in tables.branches.scan():
            assert list(ancestry(tables, branch.commit_id))
        return failing

    assert every_call(run) > 200


def test_what_the_source_has_forgotten_is_not_left_in_the_target(whole: Stage) -> None:
    source, target = fresh(whole), MemoryStore(WORLD)
    stage = seen(whole, source)
    made = create_branch(stage.lake, stage.repository, OLD, head(stage, MAIN).id)
    put(stage, OLD, "forgotten")
    with suppress(Crashed):
        copied(source, Faulty(target, _crash_when_branches_come, WORLD))
    assert rows_of(target, made.staging_token)
    delete_branch(stage.lake, stage.repository, OLD)
    for _ in range(3):
        Cleaner(source, WORLD, grace_s=0).run()
    copied(source, target)

    assert not rows_of(target, made.staging_token)
    assert every_row(target) == every_row(source)


def _crash_when_branches_come(call: Call) -> Fault:
    writes = call.operation == "set" and call.key.startswith(b"branches/")
    return Fault.CRASH_BEFORE if writes else Fault.OK


def rows_of(store: Store, token: StagingToken) -> list[bytes]:
    return [key for key, _ in store.scan(token_partition(token))]


def test_a_store_that_holds_something_is_refused_and_a_copy_that_is_done_stays(
    whole: Stage,
) -> None:
    source, target = fresh(whole), MemoryStore(WORLD)
    with pytest.raises(Refused, match="empty store"):
        copied(source, fresh(whole))
    report = copied(source, target)
    moved = seen(whole, target)
    put(moved, MAIN, "since")
    assert copied(source, target) == report
    assert stat_object(moved.lake, moved.repository, MAIN, ObjectKey(b"since")).size == 5
    assert [key for key, _ in target.scan(PARTITION)] == [b"state"]


def test_a_copy_that_is_given_up_opens_the_source_again(whole: Stage) -> None:
    source, target = fresh(whole), MemoryStore(WORLD)

    def told(progress: Progress) -> None:
        if progress.phase is Phase.CLOSED:
            raise Crashed("killed in the last pass")

    with suppress(Crashed):
        copy_lake(source, target, WORLD, settle_s=0, progress=told)
    stage = seen(whole, source)
    with pytest.raises(Refused):
        put(stage, MAIN, "closed")
    release(source, target, WORLD)
    put(stage, MAIN, "open")
    copied(source, target)
    assert every_row(target) == every_row(source)
    with pytest.raises(Refused, match="one by one"):
        release(source, target, WORLD)


def test_a_repository_that_was_read_only_before_is_so_in_the_target(whole: Stage) -> None:
    source, target = fresh(whole), MemoryStore(WORLD)
    table = repositories(source)
    closed = msgspec.structs.replace(table.get(NAME.encode()).record, read_only=True)
    table.set(NAME.encode(), closed)
    copied(source, target)
    assert repositories(target).get(NAME.encode()).record.read_only


def test_a_source_that_never_stands_still_is_told(whole: Stage) -> None:
    source, target = fresh(whole), MemoryStore(WORLD)

    def told(progress: Progress) -> None:
        if progress.phase is Phase.CLOSED:
            source.set(b"jobs", b"lease", WORLD.new_id().encode())

    with pytest.raises(Conflict, match="stop cleaners"):
        copy_lake(source, target, WORLD, settle_s=0, progress=told)
    assert [repository for _, repository in repositories(target).scan()] == []


def test_writers_at_work_lose_nothing_that_was_acknowledged(whole: Stage) -> None:
    source, target = fresh(whole), MemoryStore(WORLD)
    stage = seen(whole, source)
    writers = [
        Writer(stage.lake, stage.repository, branch, f"{branch}-{number}")
        for branch in (MAIN, DEV)
        for number in (1, 2)
    ]
    with at_work(*writers) as world:
        copy_lake(source, target, world, settle_s=SETTLE_S)

    assert every_row(target) == every_row(source)
    assert all(writer.acknowledged for writer in writers)
    assert_all_there(seen(whole, target).lake, *writers)
    assert all(names_of(target, name).branches for name in repository_partitions(target))
