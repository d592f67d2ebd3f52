# SPDX-License-Identifier: Apache-2.0
"""Objects read through any ref, from one object, from blocks, or from where they were imported."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lochan.errors import Conflict, InvalidInput, NotFound
from lochan.model.entry import AddressType, Block, Entry, entry_of_blocks
from lochan.model.ids import BranchName, LineageId, ObjectKey, TagName
from lochan.model.instant import Instant
from lochan.model.records import Clock, Tag
from lochan.objects.drivers.memory import MemoryObjects
from lochan.objects.drivers.plain import PlainFiles
from lochan.objects.store import Extent, From, Last, ObjectStore, Span, Whole, resolve
from lochan.operations.branches import create_branch
from lochan.operations.put_object import stage_entry
from lochan.operations.read_object import get_object, read_entry, stat_object
from support.branch_content import WORLD, content, delete, put, record, with_stores
from support.lakes import MAIN, Stage, open_stage

KEY = ObjectKey(b"a")


def read(stage: Stage, ref: str) -> bytes:
    _, reading = get_object(stage.lake, stage.repository, ref, KEY)
    with reading:
        return reading.read()


def test_every_kind_of_ref_shows_its_own_version() -> None:
    stage = open_stage()
    for body in (b"first", b"second"):
        put(stage, b"a", body)
        made = record(stage)
    put(stage, b"a", b"staged")
    tag = Tag(tag_id=TagName("v1"), commit_id=made.parents[0])
    stage.lake.tables(stage.repository).tags.set(b"v1", tag)

    shown = {ref: read(stage, ref) for ref in ("main", "main$", "main@", "main~", "v1", made.id)}
    assert shown == {
        "main": b"staged",
        "main$": b"staged",
        "main@": b"second",
        "main~": b"first",
        "v1": b"first",
        made.id: b"second",
    }
    assert read(stage, "main/1") == read(stage, made.id[:12] + "^") == b"first"


def test_what_is_staged_does_not_show_in_a_commit() -> None:
    stage = open_stage()
    put(stage, b"a", b"one")
    made = record(stage)
    put(stage, b"b", b"two")
    delete(stage, b"a")
    assert (content(stage), content(stage, "main@")) == ({b"b": b"two"}, {b"a": b"one"})
    assert content(stage, made.id) == {b"a": b"one"}


@pytest.mark.parametrize("ref", ["nobody", "main~9", "0" * 64, "v9"])
def test_a_ref_that_is_not_there_is_told_as_such(ref: str) -> None:
    stage = open_stage()
    with pytest.raises(NotFound) as told:
        stat_object(stage.lake, stage.repository, ref, KEY)
    assert told.value.code == "ref-not-found"


def test_an_object_that_is_not_there_is_told_with_its_ref() -> None:
    stage = open_stage()
    for ref in (MAIN, "main@"):
        with pytest.raises(NotFound, match=f"no object 'a' in '{ref}'"):
            stat_object(stage.lake, stage.repository, ref, KEY)


def test_a_branch_named_like_a_commit_is_hidden_by_the_commit() -> None:
    stage = open_stage()
    made = record(stage)
    with suppress(Exception):
        create_branch(stage.lake, stage.repository, BranchName(made.id), made.id)
    put(stage, b"a", b"one")
    with pytest.raises(NotFound, match="no object"):
        read(stage, made.id)


EPOCH = Clock(LineageId("line"), 1)
sizes = st.lists(st.integers(0, 7), max_size=5)
extents = st.one_of(
    st.just(Whole()),
    st.integers(0, 30).flatmap(lambda a: st.integers(a + 1, 40).map(lambda b: Span(a, b))),
    st.integers(0, 30).map(From),
    st.integers(1, 40).map(Last),
)


@settings(max_examples=150, deadline=None)
@given(sizes, st.integers(0, 3), extents)
def test_a_file_of_blocks_reads_like_its_bytes(
    lengths: list[int], offset: int, extent: Extent
) -> None:
    stage, whole, blocks = open_stage(), b"", []
    for number, size in enumerate(lengths):
        body = bytes([65 + number]) * size
        whole += body
        stage.storage.objects.put(f"data/{number}", b"-" * offset + body + b"+")
        blocks.append(Block(f"data/{number}", offset, size, bytes(32)))
    entry = entry_of_blocks(blocks, EPOCH, last_modified=Instant(0))
    try:
        start, stop = resolve(extent, len(whole), "")
    except InvalidInput:
        with pytest.raises(InvalidInput, match="holds none of them"):
            read_entry(stage.lake, stage.repository, entry, extent)
        return
    with read_entry(stage.lake, stage.repository, entry, extent) as reading:
        assert (reading.start, reading.stop, reading.info.size) == (start, stop, len(whole))
        assert reading.read() == whole[start:stop]


def test_a_block_that_is_gone_is_an_error_and_not_an_end() -> None:
    stage = open_stage()
    stage.storage.objects.put("data/1", b"one")
    blocks = [Block("data/1", 0, 3, bytes(32)), Block("data/2", 0, 3, bytes(32))]
    entry = entry_of_blocks(blocks, EPOCH, last_modified=Instant(0))
    with pytest.raises(NotFound):
        read_entry(stage.lake, stage.repository, entry).read()
    assert read_entry(stage.lake, stage.repository, entry, Span(0, 2)).read() == b"on"


def foreign(address: str, size: int) -> Entry:
    kind = AddressType.FULL
    return Entry(address=address, address_type=kind, last_modified=Instant(0), size=size, e_tag="x")


def test_an_imported_object_is_read_where_it_lies(tmp_path: Path) -> None:
    bucket = MemoryObjects(WORLD)
    bucket.put("raw//a?b.csv", b"from afar")
    (tmp_path / "a.csv").write_bytes(b"from a file")
    stores: dict[str, ObjectStore] = {"s3://bucket": bucket, "file:///": PlainFiles([tmp_path])}
    stage = with_stores(open_stage(), stores)
    addresses = {b"a": "s3://bucket/raw//a?b.csv", b"b": f"file://{tmp_path}/a.csv"}
    for key, address in {**addresses, b"c": f"local://{tmp_path}/a.csv"}.items():
        entry = foreign(address, 9 if key == b"a" else 11)
        stage_entry(stage.lake, stage.repository, MAIN, ObjectKey(key), entry)
    assert content(stage) == {b"a": b"from afar", b"b": b"from a file", b"c": b"from a file"}


def test_a_full_address_inside_the_namespace_is_one_of_ours() -> None:
    stage = with_stores(open_stage(), {})
    stage.storage.objects.put("data/1", b"ours")
    entry = foreign(f"{stage.repository.storage_namespace}/data/1", 4)
    assert read_entry(stage.lake, stage.repository, entry).read() == b"ours"


def test_an_address_that_no_driver_opens_is_refused_clearly() -> None:
    stage = with_stores(open_stage(), {})
    with pytest.raises(InvalidInput, match="no driver opens https://host, where object"):
        read_entry(stage.lake, stage.repository, foreign("https://host/a", 1))
    with pytest.raises(InvalidInput, match="names a store and no object"):
        read_entry(stage.lake, stage.repository, foreign("s3://bucket/", 1))


def test_a_foreign_object_of_another_size_is_not_served() -> None:
    bucket = MemoryObjects(WORLD)
    bucket.put("a", b"four")
    stage = with_stores(open_stage(), {"s3://bucket": bucket})
    with pytest.raises(Conflict, match="has 4 bytes and had 5"):
        read_entry(stage.lake, stage.repository, foreign("s3://bucket/a", 5))
