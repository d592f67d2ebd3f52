# SPDX-License-Identifier: Apache-2.0
"""rel_G12: the algebra of sealed tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.errors import Internal
from lochan.model.ids import StagingToken
from lochan.staging.sealed import Overlap, Tokens, trim


def tokens(text: str) -> Tokens:
    """Name tokens by letters, newest first."""
    return tuple(StagingToken(letter) for letter in text)


@pytest.mark.parametrize(
    ("mine", "current", "overlap", "left", "newer"),
    [
        ("cba", "cba", Overlap.NOBODY, "cba", ""),
        ("cba", "edcba", Overlap.NOBODY, "cba", "ed"),
        ("cba", "dcb", Overlap.EARLIER, "cb", "d"),
        ("cba", "c", Overlap.EARLIER, "c", ""),
        ("cba", "ed", Overlap.LATER, "", "ed"),
        ("cba", "", Overlap.LATER, "", ""),
    ],
)
def test_rel_G12_what_is_left_of_a_committers_tokens(
    mine: str, current: str, overlap: Overlap, left: str, newer: str
) -> None:
    assert trim(tokens(mine), tokens(current)) == (overlap, tokens(left), tokens(newer))


@pytest.mark.parametrize(("mine", "current"), [("cba", "ba"), ("cba", "cda"), ("cb", "bc")])
def test_rel_G12_what_cannot_be_is_refused(mine: str, current: str) -> None:
    with pytest.raises(Internal, match="no continuation"):
        trim(tokens(mine), tokens(current))


@given(st.integers(0, 6), st.integers(0, 6), st.integers(0, 4))
def test_rel_G12_every_history_of_seals_and_commits_is_understood(
    sealed: int, committed: int, later: int
) -> None:
    every = tokens("jihgfedcba"[10 - sealed - later :] if sealed + later else "")
    mine = every[later:]
    current = every[: max(0, len(every) - committed)]
    found = trim(mine, current)
    assert found.newer + found.left == current
    assert found.left == mine[: max(0, len(mine) - committed)]
