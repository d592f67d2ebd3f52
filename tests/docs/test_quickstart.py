# SPDX-License-Identifier: Apache-2.0
"""Every block of the first two pages runs, and shows what its page says that it shows."""

import shutil
from pathlib import Path

import pytest

from servers.missing import skip_without
from support.page_blocks import SERVER, Block, Reader, as_shown, blocks_of

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs" / "quickstart.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_of_a_page_runs_and_shows_what_the_page_says(
    page: Path, tmp_path: Path
) -> None:
    first, *blocks = blocks_of(page)
    assert first.body.strip() == SERVER
    reader = Reader(tmp_path)
    with reader.server():
        for block in blocks:
            check(block, reader.run(block))


def check(block: Block, shown: str) -> None:
    wrong = f"line {block.line} shows\n{shown}and not\n{block.shows}"
    assert block.shows is None or as_shown(block.shows).fullmatch(shown), wrong


@pytest.fixture(autouse=True)
def _curl() -> None:
    if shutil.which("curl") is None:
        skip_without("curl", "no such program on the PATH")


def test_an_output_that_differs_is_noticed() -> None:
    pattern = as_shown("made ... in 3 files\n...\nend\n")
    assert pattern.fullmatch("made abc in  3 files\none\ntwo\nend\n")
    assert not pattern.fullmatch("made abc in 4 files\nend\n")
    assert not pattern.fullmatch("made abc in 3 files\nend\nmore\n")
