# SPDX-License-Identifier: Apache-2.0
"""The page of guarantees is whole and true: each label has a row, each row a test of its name."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "guarantees.md"
DECISION = ROOT / "docs" / "decisions" / "0008-where-we-differ-from-the-seeds.md"
SUITES = (ROOT / "tests", ROOT / "src" / "lochan" / "testing")

COUNTS = {
    "rel": {"G": 17, "K": 8, "R": 20, "D": 4, "P": 7, "N": 2, "H": 19, "S": 33},
    "pach": {"S": 12, "C": 11, "H": 6, "F": 7, "P": 7, "I": 7, "M": 9, "J": 7},
}
LABELS = [
    *(
        f"{page}_{letter}{number}"
        for page, letters in COUNTS.items()
        for letter, last in letters.items()
        for number in range(1, last + 1)
    ),
    "pach_start_commit",
]
# What nothing shows yet: their parts are not written.
# The S3 gateway: S1 to S6, S8, S10. Hooks: H17, S23, S24. OIDC: S15. UI: S30.
PLANNED = {"rel_H17", *(f"rel_S{n}" for n in (1, 2, 3, 4, 5, 6, 8, 10, 15, 23, 24, 30))}

ROW = re.compile(r"^\| ((?:rel|pach)_\w+) \|.*\|(.*)\|$", re.MULTILINE)
TEST = re.compile(r"`(test_\w+(?:\[[^\]]+\])?)`")
LABEL = re.compile(r"(?:rel|pach)_[A-Z]\d+")


def labels_of(test: str) -> set[str]:
    """Read the labels in a test's name: test_rel_G1_G7_x has two, test_x[rel_H1] has one."""
    name, _, case = test.partition("[")
    found = {"pach_start_commit"} if name.startswith("test_pach_start_commit") else set()
    found.update(LABEL.findall(case))
    page = ""
    for part in name.split("_"):
        if part in COUNTS:
            page = part
        elif page and re.fullmatch(r"[A-Z]\d+", part):
            found.add(f"{page}_{part}")
        else:
            page = ""
    return found


def rows() -> dict[str, list[str]]:
    """Give the tests that the page names for each label."""
    found = ROW.findall(PAGE.read_text())
    assert len(found) == len(dict(found)), "a label has two rows"
    return {label: TEST.findall(tests) for label, tests in found}


@cache
def existing() -> frozenset[str]:
    """Name every test there is; those of a file whose cases have labels, with each of them, too."""
    found = set[str]()
    for file in (file for suite in SUITES for file in suite.rglob("*.py")):
        nodes = list(ast.walk(ast.parse(file.read_text())))
        functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
        tests = [node for node in functions if node.name.startswith("test_")]
        texts = [node.value for node in nodes if isinstance(node, ast.Constant)]
        cases = [text for text in texts if isinstance(text, str) and LABEL.match(text)]
        found.update(test.name for test in tests)
        found.update(f"{test.name}[{case}]" for test in tests if test.args.args for case in cases)
    return frozenset(found)


def test_every_label_has_a_row_and_no_other_has() -> None:
    assert sorted(rows()) == sorted(LABELS)


def test_every_row_names_a_test_or_is_planned() -> None:
    assert {label for label, tests in rows().items() if not tests} == PLANNED


def test_every_test_that_is_named_exists_and_carries_its_label() -> None:
    named = [(label, test) for label, tests in rows().items() for test in tests]

    assert [test for _, test in named if test not in existing()] == []
    assert [(label, test) for label, test in named if label not in labels_of(test)] == []


def test_no_test_carries_a_label_that_is_none() -> None:
    carried = {label for test in existing() for label in labels_of(test)}

    assert {label for label in carried if not label.startswith("rel_V")} <= set(LABELS)  # V: layers


def test_every_test_that_the_decision_names_exists() -> None:
    named = TEST.findall(DECISION.read_text())

    assert named
    assert [test for test in named if test not in existing()] == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("test_rel_G1_G7_nothing_is_lost", {"rel_G1", "rel_G7"}),
        ("test_pach_C6_rel_P1_the_case", {"pach_C6", "rel_P1"}),
        ("test_pach_start_commit_pach_C1_on_a_name", {"pach_start_commit", "pach_C1"}),
        ("test_a_name_without_G1", set()),
        ("test_a_hole_is_caught[rel_H5, its own write]", {"rel_H5"}),
    ],
)
def test_labels_are_read_from_names(name: str, expected: set[str]) -> None:
    assert labels_of(name) == expected
