# SPDX-License-Identifier: Apache-2.0
"""Imports: what they replace, what they leave, and that they come whole or not at all."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lochan.committed import Cuts
from lochan.errors import InvalidInput, NotFound, Unavailable
from lochan.faults import Fault
from lochan.model.codec import decode_entry
from lochan.model.entry import AddressType
from lochan.model.instant import Instant
from lochan.model.records import Commit
from lochan.objects.drivers.memory import MemoryObjects
from lochan.objects.drivers.plain import PlainFiles
from lochan.objects.faulty import Faulty, fail_nth_page
from lochan.objects.store import ObjectStore
from lochan.operations import import_objects as importing
from lochan.operations.diff import diff_two_dot, diff_uncommitted
from lochan.operations.import_objects import ImportRequest, ListedObject, import_objects
from lochan.operations.import_paths import ImportPath, PathKind, import_paths, list_foreign
from support.branch_content import (
    FAULTS,
    WORLD,
    content,
    fail_each_call,
    put,
    record,
    records,
    with_stores,
)
from support.lakes import MAIN, Stage, open_stage


def listed(*names: str, bucket: str = "bucket", tag: str = "") -> list[ListedObject]:
    return [
        ListedObject(name.encode(), f"s3://{bucket}/{name}", len(name), tag or name, Instant(7))
        for name in names
    ]


def bring(stage: Stage, objects: list[ListedObject], *replaced: bytes) -> Commit:
    request = ImportRequest("ada", metadata={"by": "test"}, replaced=replaced)
    return import_objects(stage.lake, stage.repository, MAIN, objects, request)


def addresses(stage: Stage, ref: str = MAIN) -> dict[bytes, str]:
    return {row.key: decode_entry(row.value).address for row in records(stage, ref)}


def keys(stage: Stage, ref: str = MAIN) -> set[bytes]:
    return {row.key for row in records(stage, ref)}


def test_an_import_is_one_commit_of_entries_in_full() -> None:
    stage = open_stage()
    made = bring(stage, listed("b", "a"))
    assert (made.message, made.committer) == ("Import objects", "ada")
    assert made.metadata == {"by": "test", ".lakefs.merge.strategy": "source-wins"}
    first = next(records(stage, made.id))
    entry = decode_entry(first.value)
    assert (entry.address, entry.address_type) == ("s3://bucket/a", AddressType.FULL)
    assert (entry.size, entry.e_tag, entry.last_modified) == (1, "a", 7)
    assert keys(stage) == {b"a", b"b"}


def test_a_replaced_prefix_holds_what_was_imported_and_nothing_else() -> None:
    stage = open_stage()
    for key in (b"lake/old", b"lake/same", b"lake2", b"x", b"x/kept"):
        put(stage, key, key)
    record(stage)
    made = bring(stage, listed("lake/new", "lake/same", "x"), b"lake/")
    assert keys(stage) == {b"lake/new", b"lake/same", b"lake2", b"x", b"x/kept"}
    assert addresses(stage)[b"x"] == "s3://bucket/x"
    assert stage.storage.snapshots.verify(made.meta_range_id) == 5


def test_an_object_that_moved_is_pointed_to_at_its_new_place() -> None:
    stage = open_stage()
    bring(stage, listed("in/a", "b"), b"in/")
    bring(stage, listed("in/a", "b", bucket="other"), b"in/")
    assert addresses(stage) == {b"in/a": "s3://other/in/a", b"b": "s3://other/b"}


def test_the_same_import_again_is_no_change() -> None:
    stage = open_stage()
    bring(stage, listed("in/a", "b"), b"in/")
    with pytest.raises(InvalidInput) as told:
        bring(stage, listed("in/a", "b"), b"in/")
    assert told.value.code == "no-changes"


def test_a_dirty_branch_is_refused_before_anything_is_listed() -> None:
    stage = open_stage()
    put(stage, b"a", b"1")

    def never() -> Iterator[ListedObject]:
        yield from listed("a")
        pytest.fail("the listing was begun")

    with pytest.raises(InvalidInput) as told:
        import_objects(stage.lake, stage.repository, MAIN, never(), ImportRequest("ada"))
    assert told.value.code == "dirty-branch"


def test_what_is_staged_or_committed_meanwhile_stays() -> None:
    stage = open_stage()

    def slowly() -> Iterator[ListedObject]:
        yield from listed("a")
        put(stage, b"committed", b"1")
        record(stage)
        put(stage, b"staged", b"2")
        yield from listed("b")

    import_objects(stage.lake, stage.repository, MAIN, slowly(), ImportRequest("ada"))
    assert keys(stage, "main@") == {b"a", b"b", b"committed"}
    assert [
        change.key for change in diff_uncommitted(stage.lake, stage.repository, MAIN).changes
    ] == [b"staged"]


def test_two_objects_of_one_key_are_refused_and_one_listed_twice_is_not() -> None:
    stage = open_stage()
    with pytest.raises(InvalidInput, match="two imported objects have the key b'a'"):
        bring(stage, [*listed("a", "b"), *listed("a", bucket="other")])
    bring(stage, [*listed("a", "b"), *listed("a")])
    assert keys(stage) == {b"a", b"b"}


@pytest.mark.parametrize("address", ["data/1/2", "s3://bucket", ""])
def test_an_address_that_is_not_in_full_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput):
        bring(open_stage(), [ListedObject(b"a", address, 1, "a", Instant(0))])


def test_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "_CHUNK_ROWS", 2)
    stage, told = open_stage(), list[int]()
    objects = listed("a", "b", "c", "d", "e")
    import_objects(stage.lake, stage.repository, MAIN, objects, ImportRequest("ada"), told.append)
    assert told == [2, 4, 5]


names = st.text("ab/", min_size=1, max_size=4)


@settings(max_examples=80, deadline=None)
@given(
    st.sets(names, max_size=10),
    st.lists(st.tuples(names, st.sampled_from(["1", "2"])), unique_by=lambda pair: pair[0]),
    st.lists(st.sampled_from([b"", b"a", b"a/", b"b", b"ab"]), max_size=3),
)
def test_an_import_equals_that_of_a_dictionary(
    before: set[str], imported: list[tuple[str, str]], replaced: list[bytes]
) -> None:
    stage = open_stage(cuts=Cuts(raggedness=2))
    old = [found for name in before for found in listed(name, bucket="old", tag="1")]
    request = ImportRequest("ada", replaced=replaced, allow_empty=True)
    import_objects(stage.lake, stage.repository, MAIN, old, ImportRequest("", allow_empty=True))
    new = [found for name, tag in imported for found in listed(name, tag=tag)]
    made = import_objects(stage.lake, stage.repository, MAIN, new, request)
    wanted = {
        found.key: found.address for found in old if not found.key.startswith(tuple(replaced))
    }
    assert addresses(stage) == wanted | {found.key: found.address for found in new}
    stage.storage.snapshots.verify(made.meta_range_id)


@pytest.mark.parametrize("fault", FAULTS)
def test_rel_G7_an_import_comes_whole_or_not_at_all(fault: Fault) -> None:
    def prepare(stage: Stage) -> None:
        put(stage, b"in/old", b"1")
        put(stage, b"x", b"2")
        record(stage)

    def check(stage: Stage, answered: bool) -> None:  # noqa: FBT001 - told by fail_each_call
        shown = keys(stage)
        assert shown in ({b"in/old", b"x"}, {b"in/a", b"in/b", b"x", b"y"})
        assert b"y" in shown or not answered
        put(stage, b"z", b"3")
        record(stage)
        assert keys(stage, "main@") == shown | {b"z"}

    act = lambda stage: bring(stage, listed("in/b", "y", "in/a"), b"in/")  # noqa: E731
    assert fail_each_call(fault, prepare, act, check) > 10


def test_folders_of_a_bucket_and_of_a_disk_are_imported(tmp_path: Path) -> None:
    bucket = MemoryObjects(WORLD)
    for name in ("raw/a", "raw/b/c", "raw2", "one"):
        bucket.put(name, name.encode())
    (tmp_path / "d").mkdir()
    (tmp_path / "d/e").write_bytes(b"from disk")
    stores: dict[str, ObjectStore] = {"s3://bucket": bucket, "file:///": PlainFiles([tmp_path])}
    stage = with_stores(open_stage(), stores)
    put(stage, b"lake/gone", b"1")
    record(stage)
    paths = [
        ImportPath("s3://bucket/raw", b"lake"),
        ImportPath(f"file://{tmp_path}/", b"disk/"),
        ImportPath("s3://bucket/one", b"lake-one", PathKind.OBJECT),
    ]
    import_paths(stage.lake, stage.repository, MAIN, paths, ImportRequest("ada"))
    assert content(stage) == {
        b"lake/a": b"raw/a",
        b"lake/b/c": b"raw/b/c",
        b"disk/d/e": b"from disk",
        b"lake-one": b"one",
    }
    changes = diff_two_dot(stage.lake, stage.repository, "main~", "main").changes
    assert [change.key for change in changes if change.right is None] == [b"lake/gone"]


def test_a_source_that_holds_nothing_empties_no_destination() -> None:
    stage = with_stores(open_stage(), {"s3://bucket": MemoryObjects(WORLD)})
    put(stage, b"lake/kept", b"1")
    record(stage)
    for path in (
        ImportPath("s3://bucket/typo", b"lake"),
        ImportPath("s3://bucket/typo", b"lake/kept", PathKind.OBJECT),
    ):
        with pytest.raises(NotFound):
            import_paths(stage.lake, stage.repository, MAIN, [path], ImportRequest("ada"))
    assert content(stage) == {b"lake/kept": b"1"}


def test_the_lake_is_not_imported_into_itself() -> None:
    stage = open_stage()
    own = stage.repository.storage_namespace
    for path in (own, f"{own}/", f"{own}/data"):
        wanted = [ImportPath(path, b"lake")]
        with pytest.raises(InvalidInput, match="overlap"):
            import_paths(stage.lake, stage.repository, MAIN, wanted, ImportRequest("ada"))


def test_rel_H9_a_listing_that_fails_is_no_shorter_import() -> None:
    bucket = MemoryObjects(WORLD)
    for number in range(1100):
        bucket.put(f"raw/{number:04}", b"")
    store = Faulty(bucket, fail_nth_page(2), WORLD)
    stage = with_stores(open_stage(), {"s3://bucket": store})
    path = ImportPath("s3://bucket/raw/", b"lake/")
    with pytest.raises(Unavailable):
        import_paths(stage.lake, stage.repository, MAIN, [path], ImportRequest("ada"))
    assert keys(stage) == set()
    assert len(list(list_foreign(stage.lake, path))) == 1100
