# SPDX-License-Identifier: Apache-2.0
"""Dumping refs and restoring them: nothing is lost, nothing is mixed, and a crash is no end."""

from contextlib import suppress

import msgspec
import pytest

from lochan.errors import Corruption, LochanError, NotFound, Refused, RepositoryNotFound
from lochan.faults import Crashed, Fault
from lochan.kv.drivers import memory
from lochan.kv.faulty import Call, Faulty, fail_nth
from lochan.kv.store import Store
from lochan.model.codec import decode_branch, decode_commit, encode_commit
from lochan.model.commit_id import commit_id, new_commit
from lochan.model.ids import (
    EMPTY_TREE,
    BranchName,
    CommitId,
    LineageId,
    MetaRangeId,
    ObjectKey,
    RepositoryId,
    StagingToken,
)
from lochan.model.instant import NANOSECONDS, Instant
from lochan.model.keys import BRANCHES, CLOCKS, OPEN, partition_of
from lochan.model.records import Branch, Clock, Commit, Repository
from lochan.operations.branches import create_branch
from lochan.operations.dump_refs import dump_refs
from lochan.operations.fsck import fsck
from lochan.operations.lake import Lake
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.read_object import stat_object
from lochan.operations.refs_dump import RefsDump, chunked
from lochan.operations.restore_refs import MARK, read_manifest, restore_refs
from lochan.refs.cleaner import Cleaner
from lochan.refs.deletion import delete_repository
from lochan.refs.kinship import Kinship
from support.grown_lake import DEV, MAIN, NAME, SECRET, bare, grown, head, open_lake, put, record
from support.lakes import Stage
from support.repository_life import at, every_call


def rows(store: Store, repository: Repository) -> dict[bytes, bytes | Branch]:
    """Give what is committed in a repository, with branches as they are without their tokens."""
    return {
        key: without_tokens(value) if key.startswith(BRANCHES) else value
        for key, value in store.scan(partition_of(repository))
        if not key.startswith(OPEN)
    }


def without_tokens(value: bytes) -> Branch:
    branch = decode_branch(value)
    assert branch.staging_token
    return msgspec.structs.replace(branch, staging_token=StagingToken(""), sealed_tokens=())


def restored(stage: Stage, repository: Repository) -> Stage:
    return Stage(stage.lake, repository, stage.storage)


def write_commits(stage: Stage, commits: list[Commit]) -> RefsDump:
    """Write a dump by hand: these commits, and no refs."""
    found = sorted((c.id.encode(), c.id.encode(), encode_commit(c)) for c in commits)
    tree = stage.storage.snapshots.apply(EMPTY_TREE, chunked(found)).id
    return RefsDump(
        commits_meta_range_id=tree, tags_meta_range_id=EMPTY_TREE, branches_meta_range_id=EMPTY_TREE
    )


def test_rel_R19_dumped_restored_and_dumped_again_is_equal_in_everything() -> None:
    stage = grown()
    dump = dump_refs(stage.lake, stage.repository)
    assert read_manifest(stage.lake, stage.repository) == dump
    target = bare(stage)
    done = restore_refs(stage.lake, target, dump)

    assert (done.tags, done.branches) == (1, 3)
    assert dump_refs(stage.lake, target) == dump
    assert rows(stage.lake.store, target) == rows(stage.lake.store, stage.repository)
    assert list(fsck(stage.lake)) == []


def test_rel_R19_a_repository_that_was_deleted_meanwhile_keeps_its_last_dump() -> None:
    stage = grown()
    dump = dump_refs(stage.lake, stage.repository)

    def delete_first(call: Call) -> Fault:
        if call.operation == "scan" and call.key.startswith(CLOCKS):
            delete_repository(stage.lake.store, stage.lake.environment, NAME)
            Cleaner(stage.lake.store, stage.lake.environment, grace_s=0).run()
        return Fault.OK

    watched = Faulty(stage.lake.store, delete_first, stage.lake.environment)
    with pytest.raises(RepositoryNotFound):
        dump_refs(open_lake(watched, stage.lake.environment, stage.storage), stage.repository)
    assert read_manifest(stage.lake, stage.repository) == dump


def test_rel_R19_a_repository_with_refs_is_refused() -> None:
    stage = grown()
    dump = dump_refs(stage.lake, stage.repository)
    before = rows(stage.lake.store, stage.repository)
    with pytest.raises(Refused, match="restore into a bare one"):
        restore_refs(stage.lake, stage.repository, dump)

    assert rows(stage.lake.store, stage.repository) == before


def test_a_restored_repository_is_worked_with_and_shows_nothing_that_was_staged() -> None:
    stage = grown()
    copy = restored(stage, bare(stage))
    restore_refs(stage.lake, copy.repository, dump_refs(stage.lake, stage.repository))
    with pytest.raises(NotFound):
        stat_object(copy.lake, copy.repository, DEV, ObjectKey(b"sealed"))
    record(copy, DEV, "more")
    merge(copy.lake, copy.repository, MAIN, head(copy, DEV), MergeRequest("ann"))

    assert stat_object(copy.lake, copy.repository, MAIN, ObjectKey(b"more")).size == 4
    assert stat_object(stage.lake, stage.repository, DEV, ObjectKey(b"sealed")).size == 6
    assert copy.lake.tables(copy.repository).branches.get(SECRET.encode()).record.hidden


