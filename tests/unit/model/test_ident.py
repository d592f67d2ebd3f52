# SPDX-License-Identifier: Apache-2.0
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.errors import InvalidInput
from lochan.model import ident

MAPS = st.dictionaries(st.text(), st.text(), max_size=5)


def test_each_primitive_has_the_documented_bytes() -> None:
    one = bytes.fromhex("02080000000000000001")
    a = bytes.fromhex("01 02080000000000000001 61")

    assert ident.int64(1) == one
    assert ident.int64(-1) == b"\x02\x08" + b"\xff" * 8
    assert ident.octets(b"a") == b"\x00" + one + b"a"
    assert ident.string("a") == a
    assert ident.string_list(["a"]) == b"\x03" + one + a
    assert ident.string_map({"a": "a"}) == b"\x04" + one + a + a
    assert ident.clock_list([("a", 1)]) == b"\x06" + one + a + one
    assert ident.block_list([(b"a", 1)]) == b"\x07" + one + b"\x00" + one + b"a" + one


def test_an_embedded_hash_is_bytes_behind_a_tag() -> None:
    assert ident.embedded(b"\x01" * 32) == b"\x05" + ident.octets(b"\x01" * 32)


def test_a_length_counts_utf_8_bytes() -> None:
    assert ident.string("é") == b"\x01" + ident.int64(2) + b"\xc3\xa9"


@given(MAPS)
def test_a_map_does_not_depend_on_the_order_of_insertion(values: dict[str, str]) -> None:
    backwards = dict(reversed(values.items()))

    assert ident.string_map(backwards) == ident.string_map(values)


@given(MAPS)
def test_map_keys_stand_in_byte_order(values: dict[str, str]) -> None:
    by_bytes = sorted(values.items(), key=lambda pair: pair[0].encode())
    pairs = b"".join(ident.string(key) + ident.string(value) for key, value in by_bytes)

    assert ident.string_map(values) == b"\x04" + ident.int64(len(values)) + pairs


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_different_lists_have_different_encodings(left: list[str], right: list[str]) -> None:
    assert (ident.string_list(left) == ident.string_list(right)) == (left == right)


def test_the_digest_is_sha_256_of_the_parts_in_a_row() -> None:
    assert ident.digest([b"a", b"bc"]) == hashlib.sha256(b"abc").digest()


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1])
def test_what_does_not_fit_into_64_bits_is_refused(value: int) -> None:
    with pytest.raises(InvalidInput, match="64 bits"):
        ident.int64(value)


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(InvalidInput, match="not valid text"):
        ident.string("\ud800")
