# SPDX-License-Identifier: Apache-2.0
"""The end of an open commit: finished, failed, or finished by somebody else."""

import pytest

from lochan.errors import Conflict, InvalidInput, NotFound
from lochan.kv.store import Store
from lochan.model.codec import decode_entry
from lochan.model.ids import ObjectKey, OpenCommitId
from lochan.model.instant import EPOCH
from lochan.model.records import Clock, Commit, Repository
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.open_commits.cancel_commit import cancel_commit
from lochan.operations.open_commits.finish_commit import finish_commit
from lochan.operations.open_commits.inspect_commit import inspect_commit
from lochan.operations.put_object import put_object
from lochan.operations.read_object import stat_object
from lochan.operations.seal import seal
from lochan.refs.cleaner import Cleaner
from lochan.refs.deletion import delete_repository
from lochan.refs.notes import note_open_commit
from lochan.refs.open_commits import State, get_open_commit, list_open_commits, state_of
from support.lakes import MAIN
from support.open_commits import DELETE, Desk


@pytest.fixture
def desk() -> Desk:
    return Desk()


def swept(desk: Desk, runs: int = 3) -> None:
    cleaner = Cleaner(desk.stage.lake.store, desk.stage.lake.environment, grace_s=0)
    for _ in range(runs):
        assert cleaner.run().skipped == ()


def test_pach_F1_finishing_sets_finished(desk: Desk) -> None:
    opened = desk.start(branch="main")
    made = finish_commit(*desk.where, opened.id, message="done", metadata={"k": "v"})

    assert EPOCH < made.started == opened.started <= made.finished == made.creation_date
    assert (made.message, made.metadata["k"]) == ("done", "v")
    assert desk.head() == made


def test_pach_F2_a_second_finish_is_an_error(desk: Desk) -> None:
    opened = desk.start(branch="main")
    made = desk.finish(opened)
    with pytest.raises(Conflict, match="is finished") as told:
        desk.finish(opened)
    assert told.value.facts["commit_id"] == made.id
    assert desk.head() == made


def test_pach_F3_a_finished_commit_takes_nothing_more(desk: Desk) -> None:
    opened = desk.start(branch="main")
    desk.put(opened, "f", b"x")
    made = desk.finish(opened)
    with pytest.raises(Conflict, match="is finished"):
        desk.put(opened, "f", b"y")
    with pytest.raises(Conflict, match="is finished"):
        desk.delete(opened, "f")
    assert desk.read("f", made) == b"x"


def test_pach_F4_the_id_of_an_open_commit_goes_on_naming_what_came_of_it(desk: Desk) -> None:
    opened = desk.start(branch="main")
    desk.put(opened, "f", b"x")
    made = desk.finish(opened)
    assert inspect_commit(*desk.where, opened.id).id == made.id
    assert desk.read("f", opened.id) == b"x"


def test_pach_F6_a_cancelled_commit_has_failed_and_is_nobodys_base(desk: Desk) -> None:
    opened = desk.start(branch="main")
    desk.put(opened, "f", b"x")
    before = desk.head()
    cancel_commit(*desk.where, opened.id, "the job was stopped")

    assert inspect_commit(*desk.where, opened.id).error == "the job was stopped"
    for use in (
        lambda: desk.finish(opened),
        lambda: desk.put(opened, "f", b"y"),
        lambda: desk.start(parent=opened.id),
        lambda: cancel_commit(*desk.where, opened.id),
    ):
        with pytest.raises(Conflict, match="is failed"):
            use()
    assert desk.head() == before


def test_pach_F6_a_commit_that_lost_its_place_has_failed(desk: Desk) -> None:
    first = desk.commit(branch="foo", f=b"x")
    opened = desk.start(parent=first.id)
    desk.commit(branch="foo", g=b"y")
    with pytest.raises(Conflict, match="is not the head"):
        desk.finish(opened)
    found = get_open_commit(*store_of(desk), opened.id).record
    assert (state_of(found), found.staging_token) == (State.FAILED, "")


def store_of(desk: Desk) -> tuple[Store, Repository]:
    lake, repository = desk.where
    return lake.store, repository


def test_pach_F7_a_finished_commit_never_changes(desk: Desk) -> None:
    first = desk.commit(branch="main", f=b"1")
    tree = desk.files(first)
    desk.commit(branch="main", f=b"2", g=b"3")
    desk.commit(branch="main", f=DELETE)
    swept(desk)
    assert desk.files(first) == tree == {"f": b"1"}


def test_a_reason_is_needed_and_what_was_never_started_is_not_found(desk: Desk) -> None:
    with pytest.raises(InvalidInput):
        cancel_commit(*desk.where, desk.start(branch="main").id, "")
    with pytest.raises(NotFound, match="never started"):
        desk.finish(OpenCommitId("0" * 32))


def epoch(desk: Desk, path: bytes, commit: Commit) -> Clock | None:
    record = desk.stage.storage.snapshots.get(commit.meta_range_id, path)
    assert record is not None
    return decode_entry(record.value).epoch


def test_an_epoch_is_the_clock_of_the_commit_that_created_the_file(desk: Desk) -> None:
    first = desk.commit(branch="main", f=b"1")
    second = desk.commit(branch="main", f=b"2", g=b"3")
    fork = desk.commit(parent=first.id, branch="side", f=b"4", h=b"5")

    assert epoch(desk, b"f", first) == epoch(desk, b"f", second) == first.clocks[-1]
    assert epoch(desk, b"f", fork) == first.clocks[-1]
    assert epoch(desk, b"g", second) == second.clocks[-1]
    assert epoch(desk, b"h", fork) == fork.clocks[-1]


