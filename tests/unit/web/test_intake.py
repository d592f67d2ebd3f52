# SPDX-License-Identifier: Apache-2.0
"""A request's body between the loop and the thread that reads it."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.web.body import BodyBroken
from lochan.web.intake import HELD_BYTES, Intake

CHUNKS = st.lists(st.binary(min_size=1, max_size=50), max_size=20)


def nothing() -> None:
    pass


@given(CHUNKS, st.integers(1, 60))
def test_what_was_added_is_read_in_pieces_of_any_size(chunks: list[bytes], size: int) -> None:
    intake = Intake(nothing, 1)
    for chunk in chunks:
        intake.add(chunk)
    intake.end(broken=False)
    pieces = list(iter(lambda: intake.read(size), b""))
    assert b"".join(pieces) == b"".join(chunks)
    assert all(len(piece) <= size for piece in pieces)


@given(CHUNKS)
def test_a_body_that_broke_is_never_read_to_its_end(chunks: list[bytes]) -> None:
    intake = Intake(nothing, 1)
    for chunk in chunks:
        intake.add(chunk)
    intake.end(broken=True)
    with pytest.raises(BodyBroken) as broken:
        intake.readall()
    assert broken.value.code == "body-incomplete"


def test_a_pause_that_is_too_long_breaks_the_body() -> None:
    intake = Intake(nothing, 0.01)
    intake.add(b"begun")
    assert intake.read(5) == b"begun"
    with pytest.raises(BodyBroken) as broken:
        intake.read(5)
    assert broken.value.code == "body-stalled"


def test_nothing_is_asked_for_before_somebody_reads_and_then_when_there_is_room() -> None:
    asked: list[int] = []
    intake = Intake(lambda: asked.append(1), 1)
    intake.add(b"\0" * HELD_BYTES)
    intake.add(b"\0")
    assert intake.is_full
    assert not asked
    assert len(intake.read(HELD_BYTES)) == HELD_BYTES
    assert len(asked) == 2  # it is read, and it is no longer full
    assert not intake.is_full


def test_a_reader_wakes_for_what_comes_later() -> None:
    intake = Intake(nothing, 10)
    buffer = bytearray(10)
    later = threading.Timer(0.02, intake.add, [b"late"])
    later.start()
    assert intake.readinto(buffer) == 4
    assert buffer[:4] == b"late"
    later.join()
