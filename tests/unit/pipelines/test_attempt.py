# SPDX-License-Identifier: Apache-2.0
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput, JobFailed, NotFound, Unavailable
from lochan.model.codec import decode_entry
from lochan.model.entry import AddressType, Block, Entry, entry_of_blocks, identity
from lochan.model.ids import LineageId
from lochan.model.instant import Instant
from lochan.model.records import Clock
from lochan.objects.address import find_data
from lochan.objects.store import WHOLE, Extent, ObjectStore, Reading
from lochan.pipelines.datum import DatumState, source_of
from lochan.pipelines.function_call import Context, Function
from lochan.pipelines.input_files import InputFiles
from lochan.pipelines.manifests import find_manifests
from lochan.pipelines.output_files import Out
from lochan.pipelines.shards import datums_hash
from lochan.pipelines.spec import DatumRules, FilesTransform
from lochan.pipelines.work import WORK
from support.attempts import Ground


def upper(src: InputFiles, out: Out) -> None:
    out.write(src.path, src.read_text().upper())


def test_a_function_reads_each_input_by_its_name_and_writes_to_out() -> None:
    ground = Ground()

    made = ground.run(upper, *ground.datums({"a": b"one", "b/c": b"", "d": b"\xc3\xa4"}))

    assert ground.written(made) == {"a": b"ONE", "b/c": b"", "d": "Ä".encode()}
    assert (made.processed, made.failed, made.files, made.bytes) == (3, 0, 3, 5)


def test_what_is_written_lies_under_fresh_addresses_with_its_size_and_sha256() -> None:
    ground = Ground()

    rows = ground.rows(ground.run(upper, *ground.datums({"a.txt": b"one"})))

    entry = decode_entry(rows[0].outputs[0].entry)
    assert find_data(entry.address) is not None
    assert entry.address.endswith(".txt")
    assert (entry.size, entry.e_tag) == (3, hashlib.sha256(b"ONE").hexdigest())
    assert entry.is_relative


def test_rows_stand_by_the_numbers_of_their_datums_and_say_what_they_read() -> None:
    ground = Ground()
    datums = ground.datums({"a": b"1", "b": b"2", "c": b"3"})

    rows = ground.rows(ground.run(upper, datums[2], datums[0], datums[1]))

    assert [row.number for row in rows] == [0, 1, 2]
    assert [row.sources for row in rows] == [(source_of(datum.files[0]),) for datum in datums]
    assert [(row.id, row.hash) for row in rows] == [(datum.id, datum.hash) for datum in datums]


def test_the_manifest_is_there_when_all_is_and_can_be_found_again() -> None:
    ground = Ground()
    datums = ground.datums({"a": b"1"})

    made = ground.run(upper, *datums, shard=7)

    assert list(find_manifests(ground.outputs, "job1")) == [made]
    assert (made.shard, made.datums_hash) == (7, datums_hash(datums))
    assert list(find_manifests(ground.outputs, "job")) == []


def test_nothing_but_records_lies_below_the_attempts_folder() -> None:
    ground = Ground()

    made = ground.run(upper, *ground.datums({"a": b"1"}))

    listed = {one.address.rpartition("/") for one in ground.outputs.list(f"{WORK}/").entries}
    folder = f"{WORK}/job1/1/0/{made.attempt}"
    assert listed == {(folder, "/", name) for name in ("fragment", "log", "manifest")}


def test_rel_P6_a_second_attempt_writes_the_same_and_touches_nothing_of_the_first() -> None:
    ground = Ground()
    datums = ground.datums({"a": b"1", "b": b"2"})
    first = ground.run(upper, *datums)
    before = {one.address: one.info for one in ground.outputs.list().entries}

    second = ground.run(upper, *datums)

    after = {one.address: one.info for one in ground.outputs.list().entries}
    made = [
        [identity(decode_entry(file.entry)) for row in ground.rows(one) for file in row.outputs]
        for one in (first, second)
    ]
    assert before.items() <= after.items()
    assert made[0] == made[1]
    assert first.datums_hash == second.datums_hash


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


def test_parameters_come_by_name_or_in_the_context() -> None:
    ground = Ground(transform=FilesTransform(function="f", params={"size": 3, "mode": "x"}))
    seen: list[Any] = []

    def look(size: int, ctx: Context, other: str = "default") -> None:
        seen.extend([size, ctx.params["mode"], other, ctx])

    (datum,) = ground.datums({"a": b""})
    ground.run(look, datum)
    ground.run(lambda **rest: seen.append(sorted(rest)), datum)

    assert seen[:3] == [3, "x", "default"]
    assert (seen[3].datum, seen[3].idempotency_key) == (datum.id.hex(), datum.hash.hex())
    assert (seen[3].job, seen[3].pipeline, seen[3].number) == ("job1", "texts", 0)
    assert seen[4] == ["ctx", "mode", "out", "size", "src"]


