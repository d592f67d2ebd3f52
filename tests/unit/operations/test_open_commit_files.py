# SPDX-License-Identifier: Apache-2.0
"""Files of open and finished commits: put, delete, list, inspect, read."""

import hashlib
from collections.abc import Iterator
from functools import partial

import pytest

from lochan.committed import Files, Snapshots
from lochan.errors import Conflict, InvalidInput, NotFound
from lochan.model.ids import ObjectKey, OpenCommitId, StorageNamespace
from lochan.model.records import Commit, OpenCommit
from lochan.objects.faulty import Faulty, no_faults
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.delete_objects import delete_objects
from lochan.operations.lake import Lake, Storage
from lochan.operations.open_commits.cancel_commit import cancel_commit
from lochan.operations.open_commits.inspect_commit import inspect_commit
from lochan.operations.open_commits.inspect_file import FileKind, get_file, inspect_file
from lochan.operations.open_commits.link_file import link_file
from lochan.operations.open_commits.list_file import list_file
from lochan.operations.open_commits.put_file import Mode, put_file
from lochan.operations.put_object import put_object
from lochan.operations.read_object import stat_object
from support.clock_world import Counting
from support.lakes import MAIN, open_stage
from support.open_commits import DELETE, Desk


@pytest.fixture
def desk() -> Desk:
    return Desk()


def blocks_of(desk: Desk, path: str, at: Commit | OpenCommit) -> list[bytes]:
    entry = inspect_file(*desk.where, path, at.id).entry
    return [block.hash for block in entry.blocks] if entry else []


def stored(desk: Desk) -> list[str]:
    found = desk.stage.storage.objects.list("data/blocks/").entries
    return [listed.address for listed in found]


def test_pach_P1_a_put_makes_the_file_and_later_ones_append_to_it(desk: Desk) -> None:
    opened = desk.start(branch="main")
    put_file(*desk.where, opened.id, "a/f.csv", [b"one", b"two", b"thr"], block_bytes=4)
    assert blocks_of(desk, "a/f.csv", opened) == [
        hashlib.sha256(piece).digest() for piece in (b"onet", b"woth", b"r")
    ]
    desk.put(opened, "a/f.csv", b"ee")
    assert desk.read("a/f.csv", desk.finish(opened)) == b"onetwothree"


def test_pach_P2_puts_append_in_the_order_of_calls_and_across_commits(desk: Desk) -> None:
    opened = desk.start(branch="main")
    for piece in (b"1", b"2", b"3"):
        desk.put(opened, "f", piece)
    desk.finish(opened)
    made = desk.commit(branch="main", f=b"4")
    assert desk.read("f", made) == b"1234"


def test_pach_P2_an_overwrite_keeps_nothing(desk: Desk) -> None:
    first = desk.commit(branch="main", f=b"old")
    opened = desk.start(branch="main")
    desk.put(opened, "f", b"lost")
    desk.put(opened, "f", b"new", Mode.OVERWRITE)
    desk.put(opened, "f", b"er")
    made = desk.finish(opened)

    assert desk.read("f", made) == b"newer"
    assert desk.read("f", made, first) == b"newer"


def test_pach_P3_a_stream_that_fails_leaves_no_reference(desk: Desk) -> None:
    def broken() -> Iterator[bytes]:
        yield b"x" * 10
        raise OSError("gone")

    opened = desk.start(branch="main")
    desk.put(opened, "f", b"whole")
    with pytest.raises(OSError, match="gone"):
        put_file(*desk.where, opened.id, "f", broken(), block_bytes=4)
    assert len(stored(desk)) > 1
    assert desk.read("f", desk.finish(opened)) == b"whole"


def test_pach_P4_deleting_what_is_not_there_succeeds(desk: Desk) -> None:
    desk.commit(branch="main", f=b"x")
    made = desk.commit(branch="main", f=DELETE, never=DELETE)
    assert desk.files(made) == {}


def test_pach_P5_after_a_deletion_only_what_came_later_counts(desk: Desk) -> None:
    first = desk.commit(branch="main", f=b"old")
    opened = desk.start(branch="main")
    desk.put(opened, "f", b"lost")
    desk.delete(opened, "f")
    with pytest.raises(NotFound):
        desk.read("f", opened.id)
    desk.put(opened, "f", b"new")
    made = desk.finish(opened)
    assert desk.read("f", made) == desk.read("f", made, first) == b"new"


