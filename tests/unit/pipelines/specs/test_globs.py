# SPDX-License-Identifier: Apache-2.0
"""Globs against a matcher that tries every way, and what the manual says of them."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lochan.errors import InvalidInput
from lochan.pipelines.specs.globs import ROOT, Glob, parse_glob, substituted

Tree = tuple[object, ...]  # ("text", "a") ("any",) ("step",) ("deep",) ("set", "ab", True) ...


def spelled(tree: Tree) -> str:
    """Write a pattern as a glob."""
    match tree:
        case ("text", str(text)):
            return text
        case ("one",):
            return "?"
        case ("step",):
            return "*"
        case ("deep",):
            return "**"
        case ("set", str(characters), negated):
            return f"[{'!' if negated else ''}{characters}]"
        case ("any", *parts):
            return "{" + ",".join(map(spelled, parts)) + "}"  # type: ignore[arg-type]
        case ("capture", part):
            return f"({spelled(part)})"  # type: ignore[arg-type]
        case ("all", *parts):
            return "".join(map(spelled, parts))  # type: ignore[arg-type]
    raise AssertionError(tree)


def ends(tree: Tree, name: str, start: int) -> set[int]:
    """Say where a match that begins at a place may end."""
    following = name[start : start + 1]
    match tree:
        case ("text", str(text)):
            return {start + len(text)} if name.startswith(text, start) else set()
        case ("one",):
            return {start + 1} if following and following != "/" else set()
        case ("step",):
            stop = name.find("/", start)
            return set(range(start, (len(name) if stop < 0 else stop) + 1))
        case ("deep",):
            return set(range(start, len(name) + 1))
        case ("set", str(characters), negated):
            fits = following and following != "/" and (following in characters) != negated
            return {start + 1} if fits else set()
        case ("any", *parts):
            return {stop for part in parts for stop in ends(part, name, start)}  # type: ignore[arg-type]
        case ("capture", part):
            return ends(part, name, start)  # type: ignore[arg-type]
        case ("all", *parts):
            found = {start}
            for part in parts:
                found = {stop for one in found for stop in ends(part, name, one)}  # type: ignore[arg-type]
            return found
    raise AssertionError(tree)


def is_plain(tree: Tree) -> bool:
    """Say whether stars stand for themselves where they stand."""
    stars = re.findall(r"\*+", spelled(tree))
    told = (str(tree).count("step"), str(tree).count("deep"))
    return told == (stars.count("*"), stars.count("**")) == (
        told[0],
        len(stars) - told[0],
    ) and not re.search(r"(^|/)\*\*/", spelled(tree))


ONE = st.one_of(
    st.text("ab/", min_size=1, max_size=2).map(lambda text: ("text", text)),
    st.sampled_from(
        [("one",), ("step",), ("set", "ab", False), ("set", "ab", True), ("set", "b", True)]
    ),
)
TREES = st.recursive(
    st.one_of(ONE, st.just(("deep",))),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: ("any", *parts)),
        inner.map(lambda part: ("capture", part)),
        st.lists(inner, min_size=1, max_size=4).map(lambda parts: ("all", *parts)),
    ),
    max_leaves=8,
)
NAMES = st.lists(st.text("abc", min_size=1, max_size=2), min_size=1, max_size=4).map("/".join)


@given(TREES, st.lists(NAMES, min_size=1, max_size=6))
@settings(max_examples=300, deadline=None)
def test_a_glob_matches_what_trying_every_way_finds(tree: Tree, names: list[str]) -> None:
    text = spelled(tree)
    if "//" in f"/{text}/" or not is_plain(tree):
        return  # empty steps are refused; ** as a whole step has a meaning of its own (below)
    glob = parse_glob(f"/{text}")
    for name in names:
        found = glob.match(name.encode())
        assert (found is not None) == (len(name) in ends(tree, name, 0)), (text, name)
        if found is not None:
            assert name.startswith(glob.prefix.decode())
            assert len(found.captures) == text.count("(")
            assert all(capture in name for capture in found.captures)


def keys(glob: Glob, *names: str) -> list[str]:
    """Name the parts that objects belong to."""
    return [found.key.decode() for name in names for found in glob.parts_of(name.encode())]


@given(TREES, NAMES)
@settings(max_examples=200, deadline=None)
def test_the_parts_of_an_object_are_itself_or_folders_above_it_that_match(
    tree: Tree, name: str
) -> None:
    text = spelled(tree)
    if "//" in f"/{text}":
        return
    glob = parse_glob(f"/{text}")
    if glob.depth == 0:
        assert keys(glob, name) == ["/"]
        return
    steps = name.split("/")
    above = ["/".join(steps[:count]) + "/" for count in range(1, len(steps))]
    wanted = [part for part in [*above, name] if glob.match(part.encode())]
    assert keys(glob, name) == wanted
    if glob.depth is not None:
        assert all(part.rstrip("/").count("/") + 1 == glob.depth for part in wanted)


def test_a_folder_is_one_part_with_all_below_it() -> None:
    assert keys(parse_glob("/"), "a", "b/c") == ["/", "/"]
    assert keys(parse_glob("/*"), "a", "b/c", "b/d/e") == ["a", "b/", "b/"]
    assert keys(parse_glob("/*/"), "a", "b/c") == ["b/"]
    assert keys(parse_glob("/*/*"), "a", "b/c", "b/d/e") == ["b/c", "b/d/"]
    assert keys(parse_glob("logs/*"), "logs/a", "log") == ["logs/a"]


def test_two_stars_are_any_number_of_steps_and_match_files_alone() -> None:
    assert keys(parse_glob("/**/*.csv"), "a.csv", "b/c/d.csv", "b/c.txt") == ["a.csv", "b/c/d.csv"]
    assert keys(parse_glob("/a/**"), "a/b", "a/c/d", "b") == ["a/b", "a/c/d"]
    assert keys(parse_glob("/**/logs/"), "logs/1", "x/logs/y/logs/2") == [
        "logs/", "x/logs/", "x/logs/y/logs/",
    ]  # fmt: skip


def test_captures_are_read_from_the_name() -> None:
    glob = parse_glob("/(*)/(*)-{a,b(?)}.jpg")
    found = glob.match(b"2024/x-b7.jpg")
    assert found is not None
    assert found.captures == ("2024", "x", "7")
    assert substituted("$2-$1$$", found.captures) == "x-2024$"
    assert glob.match(b"2024/x-a.jpg") == (b"2024/x-a.jpg", ("2024", "x", ""))
    with pytest.raises(InvalidInput, match=r"asks for \$4, and the glob captures 3"):
        substituted("$4", found.captures)


def test_names_without_sense_as_text_or_with_empty_steps_harm_nobody() -> None:
    found = parse_glob("/(*)").match(b"\xff.bin")
    assert found is not None
    assert found.captures == ("\N{REPLACEMENT CHARACTER}.bin",)
    assert keys(parse_glob("/*/*"), "a/", "a//b", "/a") == []
    assert keys(parse_glob("/*"), "a/", "a//b") == ["a/", "a/"]
    assert parse_glob("/").match(ROOT) == (ROOT, ())


def test_special_characters_can_be_meant_as_themselves() -> None:
    assert keys(parse_glob("/a\\*"), "a*", "ab") == ["a*"]
    assert keys(parse_glob("/[a-][]][*^|&~]"), "a]*", "-]&", "b]*") == ["a]*", "-]&"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("/(a", r"\( has no \), at character 2"),
        ("/a)", r"'\)' closes nothing, at character 3"),
        ("/[a", r"\[ has no \]"),
        ("/{a,b", r"{ has no }"),
        ("/a}", "'}' closes nothing"),
        ("//", "empty step"),
        ("/a//b", "empty step"),
        ("/a\\", "ends with a backslash"),
        ("/[z-a]", "z-a is no range"),
        ("/" + "a" * 2000, "at most 1024"),
    ],
)
def test_a_glob_that_is_none_says_where_and_why(text: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        parse_glob(text)
