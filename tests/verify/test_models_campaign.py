# SPDX-License-Identifier: Apache-2.0
"""The models of docs/formal at their full size (V1)."""

from pathlib import Path

import pytest

from support.spin import search

pytestmark = pytest.mark.campaign


@pytest.mark.parametrize("variant", [("READER=0",), ("READER=1",), ("READER=0", "CRASHES")])
def test_every_state_with_two_committers_and_a_reader(
    variant: tuple[str, ...], tmp_path: Path
) -> None:
    found = search("commit.pml", variant, tmp_path, compiled=("-O2", "-DCOLLAPSE"))

    assert (found.violated, found.complete) == ("", True)
    print(f"{' '.join(variant)}: {found.states:,} states, all of them")


def test_every_state_with_two_committers_and_a_merge(tmp_path: Path) -> None:
    found = search("commit.pml", ("MERGE",), tmp_path, compiled=("-O2", "-DCOLLAPSE"))

    assert (found.violated, found.complete) == ("", True)
    print(f"MERGE: {found.states:,} states, all of them")


def test_three_committers_without_violation_as_far_as_bits_reach(tmp_path: Path) -> None:
    found = search(
        "commit.pml",
        ("COMMITTERS=3",),
        tmp_path,
        compiled=("-O2", "-DBITSTATE"),
        given=("-w33",),
    )

    assert found.violated == ""
    print(f"COMMITTERS=3: {found.states:,} states, a bit each")
