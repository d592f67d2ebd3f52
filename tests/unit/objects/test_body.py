# SPDX-License-Identifier: Apache-2.0
import hashlib
from array import array
from itertools import repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.errors import InvalidInput
from lochan.objects.body import Measured, chunks, cut

PIECES = st.lists(st.binary(max_size=20), max_size=20)


@given(PIECES, st.integers(1, 30))
def test_parts_are_even_and_hold_the_body(pieces: list[bytes], size: int) -> None:
    parts = list(cut(pieces, repeat(size)))

    assert b"".join(parts) == b"".join(pieces)
    assert all(len(part) == size for part in parts[:-1])
    assert all(0 < len(part) <= size for part in parts[-1:])


@given(PIECES, st.lists(st.integers(1, 10), min_size=1, max_size=10))
def test_parts_that_cannot_hold_the_body_are_refused(pieces: list[bytes], sizes: list[int]) -> None:
    whole = b"".join(pieces)
    if len(whole) <= sum(sizes):
        assert b"".join(cut(pieces, sizes)) == whole
    else:
        with pytest.raises(InvalidInput):
            list(cut(pieces, sizes))


@given(PIECES, st.integers(-3, 3))
def test_a_body_must_be_as_long_as_declared(pieces: list[bytes], more: int) -> None:
    whole = b"".join(pieces)
    if more == 0:
        assert b"".join(chunks(pieces, len(whole), "a")) == whole
        assert b"".join(chunks(whole, len(whole), "a")) == whole
    else:
        with pytest.raises(InvalidInput):
            list(chunks(pieces, len(whole) + more, "a"))


def test_a_view_of_wider_items_counts_in_bytes() -> None:
    view = memoryview(array("q", [1, 2, 3]))

    assert b"".join(chunks(view, 24, "a")) == view.tobytes()


@given(PIECES)
def test_a_measured_body_passes_and_counts(pieces: list[bytes]) -> None:
    measured = Measured(iter(pieces))
    whole = b"".join(measured)

    assert whole == b"".join(pieces)
    assert measured.size == len(whole)
    assert measured.md5 == hashlib.md5(whole).hexdigest()