def test_pach_P6_directories_follow_from_their_files(desk: Desk) -> None:
    opened = desk.start(branch="main")
    for path in ("a/b/c", "a/d", "a-b", "e"):
        desk.put(opened, path, b"x")
    made = desk.finish(opened)

    def listed(path: str, at: str) -> list[tuple[bytes, str]]:
        return [(each.path, each.kind) for each in list_file(*desk.where, path, at)]

    assert listed("", made.id) == [(b"a-b", "file"), (b"a", "directory"), (b"e", "file")]
    assert listed("a", made.id) == [(b"a/b", "directory"), (b"a/d", "file")]
    assert inspect_file(*desk.where, "a/b", made.id).kind is FileKind.DIRECTORY
    with pytest.raises(InvalidInput, match="is a file"):
        listed("e", made.id)
    with pytest.raises(NotFound):
        listed("a/x", made.id)


def test_pach_P6_deleting_a_directory_deletes_what_is_under_it(desk: Desk) -> None:
    desk.commit(branch="main", a__b__c=b"1", a__d=b"2", ab=b"3")
    opened = desk.start(branch="main")
    desk.put(opened, "a/e", b"4")
    desk.delete(opened, "a")
    assert [each.path for each in list_file(*desk.where, "", opened.id)] == [b"ab"]
    desk.put(opened, "a", b"a file now")
    assert desk.files(desk.finish(opened)) == {"a": b"a file now", "ab": b"3"}


@pytest.mark.parametrize("paths", [("a", "a/b"), ("a/b", "a"), ("a/b/c", "a"), ("a", "a/b/c")])
def test_pach_P6_a_path_is_not_a_file_and_a_directory(desk: Desk, paths: tuple[str, str]) -> None:
    opened = desk.start(branch="main")
    desk.put(opened, paths[0], b"x")
    with pytest.raises(Conflict, match="cannot be a file and a directory"):
        desk.put(opened, paths[1], b"x")
    desk.finish(opened)
    with pytest.raises(Conflict, match="cannot be a file and a directory"):
        desk.put(desk.start(branch="main"), paths[1], b"x")


@pytest.mark.parametrize("path", ["", "/a", "a/", "a//b", "a" * 1025])
def test_what_is_no_path_is_refused(desk: Desk, path: str) -> None:
    opened = desk.start(branch="main")
    with pytest.raises(InvalidInput):
        desk.put(opened, path, b"x")
    with pytest.raises(InvalidInput):
        desk.delete(opened, path)


def test_pach_P7_the_same_bytes_are_the_same_block(desk: Desk) -> None:
    made = desk.commit(branch="main", f=b"same", g=b"same", h=b"other")
    assert blocks_of(desk, "f", made) == blocks_of(desk, "g", made)
    assert len(stored(desk)) == 2


def test_an_empty_put_makes_an_empty_file(desk: Desk) -> None:
    made = desk.commit(branch="main", f=b"")
    assert inspect_file(*desk.where, "f", made.id).size == 0
    assert desk.files(desk.commit(branch="main", f=b"x")) == {"f": b"x"}


def test_an_object_that_was_put_whole_becomes_the_first_block(desk: Desk) -> None:
    put_object(*desk.where, MAIN, ObjectKey(b"f"), b"whole")
    plain = commit(*desk.where, MAIN, CommitRequest("ada", "plain"))
    opened = desk.start(branch="main")
    desk.put(opened, "f", b" and more")
    assert desk.read("f", opened.id) == b"whole and more"
    made = desk.finish(opened)

    assert desk.read("f", made) == b"whole and more"
    assert desk.read("f", made, plain) == b" and more"
    assert blocks_of(desk, "f", made)[0] == hashlib.sha256(b"whole").digest()


def test_an_object_put_whole_over_a_file_takes_it_away(desk: Desk) -> None:
    first = desk.commit(branch="main", f=b"blocks")
    put_object(*desk.where, MAIN, ObjectKey(b"f"), b"whole")
    plain = commit(*desk.where, MAIN, CommitRequest("ada", "plain"))
    assert desk.read("f", plain, first) == b"whole"
    with pytest.raises(NotFound):
        desk.read("f", plain, plain)


def test_files_of_blocks_are_objects_of_the_branch(desk: Desk) -> None:
    desk.commit(branch="main", f=b"one")
    desk.commit(branch="main", f=b"two")
    assert stat_object(*desk.where, "main", ObjectKey(b"f")).size == 6
    delete_objects(*desk.where, MAIN, [ObjectKey(b"f")])
    made = commit(*desk.where, MAIN, CommitRequest("ada", "gone"))
    assert desk.files(made) == {}


def test_pach_I1_pach_I2_a_deletion_hides_what_came_before_it(desk: Desk) -> None:
    c1 = desk.commit(branch="main", f=b"1")
    c2 = desk.commit(branch="main", f=b"2")
    desk.commit(branch="main", f=DELETE)
    c4 = desk.commit(branch="main", f=b"4")
    c5 = desk.commit(branch="main", f=b"5")

    assert desk.read("f", c5) == desk.read("f", c5, c1) == desk.read("f", c5, c2) == b"45"
    assert desk.read("f", c5, c4) == b"5"
    assert desk.read("f", c2, c1) == b"2"


