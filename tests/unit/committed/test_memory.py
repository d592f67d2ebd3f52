# SPDX-License-Identifier: Apache-2.0
"""The memory tier: bounded, the least used go first, nothing is loaded twice without need."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lochan.committed.memory import MemoryTier
from support.trees import ENVIRONMENT


def tier(capacity: int) -> MemoryTier[str]:
    return MemoryTier(capacity, len, ENVIRONMENT)


def test_what_was_used_last_stays() -> None:
    kept = tier(6)
    for name in ("aa", "bb", "cc"):
        kept.get(name, str)
    kept.find("aa")
    kept.get("dd", str)
    assert [kept.find(name) for name in ("aa", "bb", "cc", "dd")] == ["aa", None, "cc", "dd"]
    assert kept.size_bytes == 6


def test_what_is_here_is_not_loaded() -> None:
    kept, loaded = tier(10), list[str]()

    def load(name: str) -> str:
        loaded.append(name)
        return name

    for name in ("a", "b", "a", "a", "b"):
        assert kept.get(name, load) == name
    assert loaded == ["a", "b"]


def test_what_is_too_large_is_given_and_not_kept() -> None:
    kept = tier(3)
    kept.get("ab", str)
    assert kept.get("large", str) == "large"
    assert (kept.find("large"), kept.find("ab"), kept.size_bytes) == (None, "ab", 2)


def test_a_tier_of_no_bytes_keeps_nothing() -> None:
    kept = tier(0)
    assert kept.get("a", str) == "a"
    assert kept.find("a") is None


@settings(deadline=None)
@given(st.integers(0, 12), st.lists(st.integers(0, 9), max_size=40))
def test_the_bound_is_kept_whatever_is_asked_for(capacity: int, asked: list[int]) -> None:
    kept, order = tier(capacity), list[str]()
    for number in asked:
        name = "x" * number + f"{number}"
        assert kept.get(name, str) == name
        if len(name) <= capacity:
            order = [*(each for each in order if each != name), name]
        while sum(map(len, order)) > capacity:
            del order[0]
        assert kept.size_bytes == sum(map(len, order)) <= capacity
    assert [each for each in dict.fromkeys(order) if kept.find(each)] == order
