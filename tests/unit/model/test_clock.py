# SPDX-License-Identifier: Apache-2.0
"""Seed 002's clocks: how they are given (C1-C4), what they say (C5-C11), ranges (H1-H6)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.errors import Internal, InvalidInput
from lochan.model.clock import (
    CommitNumber,
    Span,
    between,
    caused_by,
    clock_of,
    leave_line,
    next_clock,
    number_of,
    parse_commit_number,
    parting,
    ranges,
)
from lochan.model.ids import BranchName, CommitId, LineageId, MetaRangeId, StagingToken
from lochan.model.instant import Instant
from lochan.model.records import Branch, Clock, Commit, Ordinal

Clocks = tuple[Clock, ...]
FRESH = LineageId("fresh")


def clock(*parts: tuple[str, int]) -> Clocks:
    return tuple(Clock(LineageId(lineage), place) for lineage, place in parts)


def commit(clocks: Clocks) -> Commit:
    return Commit(
        id=CommitId("c"),
        committer="",
        message="",
        creation_date=Instant(0),
        meta_range_id=MetaRangeId(""),
        clocks=clocks,
    )


def branch(lineage: str = "", ordinals: tuple[Ordinal, ...] = ()) -> Branch:
    return Branch(
        branch_id=BranchName("b"),
        commit_id=CommitId("c"),
        staging_token=StagingToken("t"),
        lineage=LineageId(lineage),
        ordinals=ordinals,
    )


FOO = [clock(("foo", n)) for n in range(4)]
BAR = [clock(("foo", 0), ("bar", n)) for n in range(3)]
BUZZ = clock(("foo", 0), ("bar", 1), ("buzz", 0))
GRAPH = [*FOO, *BAR, BUZZ]
# The seed's graph, its fourth commit of foo read as (foo, 3): each commit's first parent.
PARENTS = {FOO[1]: FOO[0], FOO[2]: FOO[1], FOO[3]: FOO[2], BAR[0]: FOO[0]} | {
    BAR[1]: BAR[0],
    BAR[2]: BAR[1],
    BUZZ: BAR[1],
}


def is_before(earlier: Clocks, later: Clocks) -> bool:
    while later in PARENTS:
        later = PARENTS[later]
        if later == earlier:
            return True
    return False


def test_pach_C1_the_first_commit_of_a_root_branch_has_one_component() -> None:
    assert next_clock(None, branch(), FRESH).clocks == clock(("fresh", 0))


def test_pach_C2_the_first_commit_of_a_forked_branch_appends_a_component() -> None:
    following = next_clock(commit(BAR[1]), branch(), FRESH)
    assert following.clocks == (*BAR[1], Clock(FRESH, 0))
    assert following.lineage == FRESH
    assert following.ordinals == (Ordinal(FRESH, 0),)


def test_pach_C3_every_other_commit_increments_the_last_component() -> None:
    owner = branch("bar", (Ordinal(LineageId("bar"), 0),))
    following = next_clock(commit(BAR[1]), owner, FRESH)
    assert following == (BAR[2], "bar", owner.ordinals)


def test_pach_C4_the_seeds_graph_comes_out_with_foo_3() -> None:
    made = [next_clock(None, branch(), LineageId("foo")).clocks]
    for _ in range(3):
        made.append(next_clock(commit(made[-1]), branch("foo"), FRESH).clocks)
    made.append(next_clock(commit(made[0]), branch(), LineageId("bar")).clocks)
    for _ in range(2):
        made.append(next_clock(commit(made[-1]), branch("bar"), FRESH).clocks)
    made.append(next_clock(commit(made[5]), branch(), LineageId("buzz")).clocks)
    assert made == GRAPH


def test_pach_C5_both_clauses_of_the_seed_are_enough() -> None:
    for earlier in GRAPH:
        for later in GRAPH:
            prefix = later[: len(earlier)] == earlier and later != earlier
            smaller = (
                later[:-1] == earlier[:-1]
                and later[-1].branch == earlier[-1].branch
                and earlier[-1].commit < later[-1].commit
            )
            assert caused_by(later, earlier) or not (prefix or smaller)


def test_pach_C6_rel_P1_the_case_that_the_seeds_rule_misses_is_an_ancestor() -> None:
    assert caused_by(clock(("foo", 1), ("bar", 0)), clock(("foo", 0)))


def by_c6(earlier: Clocks, later: Clocks) -> bool:
    size = len(earlier)
    return (
        earlier != later
        and size <= len(later)
        and earlier[:-1] == later[: size - 1]
        and earlier[-1].branch == later[size - 1].branch
        and earlier[-1].commit <= later[size - 1].commit
    )


@given(st.lists(st.tuples(st.integers(0, 40), st.booleans()), max_size=40), st.data())
def test_pach_C6_pach_C7_both_forms_of_the_rule_agree_with_walking_parents(
    steps: list[tuple[int, bool]], data: st.DataObject
) -> None:
    made, parents = [clock(("l0", 0))], {0: -1}
    tips = {0}
    for number, (chosen, forks) in enumerate(steps, 1):
        parent = chosen % number
        owns = parent in tips and not forks
        lineage = made[parent][-1].branch if owns else ""
        fresh = LineageId(f"l{number}")
        made.append(next_clock(commit(made[parent]), branch(lineage), fresh).clocks)
        parents[number] = parent
        tips = (tips - {parent} if owns else tips) | {number}
    earlier = data.draw(st.integers(0, len(made) - 1))
    for later in range(len(made)):
        walked = parents[later]
        while walked not in {earlier, -1}:
            walked = parents[walked]
        assert caused_by(made[later], made[earlier]) == (walked == earlier)
        assert by_c6(made[earlier], made[later]) == (walked == earlier)


def test_pach_C8_a_commit_is_its_own_ancestor_only_in_the_or_self_form() -> None:
    for one in GRAPH:
        assert not caused_by(one, one)
        assert caused_by(one, one, or_self=True)


@pytest.mark.parametrize(
    ("earlier", "later"), [(FOO[1], BAR[2]), (BAR[2], BUZZ), (BUZZ, BAR[2]), (BAR[0], FOO[3])]
)
def test_pach_C9_siblings_are_not_ancestors(earlier: Clocks, later: Clocks) -> None:
    assert not caused_by(later, earlier)
    assert not caused_by(later, earlier, or_self=True)


def test_rel_P1_every_pair_of_the_seeds_graph_is_judged_as_walking_would() -> None:
    for earlier in GRAPH:
        for later in GRAPH:
            assert caused_by(later, earlier) == is_before(earlier, later)


def of_spans(spans: tuple[Span, ...]) -> set[Clock]:
    return {
        Clock(span.lineage, place) for span in spans for place in range(span.first, span.last + 1)
    }


def test_pach_C10_all_ancestors_are_one_contiguous_range_a_component() -> None:
    for one in GRAPH:
        expected = {a[-1] for a in GRAPH if a == one or is_before(a, one)}
        assert of_spans(ranges(one)) == expected
        assert len(ranges(one)) == len(one)


def test_pach_H1_history_is_arithmetic_on_two_clocks() -> None:
    assert between(BUZZ, FOO[0]) == (Span(LineageId("bar"), 0, 1), Span(LineageId("buzz"), 0, 0))


def test_pach_H2_history_leaves_out_from_and_has_to() -> None:
    assert of_spans(between(FOO[3], FOO[1])) == {FOO[2][-1], FOO[3][-1]}


def test_pach_H3_each_component_begins_after_the_same_one_of_from() -> None:
    later = clock(("a", 5), ("b", 3), ("c", 0))
    assert between(later, clock(("a", 5), ("b", 1))) == (
        Span(LineageId("b"), 2, 3),
        Span(LineageId("c"), 0, 0),
    )


def test_pach_H4_without_from_history_is_all_ancestors_and_self() -> None:
    assert between(BUZZ) == ranges(BUZZ)


def test_pach_H5_from_beside_to_gives_the_set_difference() -> None:
    for to in GRAPH:
        for since in GRAPH:
            assert of_spans(between(to, since)) == of_spans(ranges(to)) - of_spans(ranges(since))


def test_pach_H6_from_at_or_after_to_gives_nothing() -> None:
    assert between(FOO[2], FOO[2]) == ()
    assert between(FOO[1], FOO[3]) == ()


def test_the_parting_is_the_last_commit_on_both_ways() -> None:
    assert parting(FOO[3], BUZZ) == FOO[0]
    assert parting(BAR[2], BUZZ) == BAR[1]
    assert parting(FOO[3], FOO[1]) == FOO[1]
    assert parting(FOO[1], clock(("other", 0))) == ()


def test_numbers_go_on_through_a_reset_and_are_never_given_again() -> None:
    owner = branch("foo", (Ordinal(LineageId("foo"), 0),))
    lineage, ordinals = leave_line(commit(FOO[3]), owner)
    following = next_clock(commit(FOO[1]), branch(lineage, ordinals), FRESH)
    assert following.clocks == (*FOO[1], Clock(FRESH, 0))
    assert clock_of(following.ordinals, 3) == FOO[3][-1]
    assert clock_of(following.ordinals, 4) == Clock(FRESH, 0)
    assert number_of(following.ordinals, Clock(FRESH, 2)) == 6
    assert number_of(following.ordinals, FOO[2][-1]) == 2


def test_two_resets_without_a_commit_between_count_once() -> None:
    owner = branch("foo", (Ordinal(LineageId("foo"), 0),))
    once = leave_line(commit(FOO[3]), owner)
    assert leave_line(commit(FOO[0]), branch(*once)) == once
    assert clock_of(once[1], 4) is None


def test_a_branch_that_never_committed_has_no_numbers() -> None:
    assert clock_of((), 0) is None
    assert number_of((), FOO[0][-1]) is None


def test_pach_S4_a_commit_number_reads_as_it_is_written() -> None:
    number = parse_commit_number("data/foo/7")
    assert number == CommitNumber(number.repository, BranchName("foo"), 7)
    assert str(number) == "data/foo/7"


@pytest.mark.parametrize(
    "text", ["data/foo", "data/foo/-1", "data/foo/07", "data/foo/1/2", "d/f/x"]
)
def test_what_is_no_commit_number_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_commit_number(text)


def test_a_head_off_its_branchs_line_is_our_bug_and_named_so() -> None:
    with pytest.raises(Internal, match="owns line bar"):
        next_clock(commit(FOO[1]), branch("bar"), FRESH)
    with pytest.raises(Internal, match="leave_line"):
        next_clock(commit(FOO[1]), branch("", (Ordinal(LineageId("foo"), 0),)), FRESH)
    with pytest.raises(Internal, match="no clock"):
        next_clock(commit(()), branch(), FRESH)
