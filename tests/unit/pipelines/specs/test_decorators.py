# SPDX-License-Identifier: Apache-2.0
"""Pipelines as functions: the same model as in YAML, and still functions."""

from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Protocol

import pytest

import lochan
from lochan.errors import InvalidInput, NotFound
from lochan.pipelines import (
    Cron,
    Files,
    InputFiles,
    Out,
    Pipeline,
    Table,
    cross,
    group,
    join,
    pipeline,
    specs_of,
    union,
)
from lochan.pipelines.attempts import input_files, output_files
from lochan.pipelines.model.spec import (
    CronInput,
    CrossInput,
    FrameTransform,
    GroupInput,
    Input,
    JoinInput,
    RepoInput,
    Trigger,
    UnionInput,
)
from lochan.pipelines.specs.handed import InputFile
from lochan.pipelines.specs.yaml_spec import load_specs

SAME = f"""
pipeline: make-thumbs
description: Make pictures small.
input:
  cross:
    - repo: {{name: img, repo: photos, glob: "/(*)/*.jpg"}}
    - repo: {{name: model, repo: models, branch: prod, reference: true}}
transform: {{files: "{__name__}:make_thumbs", params: {{size: 256}}}}
output: {{repo: thumbs, branch: small, collision: last}}
shards: 4
datum: {{on_error: quarantine}}
trigger: {{each_commit: true}}
"""


@pipeline(
    output="thumbs@small",
    collision="last",
    params={"size": 256},
    shards=4,
    on_error="quarantine",
    trigger=Trigger(each_commit=True),
)
def make_thumbs(
    img: Files("photos@main", "/(*)/*.jpg"),  # type: ignore[valid-type] # an input
    model: Files("models@prod", reference=True),  # type: ignore[valid-type] # an input
    out: Out,
    size: int,
) -> None:
    """Make pictures small.

    More of it is of no interest.
    """
    out.write(img.path, f"{len(img.read_bytes())} {model} {size}")


@pipeline(output="loud")
def shout(text: Annotated[InputFiles, Files("texts", "/*")], out: Out) -> None:
    """Write what is read in capitals."""
    out.write(text.path, text.read_text().upper())


def spec_of(how: Any = None, **parameters: object) -> Input:  # noqa: ANN401 - what a test says
    def function() -> None: ...

    function.__annotations__ = parameters
    return pipeline(output="result", input=how)(function).spec.input


def repo(name: str, *, join_on: str = "", group_by: str = "") -> RepoInput:
    source = f"from-{name}"
    return RepoInput(name=name, repo=source, glob="/(*)", join_on=join_on, group_by=group_by)


def test_a_decorated_function_says_what_yaml_says() -> None:
    assert (make_thumbs.spec,) == load_specs(SAME, file="same.yaml")


def test_a_decorated_function_is_still_a_function() -> None:
    assert isinstance(make_thumbs, Pipeline)
    assert make_thumbs.__name__ == "make_thumbs"
    written: dict[str, str] = {}

    class Stand:
        path = "a.txt"
        write = staticmethod(written.__setitem__)

        def read_text(self) -> str:
            return "hello"

    shout(Stand(), out=Stand())  # type: ignore[arg-type] # anything that reads and writes will do
    assert written == {"a.txt": "HELLO"}


def test_tables_make_a_function_of_frames() -> None:
    @pipeline(output="daily", incremental="partition", partition_by=["dt"], name="by-day")
    def daily(events: Table("events@main", "/dt=*/", format="csv", options={"header": "true"})): ...  # type: ignore[no-untyped-def, valid-type] # noqa: ANN202 - of a test

    assert daily.spec.pipeline == "by-day"
    assert daily.spec.transform == FrameTransform(
        function=f"{__name__}:daily", incremental="partition", partition_by=("dt",)
    )
    assert daily.spec.input == RepoInput(
        name="events", repo="events", glob="/dt=*/", format="csv", options={"header": "true"}
    )


@pytest.mark.parametrize(
    ("how", "wanted"),
    [
        (None, CrossInput(inputs=(repo("a"), repo("b")))),
        (union("b", "a"), UnionInput(inputs=(repo("b"), repo("a")))),
        (cross("a", "b"), CrossInput(inputs=(repo("a"), repo("b")))),
    ],
)
def test_inputs_go_together_as_it_is_said(how: object, wanted: Input) -> None:
    files = {name: Files(f"from-{name}", "/(*)") for name in "ab"}
    assert spec_of(how, **files) == wanted


