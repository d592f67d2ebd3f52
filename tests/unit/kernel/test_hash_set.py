# SPDX-License-Identifier: Apache-2.0
"""The set of hashes is a set: what a collector finds in it stays."""

from array import array

from hypothesis import given
from hypothesis import strategies as st

from lochan.kernel.interface import Kernel

hashes = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)


@given(st.lists(st.lists(hashes, max_size=60), max_size=6), st.lists(hashes, max_size=20))
def test_it_holds_what_was_added_and_nothing_else(
    kernel: Kernel, added: list[list[int]], asked: list[int]
) -> None:
    found = kernel.hash_set()
    for some in added:
        found.update(memoryview(array("q", some)))
    known = {one for some in added for one in some}
    assert len(found) == len(known)
    assert all((one in found) == (one in known) for one in [*known, *asked])


def test_it_grows_beyond_its_first_room(kernel: Kernel) -> None:
    """Hashes that follow each other, and such as differ in their highest bits alone."""
    numbers = [*range(20_000), *(one << 44 for one in range(1, 20_000))]
    found = kernel.hash_set()
    found.update(memoryview(array("q", numbers)))
    assert len(found) == len(numbers)
    assert all(one in found for one in numbers)
    assert -1 not in found
    assert 20_000 not in found
