# SPDX-License-Identifier: Apache-2.0
"""What people are told when a glob matches nothing, or one datum is everything."""

import pytest

from lochan.pipelines.datums import explain
from lochan.pipelines.datums.explain import explain_match, explain_size
from lochan.pipelines.model.datum import Datum, DatumFile
from lochan.pipelines.model.spec import RepoInput
from support.lakes import open_stage
from support.planned import PlannedWorld, spec_of

PHOTOS = {f"2024/{n}.jpg": 1 for n in range(8)} | {"README": 1, "2024/x/deep.png": 1}


def told(tree: dict[str, int], glob: str) -> str:
    """Explain a glob over a tree."""
    stage = open_stage()
    world = PlannedWorld(stage, spec_of(RepoInput(name="img", repo="readings")))
    return explain_match(stage.storage.snapshots, world.tree(tree), "img", glob)


@pytest.mark.parametrize(
    ("glob", "says"),
    [
        ("/*.jpg", "glob /*.jpg matched 0 of 10 paths; nearest level: /*/*.jpg (8 paths)"),
        ("*.png", "glob /*.png matched 0 of 10 paths; nearest level: /*/*/*.png (1 paths)"),
        ("/a/b/c/d/*.gif", "matched 0 of 10 paths; nearest level: /*/*/* (1 paths)"),
        ("/{x/y,z}.gif", "matched 0 of 10 paths; nearest level: /*/* (9 paths)"),
        ("/*/*", "glob /*/* matched 9 of 10 paths"),
        ("/", "glob / matched 10 of 10 paths"),
    ],
)
def test_a_glob_says_what_it_matched_and_what_would_match(glob: str, says: str) -> None:
    assert told(PHOTOS, glob).endswith(says)


def test_an_empty_tree_says_so() -> None:
    assert told({}, "/*") == "input 'img': there are no files at all, so glob /* matched none"


def test_a_large_tree_is_looked_at_in_part_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(explain, "LOOKED_AT", 3)
    assert told(PHOTOS, "/*.gif").startswith(
        "input 'img': glob /*.gif matched 0 of the first 3 of 10 paths; nearest level: "
    )


def test_a_datum_that_is_most_of_the_work_is_told_of() -> None:
    files = (DatumFile("img", "photos", b"2024/", (), ()),)
    large, small = Datum(b"1", b"1", files, bytes=90), Datum(b"2", b"2", files, bytes=10)
    assert explain_size([large, small]) == (
        "one datum (2024/) has 90% of all bytes; a deeper glob would part it"
    )
    assert explain_size([small, small]) == explain_size([]) == ""
