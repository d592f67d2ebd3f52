# SPDX-License-Identifier: Apache-2.0
import timeit
from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lochan.access import actions
from lochan.access.arn import object_arn, repository_arn, user_arn
from lochan.access.builtin import GROUPS, POLICIES
from lochan.access.decide import Rules, decide, fits_beginning, matcher
from lochan.access.needed import AllOf, Permission, permissions_of
from lochan.access.principal import Principal
from lochan.errors import InvalidInput, PermissionDenied
from lochan.model.access import Policy, Statement
from lochan.model.ids import UniqueIdentifier

LETTERS = "ab/:?*$"
TEXTS = st.text(LETTERS, max_size=9)
PATTERNS = st.lists(st.sampled_from([*LETTERS, "${user}"]), max_size=7).map("".join)
STATEMENTS = st.builds(
    Statement,
    st.sampled_from(["allow", "deny"]),
    st.lists(st.text("fr:*?", max_size=4), min_size=1, max_size=3).map(tuple),
    PATTERNS.filter(lambda text: not text.startswith("[")),
)


def policy(*statements: Statement) -> Policy:
    return Policy(name="p", unique_identifier=UniqueIdentifier("u"), statement=statements)


def tokens(pattern: str, user: str) -> list[str]:
    """Cut a pattern into letters and wildcards; a user's name is letters only."""
    parts = pattern.split("${user}")
    found: list[str] = []
    for number, part in enumerate(parts):
        if number:
            found += [f"={letter}" for letter in user]
        found += [letter if letter in "*?" else f"={letter}" for letter in part]
    return found


def naive_match(pattern: str, user: str, text: str) -> bool:
    wanted = tokens(pattern, user)

    @cache
    def fits(here: int, there: int) -> bool:
        if here == len(wanted):
            return there == len(text)
        if wanted[here] == "*":
            return fits(here + 1, there) or (there < len(text) and fits(here, there + 1))
        if there == len(text):
            return False
        return wanted[here] in {"?", f"={text[there]}"} and fits(here + 1, there + 1)

    return fits(0, 0)


def naive_decide(policies: list[Policy], action: str, resource: str, user: str) -> bool:
    effects = {
        statement.effect
        for one in policies
        for statement in one.statement
        if any(naive_match(pattern, "${user}", action) for pattern in statement.action)
        and naive_match(statement.resource, user, resource)
    }
    return effects == {"allow"}


@given(PATTERNS, TEXTS, TEXTS)
@example("a*b*${user}", "*", "a/b*")
def test_a_pattern_matches_what_a_naive_reader_says(pattern: str, user: str, text: str) -> None:
    assert bool(matcher(pattern, user)(text)) == naive_match(pattern, user, text)


@given(
    st.lists(st.builds(policy, STATEMENTS, STATEMENTS), max_size=3),
    st.text("fr:", max_size=4),
    TEXTS,
    TEXTS,
)
def test_a_decision_is_what_a_naive_reader_says(
    policies: list[Policy], action: str, resource: str, user: str
) -> None:
    expected = naive_decide(policies, action, resource, user)
    assert decide(policies, action, resource, user) == expected


@given(PATTERNS, TEXTS, TEXTS, TEXTS)
@example("a/*/b", "", "a/", "x/b")
def test_a_pattern_that_matches_a_text_fits_each_of_its_beginnings(
    pattern: str, user: str, beginning: str, rest: str
) -> None:
    if naive_match(pattern, user, beginning + rest):
        assert fits_beginning(pattern, user, beginning)


@given(PATTERNS, TEXTS, TEXTS)
def test_a_pattern_fits_a_beginning_only_where_a_text_goes_on_from_there(
    pattern: str, user: str, beginning: str
) -> None:
    marks = tokens(pattern, user)
    rests = ("".join(mark.removeprefix("=") for mark in marks[at:]) for at in range(len(marks) + 1))
    matched = any(naive_match(pattern, user, beginning + rest) for rest in rests)
    assert fits_beginning(pattern, user, beginning) == matched


@given(st.builds(policy, STATEMENTS, STATEMENTS, STATEMENTS), TEXTS, TEXTS, TEXTS)
def test_rel_S16_what_is_allowed_below_is_allowed_for_each(
    one: Policy, beginning: str, rest: str, user: str
) -> None:
    if Rules(one.statement, user).allow_below("fr", beginning):
        assert decide([one], "fr", beginning + rest, user)


def test_rel_S16_a_deny_of_something_below_denies_the_whole() -> None:
    allow = Statement("allow", ("fs:*",), object_arn("lake", "*"))
    deny = Statement("deny", ("fs:Delete*",), object_arn("lake", "raw/secret/*"))
    rules = Rules((allow, deny), "ann")
    assert rules.allow_below(actions.DELETE_OBJECT, object_arn("lake", "raw/open/"))
    for folder in ("", "raw/", "raw/sec", "raw/secret/", "raw/secret/deep/"):
        assert not rules.allow_below(actions.DELETE_OBJECT, object_arn("lake", folder))
    one = Statement("allow", ("fs:*",), object_arn("lake", "raw/?"))
    assert not Rules((one,), "ann").allow_below(actions.READ_OBJECT, object_arn("lake", "raw/"))