@pytest.mark.parametrize(
    "fault", [Fault.CRASH_BEFORE, Fault.CRASH_AFTER, Fault.LOST_RESPONSE, Fault.ERROR]
)
def test_rel_R19_a_restore_that_fails_anywhere_is_repeated_and_ends_right(fault: Fault) -> None:
    stage = grown()
    dump = dump_refs(stage.lake, stage.repository)
    expected = rows(stage.lake.store, stage.repository)

    def run(number: int) -> Faulty:
        target = bare(stage, RepositoryId(f"try-{number}"))
        store = Faulty(stage.lake.store, fail_nth(number, fault), stage.lake.environment)
        with suppress(LochanError, Crashed):
            restore_refs(over(stage, store), target, dump)
        if rows(stage.lake.store, target) != expected:
            restore_refs(stage.lake, target, dump)
        assert rows(stage.lake.store, target) == expected
        return store

    assert every_call(run) > 30


def test_a_branch_that_an_earlier_try_has_made_keeps_what_was_staged_on_it() -> None:
    stage = grown()
    dump = dump_refs(stage.lake, stage.repository)
    copy = restored(stage, bare(stage))

    def dies_at_the_end(call: Call) -> Fault:
        is_end = call.operation == "delete" and call.key == MARK
        return Fault.CRASH_BEFORE if is_end else Fault.OK

    store = Faulty(stage.lake.store, dies_at_the_end, stage.lake.environment)
    with pytest.raises(Crashed):
        restore_refs(over(stage, store), copy.repository, dump)
    put(copy, MAIN, "early")
    restore_refs(stage.lake, copy.repository, dump)
    assert stat_object(stage.lake, copy.repository, MAIN, ObjectKey(b"early")).size == 5


def over(stage: Stage, store: Store) -> Lake:
    return open_lake(store, stage.lake.environment, stage.storage)


def test_another_dump_is_refused_while_one_is_being_restored() -> None:
    stage = grown()
    first = dump_refs(stage.lake, stage.repository)
    record(stage, MAIN, "later")
    second = dump_refs(stage.lake, stage.repository)
    target = bare(stage)
    store = Faulty(stage.lake.store, fail_nth(20, Fault.CRASH_AFTER), stage.lake.environment)
    with suppress(Crashed):
        restore_refs(over(stage, store), target, first)
    with pytest.raises(Refused, match="another dump"):
        restore_refs(stage.lake, target, second)
    restore_refs(stage.lake, target, first)

    assert dump_refs(stage.lake, target) == first


def test_a_repository_that_was_filled_between_look_and_claim_is_left_alone() -> None:
    stage = grown()
    first = dump_refs(stage.lake, stage.repository)
    record(stage, MAIN, "later")
    second = dump_refs(stage.lake, stage.repository)

    def run(number: int) -> Faulty:
        target = bare(stage, RepositoryId(f"race-{number}"))
        plan = at(number, lambda: whole(stage, target, first))
        store = Faulty(stage.lake.store, plan, stage.lake.environment)
        with suppress(Refused):
            restore_refs(over(stage, store), target, second)
        assert dump_refs(stage.lake, target) in {first, second}
        assert MARK not in rows(stage.lake.store, target)
        return store

    assert every_call(run) > 30


def whole(stage: Stage, target: Repository, dump: RefsDump) -> None:
    with suppress(Refused):
        restore_refs(stage.lake, target, dump)


def test_a_dump_that_is_not_whole_changes_nothing() -> None:
    stage = grown()
    commits = [
        decode_commit(row.value)
        for row in stage.storage.snapshots.cursor(
            dump_refs(stage.lake, stage.repository).commits_meta_range_id
        )
    ]
    orphaned = [commit for commit in commits if commit.parents]
    damaged = [msgspec.structs.replace(commits[0], message="changed"), *commits[1:]]
    tip = head(stage, MAIN)
    line, place = tip.clocks[-1]
    late = child_of(tip, (*tip.clocks[:-1], Clock(line, place + 2)))
    strange = child_of(tip, (Clock(LineageId("f" * 32), 0), Clock(line, place + 1)))
    alone = child_of(tip, (*tip.clocks, Clock(LineageId("e" * 32), 1)))
    target = bare(stage)
    for found in (orphaned, damaged, [*commits, late], [*commits, strange], [*commits, alone]):
        with pytest.raises(Corruption):
            restore_refs(stage.lake, target, write_commits(stage, found))
        assert rows(stage.lake.store, target) == {}
    assert restore_refs(stage.lake, target, write_commits(stage, commits)).commits == len(commits)


