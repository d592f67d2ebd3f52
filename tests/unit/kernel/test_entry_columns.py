# SPDX-License-Identifier: Apache-2.0
"""Entries in bulk: the fields that protobuf reads one by one, and no less careful."""

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lochan.errors import Corruption
from lochan.kernel import twin
from lochan.kernel.interface import EntryColumns, Kernel
from lochan.kernel.records import Column
from lochan.model.codec import encode_entry
from lochan.model.entry import AddressType, Block, Entry
from lochan.model.instant import Instant

text = st.text(max_size=40)
moments = st.integers(-62_135_596_800 * 10**9, 253_402_300_799 * 10**9).map(Instant)
blocks = st.builds(Block, text, st.integers(0, 9), st.integers(1, 9), st.binary(max_size=32))
entries = st.builds(
    Entry,
    address=text,
    last_modified=moments,
    size=st.integers(0, 2**63 - 1),
    e_tag=text,
    metadata=st.dictionaries(text, text, max_size=3),
    address_type=st.sampled_from(AddressType),
    content_type=text,
    blocks=st.lists(blocks, max_size=2).map(tuple),
)


def rows(found: EntryColumns) -> list[tuple[Any, ...]]:
    pairs = list(zip(found.metadata_keys, found.metadata_values, strict=True))
    ends = list(found.metadata_offsets)
    metadata = [pairs[start:stop] for start, stop in pairwise(ends)]
    return list(
        zip(
            found.addresses,
            found.last_modified,
            found.sizes,
            found.e_tags,
            found.address_types,
            found.content_types,
            metadata,
            strict=True,
        )
    )


def expected(entry: Entry) -> tuple[Any, ...]:
    return (
        entry.address.encode(),
        entry.last_modified // 1000,
        entry.size,
        entry.e_tag.encode(),
        int(entry.address_type),
        entry.content_type.encode(),
        sorted((key.encode(), value.encode()) for key, value in entry.metadata.items()),
    )


@given(st.lists(entries, max_size=20))
def test_columns_are_what_protobuf_reads(kernel: Kernel, listed: list[Entry]) -> None:
    found = rows(kernel.decode_entries(Column.of(list(map(encode_entry, listed)))))
    assert [(*row[:-1], sorted(row[-1])) for row in found] == [expected(one) for one in listed]


@given(st.lists(st.binary(max_size=30), min_size=1, max_size=3))
def test_both_kernels_judge_any_bytes_alike(native: Kernel, messages: list[bytes]) -> None:
    assert judged(native, messages) == judged(twin, messages)


@given(entries, st.data())
def test_both_kernels_judge_a_damaged_entry_alike(
    native: Kernel, entry: Entry, data: st.DataObject
) -> None:
    message = bytearray(encode_entry(entry))
    if message:
        message[data.draw(st.integers(0, len(message) - 1))] ^= data.draw(st.integers(1, 255))
    assert judged(native, [bytes(message)]) == judged(twin, [bytes(message)])


def judged(kernel: Kernel, messages: list[bytes]) -> list[tuple[Any, ...]] | str:
    try:
        return rows(kernel.decode_entries(Column.of(messages)))
    except Corruption as error:
        return error.message