def test_pach_I1_of_several_deletions_the_last_one_counts(desk: Desk) -> None:
    c1 = desk.commit(branch="main", f=b"1")
    d1 = desk.commit(branch="main", f=DELETE)
    c2 = desk.commit(branch="main", f=b"2")
    d2 = desk.commit(branch="main", f=DELETE)
    c3 = desk.commit(branch="main", f=b"3")
    c4 = desk.commit(branch="main", f=b"4")

    for since in (None, c1, d1, c2, d2):
        assert desk.read("f", c4, since) == b"34", "nothing of before the second deletion"
    assert desk.read("f", c4, c3) == b"4"
    for since in (None, c1, d1):
        assert desk.read("f", c2, since) == b"2", "up to there the first one is the last"
    for since in (None, c1, d1, c2):
        with pytest.raises(NotFound):
            desk.read("f", d2, since)


def test_pach_I1_of_several_deletions_in_one_commit_the_last_one_counts(desk: Desk) -> None:
    first = desk.commit(branch="main", f=b"1")
    opened = desk.start(branch="main")
    for piece in (b"2", b"3"):
        desk.delete(opened, "f")
        desk.put(opened, "f", piece)
    made = desk.finish(opened)
    assert desk.read("f", made) == desk.read("f", made, first) == b"3"


def test_pach_I3_the_size_is_that_of_what_is_covered(desk: Desk) -> None:
    c1 = desk.commit(branch="main", f=b"123", g=b"x")
    c2 = desk.commit(branch="main", f=b"45")
    c3 = desk.commit(branch="main", f=DELETE)

    assert inspect_file(*desk.where, "f", c2.id).size == 5
    assert inspect_file(*desk.where, "f", c2.id, c1.id).size == 2
    nothing = (("f", c3, None), ("f", c3, c1), ("g", c2, c1), ("g", c1, c1), ("f", c1, c2))
    for path, to, since in nothing:
        with pytest.raises(NotFound, match="there is nothing of file"):
            inspect_file(*desk.where, path, to.id, since.id if since else None)


def test_pach_I4_bytes_come_before_the_next_block_is_opened(desk: Desk) -> None:
    c1 = desk.commit(branch="main", f=b"one")
    c2 = desk.commit(branch="main", f=b"two")
    second = inspect_file(*desk.where, "f", c2.id, c1.id).entry
    assert second is not None
    desk.stage.storage.objects.delete(second.blocks[0].address)
    with get_file(*desk.where, "f", c2.id) as reading:
        assert next(iter(reading)) == b"one"


def test_pach_I5_the_examples_of_the_page(desk: Desk) -> None:
    c1, _, c3 = (desk.commit(branch="one", f=body) for body in (b"foo", b"bar", b"buzz"))
    assert desk.read("f", c3, c1) == b"barbuzz"

    d1, *_, d4 = (desk.commit(branch="other", f=body) for body in (b"foo", b"bar", DELETE, b"buzz"))
    assert desk.read("f", d4, d1) == b"buzz"


def test_pach_I6_deletions_on_other_branches_do_not_count(desk: Desk) -> None:
    c1 = desk.commit(branch="one", f=b"1")
    desk.commit(parent=c1.id, branch="side", f=DELETE)
    c2 = desk.commit(parent=c1.id, f=b"2")
    assert desk.read("f", c2) == b"12"
    assert desk.read("f", c2, c1) == b"2"


def held(storage: Storage, _: StorageNamespace) -> Storage:
    return storage


@pytest.mark.parametrize("named_by", ["hash", "number"])
def test_pach_I7_reads_do_not_grow_with_history(named_by: str) -> None:
    counts = []
    for length in (3, 40):
        stage = open_stage()
        desk = Desk(stage)
        made = [desk.commit(branch="one", f=b"%d" % number) for number in range(length)]
        last = made[-1].id if named_by == "hash" else f"readings/one/{length - 1}"
        first = made[0].id if named_by == "hash" else "readings/one/0"
        counting, world = Counting(stage.lake.store), stage.lake.environment
        objects = Faulty(stage.storage.objects, no_faults, world)
        uncached = Snapshots(Files(objects, world), world)
        storage = Storage(objects, stage.storage.addresses, uncached)
        lake = Lake.of(counting, world, partial(held, storage))
        assert inspect_file(lake, stage.repository, "f", last, first).size > 0
        counts.append((counting.reads, objects.calls))
    print(f"reads of the KV store, calls to the object store: {counts}")
    assert counts[0] == counts[1]
    reads, calls = counts[0]
    assert reads <= 14
    assert calls <= 12