def child_of(parent: Commit, clocks: tuple[Clock, ...]) -> Commit:
    return new_commit(
        committer="ann",
        message="by hand",
        creation_date=parent.creation_date,
        meta_range_id=parent.meta_range_id,
        clocks=clocks,
        parents=(parent.id,),
        generation=parent.generation + 1,
    )


@pytest.mark.parametrize("field", ["commits", "tags", "branches"])
def test_a_mistyped_dump_does_not_keep_the_right_one_out(field: str) -> None:
    stage = grown()
    right = dump_refs(stage.lake, stage.repository)
    names = {f"{field}_meta_range_id": MetaRangeId("0" * 64)}
    mistyped = msgspec.structs.replace(right, **names)
    target = bare(stage)
    for _ in range(2):
        with pytest.raises(NotFound, match="check the dump's ids"):
            restore_refs(stage.lake, target, mistyped)
        assert rows(stage.lake.store, target) == {}
    restore_refs(stage.lake, target, right)
    assert dump_refs(stage.lake, target) == right


def test_a_dump_that_is_not_whole_does_not_stop_another_restore() -> None:
    stage = grown()
    right = dump_refs(stage.lake, stage.repository)
    mistyped = msgspec.structs.replace(right, commits_meta_range_id=MetaRangeId("0" * 64))
    target = bare(stage)
    store = Faulty(stage.lake.store, fail_nth(20, Fault.CRASH_AFTER), stage.lake.environment)
    with suppress(Crashed):
        restore_refs(over(stage, store), target, right)
    with pytest.raises(Refused, match="another dump"):
        restore_refs(stage.lake, target, mistyped)
    restore_refs(stage.lake, target, right)
    assert dump_refs(stage.lake, target) == right


def test_attempts_that_lost_are_not_dumped_and_deleted_branches_are() -> None:
    stage = grown()
    tables = stage.lake.tables(stage.repository)
    before = dump_refs(stage.lake, stage.repository)
    made = head(stage, MAIN)
    lost = msgspec.structs.replace(made, id=CommitId("f" * 64), message="lost its race")
    tables.commits.set(lost.id.encode(), lost)
    messages = {
        decode_commit(row.value).message
        for row in stage.storage.snapshots.cursor(before.commits_meta_range_id)
    }

    assert dump_refs(stage.lake, stage.repository) == before
    assert "on old" in messages


def test_a_line_that_was_merged_while_the_dump_was_made_never_gives_a_place_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Branch aaa is read before it commits, and main after it merged that commit."""
    monkeypatch.setattr(memory, "_PAGE_ROWS", 1)  # so that a scan sees what changes behind it
    line = BranchName("aaa")

    def overtake(stage: Stage) -> None:
        made = record(stage, line, "two")
        merge(stage.lake, stage.repository, MAIN, made, MergeRequest("ann"))

    def run(number: int) -> Faulty:
        stage = grown()
        create_branch(stage.lake, stage.repository, line, head(stage, DEV).id)
        record(stage, line, "one")
        plan = at(number, lambda: overtake(stage))
        store = Faulty(stage.lake.store, plan, stage.lake.environment)
        dump = dump_refs(over(stage, store), stage.repository)
        copy = restored(stage, bare(stage))
        restore_refs(stage.lake, copy.repository, dump)
        record(copy, line, "three")
        tables = copy.lake.tables(copy.repository)
        places = [commit.clocks[-1] for _, commit in tables.commits.scan()]
        assert len(places) == len(set(places))
        return store

    assert every_call(run) > 40


def test_history_of_lakefs_is_restored_with_its_ids_and_gets_clocks_and_generations() -> None:
    stage = grown()
    first = imported(None)
    second, third = imported(first), imported(first, date=2)
    merged = imported(second, third, date=3)
    target = bare(stage)
    dump = write_commits(stage, [first, second, third, merged])
    restore_refs(stage.lake, target, dump)
    commits = stage.lake.tables(target).commits
    found = [commits.get(c.id.encode()).record for c in (first, second, third, merged)]
    kin = Kinship.of(stage.lake.store, target)

    assert [commit.generation for commit in found] == [1, 2, 2, 3]
    assert [len(commit.clocks) for commit in found] == [1, 1, 2, 1]
    assert kin.is_ancestor(found[2], found[3])
    assert kin.merge_base(found[1], found[2]) == found[0]
    create_branch(stage.lake, target, MAIN, merged.id)
    made = record(restored(stage, target), MAIN, "new")
    assert (made.generation, made.version) == (4, 100)
    assert dump_refs(stage.lake, target) == dump_refs(stage.lake, target)


def imported(*parents: Commit | None, date: int = 1) -> Commit:
    """Make a commit as lakeFS has it: version 1, no clock, no generation."""
    bare_commit = Commit(
        id=CommitId(""),
        committer="bob",
        message=f"at {date}",
        creation_date=Instant(date * NANOSECONDS),
        meta_range_id=EMPTY_TREE,
        parents=tuple(parent.id for parent in parents if parent),
        version=1,
        generation=0,
    )
    return msgspec.structs.replace(bare_commit, id=commit_id(bare_commit))