def generator(src: InputFiles) -> Iterator[int]:
    yield len(src)


def by_position(src: InputFiles, /) -> None:
    assert src


def other_names(image: InputFiles, out: Out) -> None:
    out.put("x", image.open())


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (other_names, "asks for image; there are ctx, out, src"),
        (generator, "yields or awaits"),
        (by_position, "by position only"),
    ],
)
def test_a_function_that_nothing_fits_is_refused_before_it_runs(
    function: Function, said: str
) -> None:
    ground = Ground(rules=DatumRules(on_error="quarantine"))

    with pytest.raises(InvalidInput, match=said) as caught:
        ground.run(function, *ground.datums({"a": b""}))

    assert caught.value.code == "function-signature"


def test_of_a_try_that_failed_nothing_is_kept() -> None:
    ground = Ground(rules=DatumRules(tries=3))
    tried: list[int] = []

    def third_time(src: InputFiles, out: Out) -> None:
        tried.append(len(tried))
        out.write(f"try {len(tried)}", b"x")
        out.write("same", str(len(tried)))
        if len(tried) < 3:
            raise ValueError("not yet")

    made = ground.run(third_time, *ground.datums({"a": b""}))

    assert ground.written(made) == {"try 3": b"x", "same": b"3"}
    assert ("lochan", "try 2 of 3 failed: ValueError: not yet") in ground.lines()


def failing(src: InputFiles, out: Out) -> None:
    out.write(src.path, b"")
    print("looking at", src.path)
    if src.path == "b":
        raise ValueError("b is bad")


def test_a_datum_that_fails_ends_the_job_and_is_named_with_the_end_of_its_log() -> None:
    ground = Ground(rules=DatumRules(tries=2))
    datums = ground.datums({"a": b"", "b": b"", "c": b""})

    with pytest.raises(JobFailed) as caught:
        ground.run(failing, *datums)

    error = caught.value
    assert error.code == "datum-failed"
    assert f"datum {datums[1].id.hex()[:12]} (src:b) failed: ValueError: b is bad" in str(error)
    assert error.facts["paths"] == ["src:b"]
    assert "looking at b" in str(error)
    assert "looking at a" not in str(error)
    assert list(find_manifests(ground.outputs, "job1")) == []
    assert ("stdout", "looking at a") in ground.lines()  # the log is there all the same
    assert "ValueError: b is bad" in [text for _, text in ground.lines()]


def test_a_datum_in_quarantine_has_a_row_with_the_reason_and_without_outputs() -> None:
    ground = Ground(rules=DatumRules(tries=1, on_error="quarantine"))

    made = ground.run(failing, *ground.datums({"a": b"", "b": b"", "c": b""}))

    rows = ground.rows(made)
    states = [DatumState.PROCESSED, DatumState.FAILED, DatumState.PROCESSED]
    assert [row.state for row in rows] == states
    assert [len(row.outputs) for row in rows] == [1, 0, 1]
    assert rows[1].reason == "ValueError: b is bad"
    assert (made.processed, made.failed, made.files) == (2, 1, 2)
    assert rows[1].log == made.log


class Broken:
    """A store that does not answer."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self.asked = 0

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the store has
        return getattr(self._store, name)

    def get(self, address: str, extent: Extent = WHOLE) -> Reading:
        self.asked += 1
        raise Unavailable(f"the store is away, and with it {address} {extent}")


class Patient(RealEnvironment):
    def sleep(self, seconds: float) -> None:
        """Come back at once."""


def wrapping(src: InputFiles) -> None:
    try:
        src.read_bytes()
    except Unavailable as error:
        raise ValueError("cannot read") from error


@pytest.mark.parametrize("function", [upper, wrapping])
def test_rel_H9_a_store_that_does_not_answer_puts_no_datum_into_quarantine(
    function: Function,
) -> None:
    ground = Ground(Patient(), rules=DatumRules(tries=3, on_error="quarantine"))
    datums = ground.datums({"a": b"", "b": b""})
    broken = Broken(ground.inputs)
    ground.inputs = broken

    with pytest.raises(Unavailable, match="is away"):
        ground.run(function, *datums)

    assert broken.asked == 3
    assert list(find_manifests(ground.outputs, "job1")) == []


def test_a_function_that_leaves_by_exit_has_failed() -> None:
    ground = Ground()

    with pytest.raises(JobFailed, match="SystemExit: 3"):
        ground.run(lambda src: sys.exit(len(src) + 2), *ground.datums({"a": b""}))