def test_pach_F6_the_files_of_a_failed_commit_are_gone_and_it_says_why(desk: Desk) -> None:
    desk.commit(branch="main", f=b"0")
    opened = desk.start(branch="main")
    desk.put(opened, "f", b"x")
    cancel_commit(*desk.where, opened.id, "the job was stopped")
    for look in (
        lambda: inspect_file(*desk.where, "f", opened.id),
        lambda: desk.read("f", opened.id),
        lambda: list(list_file(*desk.where, "", opened.id)),
        lambda: inspect_file(*desk.where, "f", "main", opened.id),
    ):
        with pytest.raises(Conflict, match="failed: the job was stopped; its files are gone") as no:
            look()
        assert no.value.code == "commit-failed"


@pytest.mark.parametrize("name", ["\udcff", "caf\udce9"])
def test_a_name_that_is_no_text_names_no_commit(desk: Desk, name: str) -> None:
    for use in (
        lambda: inspect_commit(*desk.where, name),
        lambda: inspect_file(*desk.where, "f", name),
        lambda: desk.start(parent=name),
    ):
        with pytest.raises(InvalidInput, match="half of a surrogate pair"):
            use()
    for end in (desk.finish, lambda open_id: cancel_commit(*desk.where, open_id)):
        with pytest.raises(NotFound, match="never started"):
            end(OpenCommitId(name))


def test_pach_F4_an_open_commit_is_read_by_its_id(desk: Desk) -> None:
    desk.commit(branch="main", f=b"1", g=b"2")
    opened = desk.start(branch="main")
    desk.put(opened, "f", b"+")
    desk.delete(opened, "g")
    desk.put(opened, "d/h", b"3")

    assert desk.read("f", opened.id) == b"1+"
    listed = [(each.path, each.size) for each in list_file(*desk.where, "", opened.id)]
    assert listed == [(b"d", 0), (b"f", 2)]
    assert desk.read("f", desk.head()) == b"1"
    assert desk.read("f", opened.id, desk.head()) == b"+"


def test_files_are_described_by_every_name_of_a_commit(desk: Desk) -> None:
    made = desk.commit(branch="one", f=b"x")
    for name in (made.id, "readings/one/0", "one/0", "one.0", "one", "one@", made.id[:9]):
        assert desk.read("f", name) == b"x"
    with pytest.raises(InvalidInput, match="another repository"):
        desk.read("f", "others/one/0")


def test_an_object_that_is_stored_is_linked_without_its_bytes_and_replaces_what_was_there(
    desk: Desk,
) -> None:
    linked = put_object(*desk.where, MAIN, ObjectKey(b"elsewhere"), b"whole", metadata={"k": "v"})
    first = desk.start(branch="files")
    desk.put(first, "f", b"before")
    parent = desk.finish(first)
    opened = desk.start(parent.id)
    link_file(*desk.where, opened.id, "f", linked)
    link_file(*desk.where, opened.id, "f", linked)
    assert desk.read("f", opened.id) == b"whole"
    made = desk.finish(opened)
    assert inspect_file(*desk.where, "f", made.id).entry == linked
    assert desk.read("f", made) == b"whole"


def test_a_linked_file_takes_no_appends_in_the_same_commit_but_may_be_overwritten(
    desk: Desk,
) -> None:
    linked = put_object(*desk.where, MAIN, ObjectKey(b"elsewhere"), b"whole")
    opened = desk.start(branch="files")
    link_file(*desk.where, opened.id, "f", linked)
    with pytest.raises(Conflict, match="was linked in this commit"):
        desk.put(opened, "f", b"more")
    put_file(*desk.where, opened.id, "f", b"other", mode=Mode.OVERWRITE)
    made = desk.finish(opened)
    later = desk.start(made.id)
    desk.put(later, "f", b" and more")
    assert desk.read("f", desk.finish(later)) == b"other and more"


def test_only_one_object_of_the_repository_is_linked_and_only_where_a_file_can_be(
    desk: Desk,
) -> None:
    linked = put_object(*desk.where, MAIN, ObjectKey(b"elsewhere"), b"whole")
    opened = desk.start(branch="files")
    desk.put(opened, "a/f", b"body")
    with pytest.raises(Conflict, match="file and a directory"):
        link_file(*desk.where, opened.id, "a", linked)
    blocks = inspect_file(*desk.where, "a/f", opened.id).entry
    assert blocks is not None
    with pytest.raises(InvalidInput, match="one object of the repository"):
        link_file(*desk.where, opened.id, "b", blocks)
