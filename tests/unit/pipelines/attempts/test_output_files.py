# SPDX-License-Identifier: Apache-2.0
import gc
import hashlib
from pathlib import Path
from typing import Any

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput
from lochan.model.codec import decode_entry
from lochan.model.entry import Entry
from lochan.objects.address import AddressSource
from lochan.objects.drivers.memory import MemoryObjects
from lochan.objects.store import Body, ObjectInfo
from lochan.pipelines.attempts.output_files import Out
from lochan.pipelines.attempts.places import OpenedPlace

LARGE = bytes(range(256)) * 4096 * 9  # more than is gathered in memory


@pytest.fixture
def place() -> OpenedPlace:
    world = RealEnvironment()
    return OpenedPlace(MemoryObjects(world), AddressSource(world))


@pytest.fixture
def out(place: OpenedPlace) -> Out:
    return Out(place, RealEnvironment())


def written(out: Out) -> dict[bytes, Entry]:
    return {file.key: decode_entry(file.entry) for file in out.end()}


def content(place: OpenedPlace, out: Out) -> dict[bytes, bytes]:
    entries = written(out)
    return {key: place.objects.get(entry.address).read() for key, entry in entries.items()}


def test_bytes_text_pieces_and_files_are_taken(
    place: OpenedPlace, out: Out, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"of a file")
    out.write("text", "ä")
    out.write(b"bytes", bytearray(b"abc"))
    out.write("pieces", iter([b"a", b"bc", b""]))
    out.put("path", tmp_path / "file")
    with (tmp_path / "file").open("rb") as file:
        file.seek(5)
        out.put("open", file)

    assert content(place, out) == {
        b"bytes": b"abc",
        b"open": b"file",
        b"path": b"of a file",
        b"pieces": b"abc",
        b"text": "ä".encode(),
    }


def test_a_file_that_is_opened_is_stored_when_it_is_closed(place: OpenedPlace, out: Out) -> None:
    with out.open("large") as file:
        file.write(LARGE)
    with out.open("text", "w") as text:
        print("one", "two", file=text)

    found = written(out)
    assert (found[b"large"].size, found[b"text"].size) == (len(LARGE), 8)
    assert found[b"large"].e_tag == hashlib.sha256(LARGE).hexdigest()
    assert place.objects.get(found[b"large"].address).read() == LARGE


def test_a_store_is_told_the_size_of_a_file_so_that_it_can_cut_large_ones_well(
    place: OpenedPlace, out: Out, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int | None] = []
    put = MemoryObjects.put

    def noting(self: MemoryObjects, address: str, body: Body, **said: Any) -> ObjectInfo:  # noqa: ANN401 - passed on
        told.append(said["size"])
        return put(self, address, body, **said)

    monkeypatch.setattr(MemoryObjects, "put", noting)
    (tmp_path / "file").write_bytes(b"of a file")
    out.put("path", tmp_path / "file")
    with out.open("open", "w") as file:
        file.write("text")
        file.seek(0)

    assert told == [9, 4]
    assert content(place, out) == {b"open": b"text", b"path": b"of a file"}


def test_entries_say_what_the_author_said_of_a_file(out: Out) -> None:
    out.write("a", b"", content_type="text/csv", metadata={"by": "hand"})

    entry = written(out)[b"a"]
    assert (entry.content_type, entry.metadata) == ("text/csv", {"by": "hand"})


def test_a_path_that_is_written_again_is_replaced(place: OpenedPlace, out: Out) -> None:
    out.write("a", b"1")
    out.write("/a", b"2")

    assert content(place, out) == {b"a": b"2"}


@pytest.mark.parametrize("mode", ["wb", "w"])
def test_a_file_whose_block_ends_by_an_exception_is_not_stored(out: Out, mode: str) -> None:
    with pytest.raises(ZeroDivisionError), out.open("a", mode):
        _ = 1 / 0

    assert out.end() == ()


@pytest.mark.parametrize("mode", ["wb", "w"])
def test_a_file_that_nobody_closed_fails_the_datum(out: Out, mode: str) -> None:
    out.open("forgotten", mode)
    gc.collect()

    with pytest.raises(InvalidInput, match="'forgotten' was opened and not closed"):
        out.end()


@pytest.mark.parametrize("path", ["", "/", "a/", "//a", "a//b", "../a", "a/./b", "x" * 1025])
def test_what_can_be_no_path_is_refused(out: Out, path: str) -> None:
    with pytest.raises(InvalidInput):
        out.write(path, b"")


def test_after_the_end_nothing_is_taken(place: OpenedPlace, out: Out) -> None:
    file = out.open("late")
    out.discard()

    with pytest.raises(InvalidInput, match="when its datum is over"):
        out.write("later", b"")
    with pytest.raises(InvalidInput, match="when its datum is over"):
        file.close()

    assert place.objects.list().entries == ()


def test_an_iterator_that_fails_stores_nothing(place: OpenedPlace, out: Out) -> None:
    with pytest.raises(ZeroDivisionError):
        out.write("a", (b"x" * (1 // number) for number in (1, 0)))

    assert out.end() == ()
    assert place.objects.list().entries == ()


def test_too_much_said_of_a_file_is_refused(out: Out) -> None:
    with pytest.raises(InvalidInput, match="shorten its metadata"):
        out.write("a", b"", metadata={"long": "x" * (64 << 10)})