def test_an_explicit_deny_wins_and_silence_denies() -> None:
    allow = policy(Statement("allow", ("fs:*",), "*"))
    deny = policy(Statement("deny", ("fs:Delete*",), object_arn("lake", "*")))
    key = object_arn("lake", "a")
    assert decide([allow], actions.DELETE_OBJECT, key, "ann")
    assert not decide([deny, allow], actions.DELETE_OBJECT, key, "ann")
    assert decide([deny, allow], actions.DELETE_OBJECT, object_arn("pond", "a"), "ann")
    assert not decide([], actions.READ_OBJECT, key, "ann")
    assert not decide([deny], actions.READ_OBJECT, key, "ann")


def test_an_effect_that_nobody_knows_denies() -> None:
    odd = policy(Statement("allow", ("fs:*",), "*"), Statement("Allow", ("fs:*",), "*"))
    assert not decide([odd], actions.READ_OBJECT, object_arn("lake", "a"), "ann")


@pytest.mark.parametrize("name", ["ann", "*", "?nn", "${user}", "a/b", "[a]", "a.c", r"\d"])
def test_a_user_manages_its_own_credentials_whatever_its_name(name: str) -> None:
    own = [policy(*POLICIES["AuthManageOwnCredentials"])]
    assert decide(own, actions.CREATE_CREDENTIALS, user_arn(name), name)
    assert not decide(own, actions.CREATE_CREDENTIALS, user_arn("bob"), name)
    assert not decide(own, actions.CREATE_USER, user_arn(name), name)


def test_a_star_in_an_object_key_is_a_star() -> None:
    one = [policy(Statement("allow", ("fs:ReadObject",), object_arn("lake", "a")))]
    assert not decide(one, actions.READ_OBJECT, object_arn("lake", "*"), "ann")


def test_a_resource_may_be_a_json_list() -> None:
    listed = f'["{repository_arn("lake")}", "{repository_arn("pond-*")}"]'
    both = [policy(Statement("allow", ("fs:*",), listed))]
    for name, expected in [("lake", True), ("pond-2", True), ("sea", False)]:
        assert decide(both, actions.READ_REPOSITORY, repository_arn(name), "ann") == expected


def test_rel_S18_no_pattern_makes_a_decision_slow() -> None:
    pattern = "a*" * 200 + "b" + "*?" * 100
    matches, text = matcher(pattern, ""), "a" * 4000 + "c"
    assert not matches(text)
    assert timeit.timeit(lambda: matches(text), number=1) < 0.25


@pytest.mark.parametrize(
    ("group", "action", "expected"),
    [
        ("Admins", actions.CREATE_USER, True),
        ("Admins", actions.SET_BRANCH_PROTECTION_RULES, True),
        ("SuperUsers", actions.DELETE_REPOSITORY, True),
        ("SuperUsers", actions.CREATE_USER, False),
        ("Developers", actions.CREATE_COMMIT, True),
        ("Developers", actions.CREATE_REPOSITORY, False),
        ("Developers", actions.WRITE_PULL_REQUEST, True),
        ("Viewers", actions.READ_OBJECT, True),
        ("Viewers", actions.WRITE_OBJECT, False),
        ("Viewers", actions.LIST_USERS, False),
    ],
)
def test_what_a_built_in_group_may_do(group: str, action: str, expected: bool) -> None:  # noqa: FBT001 - a column of the table
    policies = [policy(*POLICIES[name]) for name in GROUPS[group]]
    assert decide(policies, action, "arn:lakefs:fs:::repository/lake", "ann") == expected


def test_admins_may_do_everything_that_there_is() -> None:
    policies = [policy(*POLICIES[name]) for name in GROUPS["Admins"]]
    denied = [a for a in actions.ACTIONS if not decide(policies, a, "arn:lakefs:x", "ann")]
    assert denied == []
    assert len(actions.ACTIONS) > 60


def test_a_request_that_needs_several_permissions_needs_all() -> None:
    reading = Rules((Statement("allow", ("fs:ReadObject",), "*"),), "ann")
    ann = Principal("ann", UniqueIdentifier("u"), reading)
    read = Permission(actions.READ_OBJECT, object_arn("lake", "a"))
    write = Permission(actions.WRITE_OBJECT, object_arn("lake", "b"))
    ann.require(AllOf(read, AllOf(read)))
    with pytest.raises(PermissionDenied) as denied:
        ann.require(AllOf(read, AllOf(read, write)))
    assert denied.value.facts == {"action": write.action, "resource": write.resource}
    assert list(permissions_of(AllOf(read, AllOf(write)))) == [read, write]


def test_nothing_needed_is_no_permission() -> None:
    with pytest.raises(InvalidInput):
        AllOf()
