# SPDX-License-Identifier: Apache-2.0
"""Entries in bulk are byte for byte those that are made one by one."""

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.errors import InvalidInput
from lochan.kernel.interface import Kernel
from lochan.kernel.records import Column
from lochan.model.codec import encode_entry
from lochan.model.entry import AddressType, Entry, identity
from lochan.model.instant import Instant

times = st.integers(-(10**18), 2 * 10**18) | st.sampled_from([0, 1, -1, 10**9, -(10**9)])
sizes = st.integers(0, 2**63 - 1) | st.just(0)
rows = st.tuples(st.text(max_size=200), sizes, st.text(max_size=40), times)


@given(st.lists(rows, max_size=300), st.text(max_size=20))
def test_identities_and_entries_are_those_of_single_ones(
    kernel: Kernel, listed: list[tuple[str, int, str, int]], content_type: str
) -> None:
    entries = [
        Entry(
            address=address,
            last_modified=Instant(time),
            size=size,
            e_tag=e_tag,
            address_type=AddressType.FULL,
            content_type=content_type,
        )
        for address, size, e_tag, time in listed
    ]
    identities, values = kernel.encode_objects(
        Column.of([entry.address.encode() for entry in entries]),
        memoryview(array("q", [entry.size for entry in entries])),
        Column.of([entry.e_tag.encode() for entry in entries]),
        memoryview(array("q", [entry.last_modified for entry in entries])),
        content_type.encode(),
    )
    assert list(identities) == [identity(entry) for entry in entries]
    assert list(values) == [encode_entry(entry) for entry in entries]


def test_what_cannot_be_is_refused(kernel: Kernel) -> None:
    one, minus = Column.of([b"s3://b/a"]), memoryview(array("q", [-1]))
    with pytest.raises(InvalidInput, match="no object has so few"):
        kernel.encode_objects(one, minus, one, minus, b"")
    with pytest.raises(InvalidInput, match="different lengths"):
        kernel.encode_objects(one, memoryview(array("q", [])), one, minus, b"")
