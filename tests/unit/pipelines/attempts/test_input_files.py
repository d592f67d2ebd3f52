# SPDX-License-Identifier: Apache-2.0
import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.errors import InvalidInput, JobFailed, NotFound
from lochan.model.entry import AddressType, Block, Entry, entry_of_blocks
from lochan.model.ids import LineageId
from lochan.model.instant import Instant
from lochan.model.records import Clock
from lochan.pipelines.attempts.input_files import DatumReading, InputFiles, key_of
from lochan.pipelines.attempts.output_files import Out
from lochan.pipelines.model.datum import DatumFile, Member
from support.attempts import IN, Ground


def upper(src: InputFiles, out: Out) -> None:
    out.write(src.path, src.read_text().upper())


def test_a_folder_is_read_by_paths_inside_it_or_from_the_root() -> None:
    ground = Ground()
    members = [ground.member(f"x/{name}", name.encode()) for name in ("1", "2")]
    seen: list[object] = []

    def look(src: InputFiles) -> None:
        seen.extend([src.path, src.paths, len(src), src.captures, src.size])
        seen.extend([src.read_bytes("x/1"), src.read_bytes("2"), [one.path for one in src]])
        with pytest.raises(NotFound):
            src.open("3")
        with pytest.raises(InvalidInput, match="2 objects"):
            src.read_bytes()

    made = ground.run(look, ground.datum(ground.file("x/", *members, captures=("x",))))

    assert made.processed == 1
    paths = ("x/1", "x/2")
    assert seen == ["x/", paths, 2, ("x",), 2, b"1", b"2", list(paths)]


def test_an_input_that_a_datum_lacks_is_empty_and_a_group_has_several_matches() -> None:
    ground = Ground()
    files = [
        ground.file(key, ground.member(key, b"x"), name="many", captures=(key,)) for key in "ab"
    ]
    seen: list[object] = []

    def look(src: InputFiles, many: InputFiles) -> None:
        seen.extend([len(src), src.paths, src.captures, many.matches, many.paths])
        with pytest.raises(InvalidInput, match="2 paths"):
            _ = many.path

    ground.run(look, ground.datum(*files))

    assert seen == [0, (), (), (("a", ("a",)), ("b", ("b",))), ("a", "b")]


def test_local_copies_are_private_and_go_with_the_datum() -> None:
    ground = Ground()
    folder = ground.file("x/", ground.member("x/1/a", b"1"), ground.member("x/2", b""))
    seen: list[Path] = []

    def look(src: InputFiles) -> None:
        place = src.local()
        assert (place / "1" / "a").read_bytes() == b"1"
        assert (place / "2").read_bytes() == b""
        (place / "1" / "a").write_bytes(b"changed")
        assert src.local() == place
        seen.append(place)

    ground.run(look, ground.datum(folder))

    assert seen[0].name == "x"
    assert not seen[0].exists()
    assert ground.run(upper, ground.datum(ground.file("x/1/a", folder.members[0]))).processed


@pytest.mark.parametrize("key", ["../a", "a/../../b", "/a", "a//b", ".", "a\0b"])
def test_no_key_leads_a_local_copy_out_of_its_folder(key: str) -> None:
    ground = Ground()
    datum = ground.datum(ground.file(key, ground.member(key, b"x")))

    with pytest.raises(JobFailed, match="can be no path of a file"):
        ground.run(lambda src: src.local(), datum)


@pytest.mark.parametrize("keys", [("a", "a/b"), ("a/b", "a")])
def test_what_is_a_file_and_a_folder_has_no_local_copy(keys: tuple[str, str]) -> None:
    ground = Ground()
    datum = ground.datum(ground.file("/", *(ground.member(key, b"x") for key in keys)))

    with pytest.raises(JobFailed, match="a disk cannot hold both"):
        ground.run(lambda src: src.local(), datum)


def test_an_object_that_stands_for_a_folder_becomes_one() -> None:
    ground = Ground()
    members = [ground.member(key, b"") for key in ("d/", "d/x", "e/")]
    seen: list[set[str]] = []

    def look(src: InputFiles) -> None:
        place = src.local()
        seen.append({str(path.relative_to(place)) for path in place.rglob("*")})

    ground.run(look, ground.datum(ground.file("/", *members)))

    assert seen == [{"d", "d/x", "e"}]


def test_a_key_that_is_no_utf8_is_read_and_written_unchanged() -> None:
    ground = Ground()
    member = ground.member("x", b"1")
    file = ground.file("x", type(member)(b"\xff", member.identity, member.entry))
    file = type(file)(file.input, file.repository, b"\xff", (), file.members)

    rows = ground.rows(ground.run(upper, ground.datum(file)))

    assert rows[0].outputs[0].key == b"\xff"


@given(st.binary(min_size=1, max_size=20))
def test_any_key_is_found_by_its_path_and_read_back_from_it(key: bytes) -> None:
    ground = Ground()
    member = Member(key, b"", ground.member("x", b"here").entry)
    reading = DatumReading(ground.storages, {"in": IN})
    files = InputFiles("src", [DatumFile("src", "in", b"/", (), (member,))], reading)

    (path,) = files.paths

    assert files.file(path).key == key
    assert files.read_bytes(path) == b"here"
    assert key_of(path) == key.removeprefix(b"/")


def test_files_of_blocks_and_objects_elsewhere_are_read(tmp_path: Path) -> None:
    ground = Ground()
    ground.inputs.put("data/blocks/1", b"abcdef")
    blocks = [Block("data/blocks/1", at, 2, hashlib.sha256(b"").digest()) for at in (4, 0)]
    listed = entry_of_blocks(blocks, Clock(LineageId("l"), 1), last_modified=Instant(0))
    nothing = entry_of_blocks([], Clock(LineageId("l"), 1), last_modified=Instant(0))
    (tmp_path / "far").write_bytes(b"far away")
    far = Entry(
        address=f"file://{tmp_path}/far",
        last_modified=Instant(0),
        size=8,
        e_tag="",
        address_type=AddressType.FULL,
    )
    entries = {"listed": listed, "nothing": nothing, "far": far}
    files = [ground.file(key, ground.member(key, entry)) for key, entry in entries.items()]

    made = ground.run(upper, *(ground.datum(file, number=n) for n, file in enumerate(files)))

    assert ground.written(made) == {"listed": b"EFAB", "nothing": b"", "far": b"FAR AWAY"}


def test_large_files_are_read_at_any_place_and_as_text() -> None:
    ground = Ground()
    body = b"".join(b"%07d\n" % number for number in range(400_000))
    seen: list[object] = []

    def look(src: InputFiles) -> None:
        with src.open() as file:
            file.seek(8 * 300_000)
            seen.append(file.readline())
            file.seek(-8, 2)
            seen.append(file.read())
            file.seek(0)
            seen.append(hashlib.sha256(file.read()).digest())
        with src.open(mode="r") as text:
            seen.append(sum(1 for _ in text))

    ground.run(look, *ground.datums({"a": body}))

    assert seen == [b"0300000\n", b"0399999\n", hashlib.sha256(body).digest(), 400_000]
