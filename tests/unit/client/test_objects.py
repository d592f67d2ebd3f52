# SPDX-License-Identifier: Apache-2.0
"""Objects, read and written as files, whole and in parts."""

import io
import json
from pathlib import Path

import pytest

from lochan.client import Branch
from lochan.client.reader import ObjectReader
from lochan.errors import Conflict, InvalidInput, NotFound, PredicateFailed

DATA = bytes(range(256)) * 9000


def test_an_object_comes_back_as_it_was_sent(main: Branch, tmp_path: Path) -> None:
    stats = main.upload("a/ü?&#%.bin", DATA, content_type="image/png", metadata={"my_key": "v"})
    stored = main.object("a/ü?&#%.bin")

    assert stored.read() == DATA
    assert stored.stat() == stats
    assert (stats.size_bytes, stats.content_type) == (len(DATA), "image/png")
    assert stats.metadata == {"my_key": "v"}
    assert stored.download(tmp_path / "x" / "y") == len(DATA)
    assert (tmp_path / "x" / "y").read_bytes() == DATA


def test_metadata_that_no_header_can_carry_arrives_as_it_is(main: Branch) -> None:
    said = {"Größe": "ü\n", "Upper": " spaced ", "lower": ""}
    main.upload("a", b"", metadata=said)

    assert main.object("a").stat().metadata == said


def test_files_and_paths_are_uploaded_as_they_are_read(main: Branch, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(DATA)
    told: list[tuple[int, int | None]] = []
    main.upload("f", tmp_path / "f", progress=lambda done, total: told.append((done, total)))
    main.upload("g", (DATA[n : n + 1000] for n in range(0, len(DATA), 1000)))

    assert main.object("f").read() == main.object("g").read() == DATA
    assert told[-1] == (len(DATA), len(DATA))
    assert len(told) > 1


def test_a_presigned_upload_and_its_url_need_no_credentials(main: Branch) -> None:
    stats = main.upload("p", DATA, presign=True, metadata={"K": "v"})

    assert stats.size_bytes == len(DATA)
    assert main.object("p").read() == DATA
    assert main.object("p").stat().metadata == {"K": "v"}
    assert "token=" in main.object("p").stat(presign=True).physical_address


def test_conditions_guard_what_is_there(main: Branch) -> None:
    first = main.upload("c", b"1", if_none_match=True)
    with pytest.raises(PredicateFailed):
        main.upload("c", b"2", if_none_match=True)
    main.upload("c", b"3", if_match=first.checksum)
    with pytest.raises(PredicateFailed):
        main.upload("c", b"4", if_match=first.checksum)

    assert main.object("c").read() == b"3"


def test_ranges_are_cut_as_slices_are(main: Branch) -> None:
    main.upload("r", DATA)
    stored = main.object("r")

    assert stored.read(5, 9) == DATA[5:9]
    assert stored.read(len(DATA) - 3) == DATA[-3:]
    assert stored.read(7, 7) == stored.read(len(DATA) + 5) == b""
    assert stored.read(len(DATA) - 3, len(DATA) + 9) == DATA[-3:]


def test_a_reader_is_a_seekable_file(inside: Branch) -> None:
    inside.upload("r", DATA)
    with inside.open("r", "rb") as file:
        assert file.read(10) == DATA[:10]
        assert file.seek(-4, io.SEEK_END) == len(DATA) - 4
        assert file.read() == DATA[-4:]
        file.seek(100)
        assert file.read(3) + file.read(2) == DATA[100:105]
        assert file.tell() == 105
        assert isinstance(file.raw, ObjectReader)  # type: ignore[attr-defined]  # of BufferedReader
        with pytest.raises(InvalidInput):
            file.raw.seek(-1)  # type: ignore[attr-defined]  # of BufferedReader


def test_text_is_decoded_line_by_line(inside: Branch) -> None:
    with inside.object("t").open("w", encoding="utf-16", newline="\r\n") as file:
        file.write("ä\nb\n")
    with inside.open("t", "r", encoding="utf-16") as file:
        assert list(file) == ["ä\n", "b\n"]
    with inside.object("j").open("w") as file:
        json.dump({"a": 1}, file)

    assert inside.object("j").read() == b'{"a": 1}'


def test_an_object_replaced_while_it_is_read_is_never_a_mixture(inside: Branch) -> None:
    inside.upload("r", b"a" * 3_000_000)
    with inside.open("r", "rb", buffering=1000) as file:
        file.read(10)
        inside.upload("r", b"b" * 3_000_000)
        with pytest.raises(Conflict, match="replaced while it was read"):
            file.read()


def test_an_error_in_the_block_writes_nothing(inside: Branch) -> None:
    def fail(mode: str, data: bytes | str) -> None:
        with inside.object("w").open(mode) as file:
            file.write(data)
            raise ZeroDivisionError

    for mode, data in (("wb", b"half"), ("w", "half")):
        with pytest.raises(ZeroDivisionError):
            fail(mode, data)

    assert not inside.object("w").exists()


def test_a_writer_that_nobody_closed_writes_nothing(inside: Branch) -> None:
    file = inside.object("w").open("wb")
    file.write(b"half")
    del file

    assert not inside.object("w").exists()


def test_exclusive_files_and_appending_are_told_apart(inside: Branch) -> None:
    with inside.object("x").open("xb") as file:
        file.write(b"1")
    second = inside.object("x").open("xb")
    with pytest.raises(PredicateFailed):
        second.close()
    for mode in ("ab", "r+b", "a"):
        with pytest.raises(InvalidInput, match="replaced whole"):
            inside.object("x").open(mode)


def test_copies_renames_and_deletions_are_by_metadata(main: Branch) -> None:
    main.upload("a/1", b"1")
    main.upload("a/2", b"2")
    main.object("a/1").copy("b/1")
    main.object("b/1").rename("b/one")
    assert main.rename("a/", "c/") == 2
    assert [stats.path for stats in main.objects()] == ["b/one", "c/1", "c/2"]
    main.delete_objects(stats.path for stats in main.objects("c/"))
    main.object("b/one").delete()

    assert list(main.objects()) == []


def test_listings_come_in_pages_as_they_are_needed(inside: Branch) -> None:
    for number in range(5):
        inside.upload(f"d{number}/x", b"")
    rows = inside.objects(delimiter="/")

    assert next(rows).path == "d0/"
    assert [row.path for row in rows] == [f"d{number}/" for number in range(1, 5)]
    assert len(list(inside.objects(max_amount=3))) == 3
    assert [row.path for row in inside.objects(after="d2/x")] == ["d3/x", "d4/x"]


def test_what_is_not_there_is_not_found(main: Branch) -> None:
    assert not main.object("no").exists()
    with pytest.raises(NotFound, match="no"):
        main.object("no").open("rb")
    with pytest.raises(NotFound):
        main.object("no").read()


def test_a_download_that_fails_leaves_no_file(main: Branch, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        main.object("no").download(tmp_path / "f")

    assert list(tmp_path.iterdir()) == []
