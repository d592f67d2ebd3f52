# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from lochan.errors import InvalidInput, NotFound
from lochan.pipelines.attempts.input_files import InputFiles
from lochan.pipelines.attempts.output_files import Out
from lochan.pipelines.jobs.heads import pin_heads
from lochan.pipelines.jobs.try_datums import choose, datums_now, try_datums
from lochan.pipelines.model.datum import Datum
from lochan.pipelines.model.spec import RepoInput
from lochan.pipelines.model.work import Code
from support.attempts import code_folder
from support.pipeline_world import PHOTOS, THUMBS, PipelineWorld, thumbs

STEPS = """
def make(img, out):
    print("at", img.path)
    if img.path == "b":
        raise ValueError("bad")
    out.write("dir/" + img.path, img.read_text() * 1000)
"""


@pytest.fixture(scope="module")
def world() -> PipelineWorld:
    world = PipelineWorld.open()
    world.put({"a": "1", "b": "2", "c": "3", "d/e": "4"})
    return world


@pytest.fixture(scope="module")
def datums(world: PipelineWorld) -> tuple[Datum, ...]:
    return datums_now(world.lake, thumbs())


def test_chosen_datums_run_here_and_nothing_is_published(
    world: PipelineWorld, datums: tuple[Datum, ...], tmp_path: Path
) -> None:
    objects = {name: len(store.list().entries) for name, store in world.objects.items()}
    before = world.head()

    good, bad = try_datums(
        world.lake, thumbs(), datums[:2], code=code_folder(tmp_path, STEPS, "steps.py")
    )

    assert (good.passed, good.inputs, good.number) == (True, ("img:a",), 0)
    assert [(one.path, one.size, one.head) for one in good.outputs] == [
        ("dir/a", 1000, b"1" * 1000)
    ]
    assert [line.text for line in good.log] == ["at a"]
    assert (bad.passed, bad.reason, bad.outputs) == (False, "ValueError: bad", ())
    assert "at b" in [line.text for line in bad.log]
    assert {name: len(store.list().entries) for name, store in world.objects.items()} == objects
    assert world.head() == before


def test_outputs_are_kept_where_the_caller_says(
    world: PipelineWorld, datums: tuple[Datum, ...], tmp_path: Path
) -> None:
    def make(img: InputFiles, out: Out) -> None:
        out.write(f"x/{img.path.strip('/')}", img.captures[0] if img.captures else "none")

    try_datums(world.lake, thumbs(), datums, code=Code(), function=make, into=tmp_path)

    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert found == {"0/x/a", "1/x/b", "2/x/c", "3/x/d"}


def test_code_that_cannot_be_run_is_said_at_once(
    world: PipelineWorld, datums: tuple[Datum, ...], tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match="has no 'make'"):
        try_datums(world.lake, thumbs(), datums, code=code_folder(tmp_path, ""))


def test_datums_are_chosen_by_number_path_or_pattern(datums: tuple[Datum, ...]) -> None:
    def numbers(**said: list[int] | list[str]) -> list[int]:
        return [datum.number for datum in choose(datums, **said)]  # type: ignore[arg-type]  # both

    assert numbers() == [0, 1, 2, 3]
    assert numbers(numbers=[2, 0]) == [0, 2]
    assert numbers(paths=["/c"]) == [2]
    assert numbers(paths=["[ab]"], numbers=[3]) == [0, 1, 3]
    assert numbers(paths=["d/e"]) == numbers(paths=["d/"]) == [3]


def test_what_chooses_no_datum_is_said(datums: tuple[Datum, ...]) -> None:
    with pytest.raises(NotFound, match="no datum 9; there are 0 to 3"):
        choose(datums, numbers=[9])
    with pytest.raises(NotFound, match="no datum reads 'x'"):
        choose(datums, paths=["x"])
    with pytest.raises(NotFound, match="no datums at all"):
        choose((), numbers=[0])


def test_inputs_are_pinned_to_what_is_committed_or_to_a_ref(world: PipelineWorld) -> None:
    head = world.head(PHOTOS)

    assert [pin.commit for pin in pin_heads(world.lake, thumbs())] == [head.id]
    assert datums_now(world.lake, thumbs(), {"img": "main~1"}) == ()
    with pytest.raises(NotFound, match="no input 'other'"):
        pin_heads(world.lake, thumbs(), {"other": "main"})
    with pytest.raises(NotFound):
        pin_heads(world.lake, thumbs(input=RepoInput(name="x", repo=THUMBS, branch="none")))
