# SPDX-License-Identifier: Apache-2.0
"""Whatever can be uploaded gives its bytes, its size, and says whether it can be read twice."""

import io
from pathlib import Path

import pytest

from lochan.client.content import content_of
from lochan.errors import InvalidInput

DATA = b"\x00\xff" * 700_000


def test_bytes_text_paths_and_files_give_their_bytes_each_time(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(DATA)
    with file.open("rb") as opened:
        for data in (DATA, bytearray(DATA), memoryview(DATA), file, opened, io.BytesIO(DATA)):
            content = content_of(data)

            assert content.size == len(DATA)
            assert content.is_repeatable
            assert b"".join(content.chunks()) == DATA == b"".join(content.chunks())


def test_a_text_is_the_content_not_a_path() -> None:
    assert b"".join(content_of("hällo").chunks()) == "hällo".encode()


def test_an_open_file_is_sent_from_where_it_stands() -> None:
    file = io.BytesIO(b"0123456789")
    file.seek(4)
    content = content_of(file)

    assert content.size == 6
    assert b"".join(content.chunks()) == b"456789"


def test_chunks_are_sent_once() -> None:
    content = content_of(chunk for chunk in (b"a", b"b"))

    assert (content.size, content.is_repeatable) == (None, False)


@pytest.mark.parametrize("wrong", [io.StringIO("x"), 7, None])
def test_what_has_no_bytes_is_refused(wrong: object) -> None:
    with pytest.raises(InvalidInput):
        content_of(wrong)  # type: ignore[arg-type]  # that is what is tested


def test_progress_is_told_up_to_the_end() -> None:
    told: list[tuple[int, int | None]] = []
    content = content_of(DATA)
    list(content.chunks(lambda done, total: told.append((done, total))))

    assert told == [(1 << 20, len(DATA)), (len(DATA), len(DATA))]
