# SPDX-License-Identifier: Apache-2.0
"""Every block of the page on pipelines runs, in an empty folder, and shows what the page says."""

from pathlib import Path

from support.page_blocks import Reader, as_shown, blocks_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "pipelines.md"


def test_every_block_of_the_page_runs_and_shows_what_the_page_says(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    blocks = blocks_of(PAGE)
    assert len(blocks) > 8
    for block in blocks:
        shown = reader.run(block)
        wrong = f"line {block.line} shows\n{shown}and not\n{block.shows}"
        assert block.shows is None or as_shown(block.shows).fullmatch(shown), wrong
