# SPDX-License-Identifier: Apache-2.0
"""The documents are true: links lead somewhere, files and targets exist.

Code of the first pages is run by tests/docs/test_quickstart.py.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
PATHS = [
    f"/{path.relative_to(ROOT)}{'/' * path.is_dir()}"
    for top in ("src", "tests", "bench", "examples")
    for path in (ROOT / top).rglob("*")
]
LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")
CODE = re.compile(r"`([\w/.]+\.(?:py|pyx|proto))`")
TARGET = re.compile(r"`make (\w+)")


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_leads_to_a_file(page: Path) -> None:
    links = LINK.findall(page.read_text())

    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_source_file_that_is_named_exists(page: Path) -> None:
    named = CODE.findall(page.read_text())

    assert [file for file in named if not any(path.endswith(f"/{file}") for path in PATHS)] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_make_target_that_is_named_exists(page: Path) -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))

    assert set(TARGET.findall(page.read_text())) <= targets
