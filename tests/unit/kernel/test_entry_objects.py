# SPDX-License-Identifier: Apache-2.0
"""The objects that entries name, in bulk: what a collector keeps, so nothing may be left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.errors import Corruption
from lochan.kernel import twin
from lochan.kernel.interface import Kernel, Table
from lochan.kernel.records import Column, Records
from lochan.model.codec import encode_entry
from lochan.model.entry import Block, Entry
from lochan.model.instant import Instant
from lochan.objects.foreign import is_full
from lochan.objects.namespace import Namespace

HOME = "s3://bucket/lake"
INSIDE = b"s3://bucket/lake/"
addresses = st.sampled_from(["data/a/b.csv", f"{HOME}/data/c", "s3://bucket/lake2/x", "x", ""])
blocks = st.builds(Block, addresses, st.just(0), st.integers(0, 9), st.just(b"h"))
entries = st.builds(
    lambda address, size, blocks: Entry(
        address=address, last_modified=Instant(1), size=size, e_tag="e", blocks=tuple(blocks)
    ),
    addresses,
    st.integers(0, 2**40),
    st.lists(blocks, max_size=3),
)


def expected(listed: list[Entry]) -> list[tuple[int, int]]:
    """Say it plainly: each address that is ours, and its size."""
    found = []
    for entry in listed:
        named = [(b.address, b.size) for b in entry.blocks] + [(entry.address, entry.size)]
        for address, size in named:
            own = Namespace.parse(HOME).find_address(address) if is_full(address) else address
            if own:
                found.append((twin.fnv1a64(own.encode()), size))
    return found


def found_by(kernel: Kernel, messages: list[bytes]) -> list[tuple[int, int]] | str:
    try:
        hashes, sizes = kernel.entry_objects(Column.of(messages), INSIDE)
    except Corruption as error:
        return error.message
    return [(number % 2**64, size) for number, size in zip(hashes, sizes, strict=True)]


@given(st.lists(entries, max_size=20))
def test_every_object_of_ours_is_named(kernel: Kernel, listed: list[Entry]) -> None:
    assert found_by(kernel, [encode_entry(entry) for entry in listed]) == expected(listed)


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=3))
def test_both_kernels_judge_any_bytes_alike(native: Kernel, messages: list[bytes]) -> None:
    assert found_by(native, messages) == found_by(twin, messages)


@given(entries, st.data())
def test_both_kernels_judge_what_is_cut_short_alike(
    native: Kernel, entry: Entry, data: st.DataObject
) -> None:
    message = encode_entry(entry)
    short = message[: data.draw(st.integers(0, len(message)))]
    assert found_by(native, [short]) == found_by(twin, [short])


def opened(kernel: Kernel, messages: list[bytes]) -> Table:
    rows = Records.of((b"%04d" % i, b"identity", value) for i, value in enumerate(messages))
    encoded = twin.encode(rows)
    place = (encoded.index_offset, encoded.index_length)
    two_level = encoded.index_partitions > 0
    return kernel.open_table(encoded.body, "sample", *place, two_level=two_level)


@given(st.lists(entries, max_size=60), st.integers(1, 9))
def test_a_table_names_what_all_its_rows_name(
    kernel: Kernel, listed: list[Entry], times: int
) -> None:
    messages = [encode_entry(entry) for entry in listed * times]
    found = opened(kernel, messages).objects(INSIDE)
    named = [(number % 2**64, size) for number, size in zip(*found, strict=True)]
    assert named == expected(listed * times)


@pytest.mark.parametrize("wrong", [0, 41, 150, 299])
def test_a_table_with_a_damaged_entry_is_refused_alike(native: Kernel, wrong: int) -> None:
    fine = encode_entry(Entry(address="data/x", last_modified=Instant(1), size=1, e_tag="e" * 90))
    messages = [fine] * wrong + [b"\x00"] + [fine] * (299 - wrong)
    told = []
    for kernel in (native, twin):
        with pytest.raises(Corruption, match="is no Entry message") as caught:
            opened(kernel, messages).objects(INSIDE)
        told.append(caught.value.message)
    assert told[0] == told[1]