def test_joins_groups_and_clocks_can_be_nested() -> None:
    joined = {name: Files(f"from-{name}", "/(*)", join_on="$1") for name in "ab"}
    grouped = Files("from-c", "/(*)", group_by="$1")
    clock = Cron("@daily", overwrite=False)
    how = cross(join("a", "b"), group("c"), "tick")

    assert spec_of(how, **joined, c=grouped, tick=clock) == CrossInput(
        inputs=(
            JoinInput(inputs=(repo("a", join_on="$1"), repo("b", join_on="$1"))),
            GroupInput(inputs=(repo("c", group_by="$1"),)),
            CronInput(name="tick", schedule="@daily", overwrite=False),
        )
    )


@pytest.mark.parametrize(
    ("how", "parameters", "told"),
    [
        (None, {}, "needs parameters with Files"),
        (None, {"a": int}, "needs parameters with Files"),
        (None, {"a": Files("aaa"), "b": Table("bbb")}, "needs parameters with Files"),
        (union("a", "x"), {"a": Files("aaa"), "b": Files("bbb")}, "names a, x; there are a, b"),
        (union("a", "a"), {"a": Files("aaa"), "b": Files("bbb")}, "name each once"),
        (join("a", "b"), {"a": Files("aaa"), "b": Cron("@daily")}, "join takes inputs that are"),
        (join("a", "b"), {"a": Files("aaa"), "b": Files("bbb")}, "it needs join_on"),
        (None, {"a": Files("aaa", "/(")}, "input.repo.glob"),
        (None, {"a": Files("result")}, "in a circle"),
    ],
)
def test_what_nobody_could_run_is_refused_where_it_is_defined(
    how: object, parameters: dict[str, object], told: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        spec_of(how, **parameters)
    assert told in caught.value.message


def test_a_module_gives_its_pipelines_each_once() -> None:
    module = ModuleType("mine")
    vars(module).update(first=make_thumbs, again=make_thumbs, second=shout, third=print)
    assert specs_of(module) == (make_thumbs.spec, shout.spec)

    vars(module)["other"] = pipeline(output="elsewhere", name="shout")(shout.function)
    with pytest.raises(InvalidInput, match="two pipelines 'shout'"):
        specs_of(module)


def test_annotations_may_be_text() -> None:
    source = """
from __future__ import annotations
from lochan.pipelines import Files, Out, pipeline

@pipeline(output="copies")
def copy(one: Files("texts", "/*"), out: Out): ...
"""
    module = ModuleType("text_annotations")
    exec(source, vars(module))

    assert [spec.pipeline for spec in specs_of(module)] == ["copy"]


def test_a_function_is_tried_on_one_datum_of_a_lake_without_a_server(tmp_path: Path) -> None:
    with lochan.open(tmp_path / "lake") as lake:
        branch = lake.repository("texts").create().branch("main")
        for name in "abc":
            branch.object(f"{name}.txt").upload(name.encode() * 3)
        branch.commit("three texts")
        tried = shout.test(datum=1, lake=lake, into=tmp_path / "kept")

        assert (tried.passed, tried.inputs) == (True, ("text:b.txt",))
        assert [(file.path, file.head) for file in tried.outputs] == [("b.txt", b"BBB")]
        assert (tmp_path / "kept" / "1" / "b.txt").read_text() == "BBB"
        with pytest.raises(NotFound, match="no datum 3"):
            shout.test(datum=3, lake=lake)
        assert shout.test(lake=lake).inputs == ("text:a.txt",)


def test_what_a_function_is_handed_is_what_its_author_may_rely_on() -> None:
    out: type[Out] = output_files.Out
    files: type[InputFiles] = input_files.InputFiles
    file: type[InputFile] = input_files.InputFile

    for said, real in ((Out, out), (InputFiles, files), (InputFile, file)):
        for name in vars(said).keys() - vars(Protocol).keys():
            if not name.startswith("_"):
                assert name in vars(real)


def test_a_lake_behind_a_server_and_frames_cannot_be_tried_here() -> None:
    class Elsewhere:
        trial = None

    with pytest.raises(InvalidInput, match="behind a server"):
        shout.test(lake=Elsewhere())

    @pipeline(output="daily")
    def daily(events: Table("events")) -> None: ...  # type: ignore[valid-type]

    with pytest.raises(InvalidInput, match="no datums to test"):
        daily.test(lake=Elsewhere())
