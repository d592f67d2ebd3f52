# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.errors import InvalidInput
from lochan.refs.expression import MAX_STEPS, Expression, Modifier, Sign, parse_expression

names = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,8}", fullmatch=True)
numbered = st.from_regex(r"[a-z0-9_][a-z0-9_-]{0,8}[/.](0|[1-9][0-9]{0,9})", fullmatch=True)
foreign = st.text(st.characters(codec="utf-8", exclude_characters="~^@$/ \t\n\r\v\f"), min_size=1)
bases = st.one_of(names, numbered, foreign)
steps = st.builds(
    Modifier, st.sampled_from([Sign.ANCESTOR, Sign.PARENT]), st.integers(0, MAX_STEPS)
)
views = st.sampled_from([Modifier(Sign.COMMITTED), Modifier(Sign.STAGED)])
modifiers = st.one_of(st.lists(steps, max_size=4).map(tuple), st.tuples(views))
expressions = st.builds(Expression, bases, modifiers)


@given(expressions)
def test_what_is_written_is_read_back(expression: Expression) -> None:
    assert parse_expression(str(expression)) == expression


@given(st.text("ab7/.~^@$ -", max_size=8))
def test_any_text_is_read_and_written_alike_or_refused_with_its_place(text: str) -> None:
    try:
        expression = parse_expression(text)
    except InvalidInput as error:
        place = error.facts["position"]
        assert isinstance(place, int)
        assert 0 <= place <= len(text)
    else:
        assert parse_expression(str(expression)) == expression
        assert text.startswith(expression.base)


A, P = Sign.ANCESTOR, Sign.PARENT
UNDERSTOOD = [
    ("main", Expression("main")),
    ("main~", Expression("main", (Modifier(A, 1),))),
    ("main~0", Expression("main", (Modifier(A, 0),))),
    ("main~007", Expression("main", (Modifier(A, 7),))),
    ("main^2^", Expression("main", (Modifier(P, 2), Modifier(P, 1)))),
    ("main~^~3", Expression("main", (Modifier(A, 1), Modifier(P, 1), Modifier(A, 3)))),
    ("main@", Expression("main", (Modifier(Sign.COMMITTED),))),
    ("main$", Expression("main", (Modifier(Sign.STAGED),))),
    ("main/7~2", Expression("main/7", (Modifier(A, 2),))),
    ("v1.2", Expression("v1.2")),
]


@pytest.mark.parametrize(("text", "expected"), UNDERSTOOD)
def test_an_expression_is_a_base_and_modifiers(text: str, expected: Expression) -> None:
    assert parse_expression(text) == expected


REFUSED = [
    ("", 0),
    ("~1", 0),
    ("^^^3", 0),
    ("@", 0),
    ("main^a", 5),
    ("main~-1", 5),
    ("main~٣", 5),
    ("main@1", 5),
    ("main$x", 5),
    ("main@@", 4),
    ("main@~1", 4),
    ("main~1@", 6),
    ("main~2$", 6),
    (f"main~{MAX_STEPS + 1}", 5),
    ("main~" + "9" * 5000, 5),
    ("main 1", 4),
    ("main~1\n", 6),
    ("main/", 4),
    ("main/x", 4),
    ("main/07", 4),
    ("lake/main/7", 4),
    ("main\ud800", 4),
]


@pytest.mark.parametrize(("text", "place"), REFUSED)
def test_bad_syntax_is_refused_with_its_place(text: str, place: int) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_expression(text)
    assert refused.value.code == "invalid-ref"
    assert refused.value.facts["position"] == place


@pytest.mark.parametrize("text", ["data-1/12", "data-1.12"])
def test_a_commit_number_is_read_in_both_forms(text: str) -> None:
    assert parse_expression(text).numbered == ("data-1", 12)


@pytest.mark.parametrize(
    "text", ["main", "v1.2.3", "main.07", "main.x", ".7", "é.7", "main.99999999999"]
)
def test_other_bases_are_no_commit_numbers(text: str) -> None:
    assert parse_expression(text).numbered is None


def test_the_view_of_an_expression_is_at_or_dollar() -> None:
    assert parse_expression("main@").view is Sign.COMMITTED
    assert parse_expression("main$").view is Sign.STAGED
    assert parse_expression("main~2").view is None
    assert parse_expression("main").view is None
