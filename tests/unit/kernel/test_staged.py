# SPDX-License-Identifier: Apache-2.0
"""Staged entries in bulk: what protobuf reads one by one, and no less careful."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.errors import Corruption
from lochan.kernel import twin
from lochan.kernel.interface import Kernel
from lochan.kernel.records import Record
from lochan.model.codec import decode_staged_entry, encode_staged_entry
from lochan.model.records import StagedEntry

small = st.binary(max_size=300)
entries = st.builds(StagedEntry, st.binary(min_size=1, max_size=40), small, small)
# Whole fields of any number and kind, as a newer program may write them.
tags = st.integers(4, 2**29 - 1)
unknown = st.one_of(
    st.builds(lambda tag, n: varint(tag << 3) + varint(n), tags, st.integers(0, 2**64 - 1)),
    st.builds(lambda tag, b: varint(tag << 3 | 1) + b, tags, st.binary(min_size=8, max_size=8)),
    st.builds(lambda tag, b: varint(tag << 3 | 2) + varint(len(b)) + b, tags, small),
    st.builds(lambda tag, b: varint(tag << 3 | 5) + b, tags, st.binary(min_size=4, max_size=4)),
)


def varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


@given(st.lists(entries, max_size=40))
def test_rows_are_what_protobuf_reads(kernel: Kernel, listed: list[StagedEntry]) -> None:
    found = kernel.decode_staged([encode_staged_entry(entry) for entry in listed])
    assert list(found) == [Record(entry.key, entry.identity, entry.data) for entry in listed]


@given(entries, st.lists(unknown, max_size=4))
def test_fields_of_a_newer_program_are_passed_over(
    kernel: Kernel, entry: StagedEntry, more: list[bytes]
) -> None:
    message = b"".join([*more[:2], encode_staged_entry(entry), *more[2:]])
    assert decode_staged_entry(message).key == entry.key
    assert list(kernel.decode_staged([message])) == [Record(entry.key, entry.identity, entry.data)]


def test_the_last_of_a_field_counts(kernel: Kernel) -> None:
    first, second = (encode_staged_entry(StagedEntry(b"key", what)) for what in (b"a", b"b"))
    assert kernel.decode_staged([first + second])[0].identity == b"b"


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=3))
def test_both_kernels_judge_any_bytes_alike(native: Kernel, messages: list[bytes]) -> None:
    assert judged(native, messages) == judged(twin, messages)


def judged(kernel: Kernel, messages: list[bytes]) -> list[Record] | str:
    try:
        return list(kernel.decode_staged(messages))
    except Corruption as error:
        return error.message


@given(entries, st.data())
def test_a_message_cut_short_is_damage_or_has_fewer_fields(
    kernel: Kernel, entry: StagedEntry, data: st.DataObject
) -> None:
    message = encode_staged_entry(entry)
    short = message[: data.draw(st.integers(0, len(message) - 1))]
    found = judged(kernel, [short])
    if not isinstance(found, str):
        assert found != [Record(entry.key, entry.identity, entry.data)]


def test_what_is_not_bytes_is_refused(native: Kernel) -> None:
    with pytest.raises(TypeError):
        native.decode_staged(["text"])  # type: ignore[list-item]  # what a caller must not do
