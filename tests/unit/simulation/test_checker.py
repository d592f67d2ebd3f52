# SPDX-License-Identifier: Apache-2.0
"""Histories by hand: each promise broken once, and what is allowed allowed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.testing.simulation import Kind, Operation, Result, check_history, violations
from lochan.testing.simulation.history import History, Listing, read_lines


def write(identity: str | None, start: int, end: int, result: Result = Result.OK) -> Operation:
    return Operation(Kind.WRITE, "k", identity, invocation=start, response=end, result=result)


def read(identity: str | None, start: int, end: int) -> Operation:
    return Operation(Kind.READ, "k", identity, invocation=start, response=end, result=Result.OK)


def whole(kind: Kind, tree: dict[str, str], start: int, end: int) -> Operation:
    return Operation(kind, tree=tree, invocation=start, response=end, result=Result.OK)


def listed(listing: Listing, start: int, end: int) -> Operation:
    return Operation(Kind.LIST, listing=listing, invocation=start, response=end, result=Result.OK)


FAIL, UNKNOWN, REFUSED, PENDING = Result.FAIL, Result.UNKNOWN, Result.REFUSED, Result.PENDING
BROKEN = {
    "G1 misses an acknowledged write": ("G1", [write("1", 1, 2), read(None, 3, 4)]),
    "G1 gives an overwritten value": ("G1", [write("1", 1, 2), write("2", 3, 4), read("1", 5, 6)]),
    "G1 undoes a delete": ("G1", [write("1", 1, 2), write(None, 3, 4), read("1", 5, 6)]),
    "G2 gives what nobody wrote": ("G2", [read("1", 1, 2)]),
    "G2 gives what is written later": ("G2", [read("1", 1, 2), write("1", 3, 4)]),
    "G2 gives what was refused": ("G2", [write("1", 1, 2, REFUSED), read("1", 3, 4)]),
    "G3 misses a key": ("G3", [write("1", 1, 2), listed(Listing("", None, ()), 3, 4)]),
    "G3 gives a key twice": (
        "G3",
        [write("1", 1, 2), listed(Listing("", None, (("k", "1"), ("k", "1"))), 3, 4)],
    ),
    "G3 goes beyond its page": (
        "G3",
        [write("1", 1, 2), listed(Listing("", "a", (("k", "1"),)), 3, 4)],
    ),
    "G4 commits what is written later": (
        "G4",
        [whole(Kind.COMMIT, {"k": "1"}, 1, 2), write("1", 3, 4)],
    ),
    "G5 brings a failed write back": (
        "G1",
        [write("1", 1, 2, FAIL), write("2", 3, 4), read("1", 5, 6)],
    ),
    "G5 brings an unknown write back": (
        "G1",
        [write("1", 1, 2, UNKNOWN), write("2", 3, 4), read("1", 5, 6)],
    ),
    "G6 commits without what came before": (
        "G6",
        [write("1", 1, 2), whole(Kind.COMMIT, {}, 3, 4)],
    ),
    "G7 loses a write in the end": ("G7", [write("1", 1, 2), whole(Kind.FINAL, {}, 3, 4)]),
}
KEPT = {
    "a read beside a write gives old": [write("1", 1, 4), read(None, 2, 3)],
    "a read beside a write gives new": [write("1", 1, 4), read("1", 2, 3)],
    "two writes beside each other, either": [
        *(write("1", 1, 4), write("2", 2, 3)),
        *(read("1", 5, 6), read("2", 7, 8), read("1", 9, 10)),
    ],
    "a failed write may be seen": [write("1", 1, 2, FAIL), read("1", 3, 4), read(None, 5, 6)],
    "a write of the dead may be seen at any time": [
        write("1", 1, -1, PENDING),
        write("2", 2, 3),
        read("2", 4, 5),
        read("1", 6, 7),
    ],
    "a key beyond the page is not missed": [
        write("1", 1, 2),
        listed(Listing("", "a", ()), 3, 4),
    ],
    "a commit takes what is written beside it": [
        write("1", 2, 3),
        whole(Kind.COMMIT, {"k": "1"}, 1, 4),
    ],
    "a call that never took a step wrote nothing": [
        write("1", -1, -1, PENDING),
        read(None, 1, 2),
    ],
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_promise_is_named(name: str) -> None:
    promise, operations = BROKEN[name]

    assert {v.promise for v in violations(operations)} == {promise}
    with pytest.raises(AssertionError, match=promise):
        check_history(operations)


@pytest.mark.parametrize("name", KEPT)
def test_what_is_allowed_is_accepted(name: str) -> None:
    check_history(KEPT[name])


def test_what_was_there_before_counts_as_written() -> None:
    check_history([read("0", 1, 2)], {"k": "0"})
    assert {v.promise for v in violations([read(None, 1, 2)], {"k": "0"})} == {"G2"}


@st.composite
def histories(draw: st.DrawFn) -> list[Operation]:
    times = draw(st.permutations(range(12)))
    operations = []
    for start, end in zip(times[::2], times[1::2], strict=True):
        low, high = min(start, end), max(start, end)
        identity = draw(st.sampled_from([None, "1", "2", "3"]))
        if draw(st.booleans()):
            result = draw(st.sampled_from([Result.OK, FAIL, UNKNOWN, REFUSED]))
            operations.append(write(identity, low, high, result))
        else:
            operations.append(read(identity, low, high))
    return operations


def naive(operations: list[Operation]) -> int:
    """Count bad reads by the words of G1, G2 and G5, all pairs compared."""
    writes = [o for o in operations if o.kind is Kind.WRITE and o.result is not REFUSED]
    candidates = [*writes, write(None, -1, -1)]
    bad = 0
    for r in (o for o in operations if o.kind is Kind.READ):
        good = [
            w
            for w in candidates
            if w.identity == r.identity
            and not r.response < w.invocation
            and not any(
                w.response < later.invocation and later.response < r.invocation
                for later in writes
                if later.result is Result.OK
            )
        ]
        bad += not good
    return bad


@given(histories())
def test_the_fast_checker_agrees_with_the_words_of_the_promises(history: list[Operation]) -> None:
    assert len(list(violations(history))) == naive(history)


def test_a_history_is_read_back_from_its_lines() -> None:
    history = History()
    history.write("k", "1", lambda: None)
    history.read("k", lambda: "1")
    history.list("", lambda: Listing("", None, (("k", "1"),)))
    history.commit(lambda: ("c1", {"k": "1"}))
    history.final({"k": "1"})
    again = read_lines(history.lines())

    assert again == history.operations
    check_history(again)