def test_a_head_that_moved_gives_new_files_another_epoch(desk: Desk) -> None:
    opened = desk.start(branch="main")
    desk.put(opened, "f", b"1")
    desk.put(opened, "g", b"2")
    other = desk.commit(branch="main", f=b"0")
    made = desk.finish(opened)

    assert desk.files(made) == {"f": b"01", "g": b"2"}
    assert epoch(desk, b"f", made) == other.clocks[-1]
    assert epoch(desk, b"g", made) == made.clocks[-1]


def test_a_deletion_is_of_what_the_head_holds_when_the_commit_is_finished(desk: Desk) -> None:
    opened = desk.start(branch="main")
    desk.delete(opened, "f")
    desk.commit(branch="main", f=b"0", g=b"1")
    assert desk.files(desk.finish(opened)) == {"g": b"1"}


def test_rel_H7_what_a_commit_under_way_had_sealed_is_carried_along(desk: Desk) -> None:
    opened = desk.start(branch="main")
    desk.put(opened, "f", b"1")
    put_object(*desk.where, MAIN, ObjectKey(b"sealed"), b"x")
    seal(*desk.where, MAIN)  # and its committer dies here
    desk.stage.lake.branches.fresh(desk.stage.repository, MAIN)
    put_object(*desk.where, MAIN, ObjectKey(b"staged"), b"y")
    made = desk.finish(opened)

    assert set(desk.files(made)) == {"f"}
    branch = desk.stage.lake.branches.fresh(desk.stage.repository, MAIN).record
    assert branch.sealed_tokens == ()
    last = commit(*desk.where, MAIN, CommitRequest("ada", "rest"))
    assert set(desk.files(last)) == {"f", "sealed", "staged"}


def test_rel_G8_a_staged_row_that_changes_nothing_does_not_undo_a_finish(desk: Desk) -> None:
    put_object(*desk.where, MAIN, ObjectKey(b"f"), b"old")
    commit(*desk.where, MAIN, CommitRequest("ada", "first"))
    put_object(*desk.where, MAIN, ObjectKey(b"f"), b"old")
    desk.commit(branch="main", f=b" and new")
    assert stat_object(*desk.where, "main", ObjectKey(b"f")).size == len(b"old and new")


def test_uncommitted_changes_stay_staged_over_a_finish(desk: Desk) -> None:
    put_object(*desk.where, MAIN, ObjectKey(b"g"), b"staged")
    made = desk.commit(branch="main", f=b"x")
    assert desk.files(made) == {"f": b"x"}
    last = commit(*desk.where, MAIN, CommitRequest("ada", "rest"))
    assert desk.files(last) == {"f": b"x", "g": b"staged"}


def test_two_files_that_were_put_at_once_cannot_be_one_and_a_directory(desk: Desk) -> None:
    opened = desk.start(branch="main")
    desk.put(opened, "a", b"1")
    other = desk.start(branch="main")
    desk.put(other, "a/b", b"2")
    row = desk.stage.lake.staging.find(other.staging_token, b"a/b")
    assert row is not None
    desk.stage.lake.staging.set(opened.staging_token, row[0])  # as a put that raced would
    before = desk.head()
    with pytest.raises(Conflict, match="'a' cannot be a file and a directory"):
        desk.finish(opened)
    assert desk.head() == before
    cancel_commit(*desk.where, opened.id)


def test_what_others_commit_can_make_a_path_a_directory(desk: Desk) -> None:
    opened = desk.start(branch="main")
    desk.put(opened, "a", b"1")
    desk.commit(branch="main", a__b=b"2")
    with pytest.raises(Conflict, match="cannot be a file and a directory"):
        desk.finish(opened)
    desk.commit(branch="main", a=DELETE)
    assert desk.files(desk.finish(opened)) == {"a": b"1"}


def test_the_cleaner_wipes_the_token_of_a_finished_commit_and_of_no_other(desk: Desk) -> None:
    staging = desk.stage.lake.staging
    done, failed, kept = (desk.start(branch="main") for _ in range(3))
    for opened in (done, failed, kept):
        desk.put(opened, "f", b"x")
    desk.finish(done)
    cancel_commit(*desk.where, failed.id)
    swept(desk)

    assert staging.is_empty(done.staging_token)
    assert staging.is_empty(failed.staging_token)
    assert not staging.is_empty(kept.staging_token)
    left = [each.id for each in list_open_commits(*store_of(desk))]
    assert left == sorted([failed.id, kept.id])
    with pytest.raises(NotFound, match="was finished some time ago"):
        desk.finish(done)
    assert desk.read("f", desk.finish(kept)) == b"xx"


def test_a_note_about_a_token_that_is_still_named_wipes_nothing(desk: Desk) -> None:
    lake, repository = desk.where
    opened = desk.start(branch="main")
    desk.put(opened, "f", b"x")
    note_open_commit(lake.store, lake.environment, repository, opened)
    swept(desk)
    assert desk.read("f", desk.finish(opened)) == b"x"


def test_open_commits_of_a_deleted_repository_leave_nothing(desk: Desk) -> None:
    lake, repository = desk.where
    opened = desk.start(branch="main")
    desk.put(opened, "f", b"x")
    delete_repository(lake.store, lake.environment, repository.repository_id)
    swept(desk, runs=6)

    assert lake.staging.is_empty(opened.staging_token)
    assert list(list_open_commits(*store_of(desk))) == []
    assert list(lake.store.scan(b"cleanup-tokens")) == []
