# SPDX-License-Identifier: Apache-2.0
"""Squash: paths that several datums write, and what comes up again when one of them goes."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lochan.model.codec import decode_entry
from lochan.model.ids import BranchName
from lochan.operations.branches import create_branch
from lochan.operations.gc.collect import Collection, collect
from lochan.operations.retention import set_gc_rules
from lochan.pipelines.attempts.input_files import InputFiles
from lochan.pipelines.attempts.output_files import Out
from lochan.pipelines.datums.keys_under import FEW
from lochan.pipelines.jobs.squash import Squash
from lochan.pipelines.model.records import JobState
from lochan.pipelines.model.spec import Collision, Output
from lochan.pipelines.schedule.run_by_hand import run_by_hand
from support.pipeline_world import THUMBS, PipelineWorld, thumbs

POLICIES: tuple[Collision, ...] = ("error", "append", "last")
DAY_S = 24 * 3600.0
EXP = BranchName("exp")


def spread(img: InputFiles, out: Out) -> None:
    """Write the file's name under every path that it names."""
    for path in img.read_text().split():
        out.write(path, f"{img.path};")


def opened(policy: Collision) -> PipelineWorld:
    world = PipelineWorld.open(function=spread)
    world.create(thumbs(shards=3, output=Output(repo=THUMBS, collision=policy)))
    return world


def say_it(img: InputFiles, out: Out) -> None:
    """Write each file's text under one path."""
    for file in img:
        out.write("x", file.read_text())


def collected(world: PipelineWorld) -> None:
    """Have a collector take away what nobody keeps."""
    set_gc_rules(world.lake, world.repository(THUMBS), 1, {})
    for _ in range(3):
        world.world.sleep(9 * DAY_S)
        collect(world.lake, world.repository(THUMBS), Collection(force=True))


def expected(files: Mapping[str, str], policy: Collision) -> dict[str, str] | None:
    """Say what the output shows; None where the job must fail."""
    found: dict[str, list[str]] = {}
    for name in sorted(files):
        for path in dict.fromkeys(files[name].split()):
            found.setdefault(path, []).append(f"{name};")
    if policy == "error":
        if any(len(names) > 1 for names in found.values()):
            return None
        return {path: names[0] for path, names in found.items()}
    return {
        path: "".join(names) if policy == "append" else names[-1] for path, names in found.items()
    }


def test_two_datums_that_write_one_path_fail_the_job_and_are_named() -> None:
    world = opened("error")
    job = world.run({"one": "x y", "two": "y z"})
    assert job.state is JobState.FAILURE
    assert "'y' by datum" in job.reason
    assert "(one)" in job.reason
    assert "(two)" in job.reason
    assert world.shown() == {}


def test_a_path_that_an_earlier_job_wrote_collides_as_well() -> None:
    world = opened("error")
    world.run({"one": "x"})
    assert world.run({"two": "x"}).state is JobState.FAILURE
    assert world.shown() == {"x": "one;"}
    assert world.run({"two": "x"}, gone=["one"]).state is JobState.SUCCESS
    assert world.shown() == {"x": "two;"}


def test_appended_files_stand_in_the_order_of_the_datums_whenever_they_came() -> None:
    world = opened("append")
    world.run({"b": "x", "d": "x"})
    world.run({"a": "x", "c": "x"})
    assert world.shown() == {"x": "a;b;c;d;"}
    world.run({}, gone=["b"])
    assert world.shown() == {"x": "a;c;d;"}


def test_a_file_of_blocks_begins_with_the_commit_that_made_it() -> None:
    world = opened("append")
    world.run({"a": "x", "b": "x y"})
    snapshots = world.lake.storage(world.repository(THUMBS).storage_namespace).snapshots
    both, one = (snapshots.get(world.head().meta_range_id, key) for key in (b"x", b"y"))
    assert both is not None
    assert one is not None
    assert decode_entry(both.value).epoch == world.head().clocks[-1]
    assert decode_entry(one.value).blocks == ()


def test_what_the_last_one_hides_comes_up_again_though_a_collector_was_there() -> None:
    world = opened("last")
    world.run({"a": "x", "b": "x"})
    assert world.shown() == {"x": "b;"}
    collected(world)
    world.run({}, gone=["b"])
    assert world.shown() == {"x": "a;"}


def test_rel_P6_what_is_hidden_and_written_again_as_it_was_comes_up_after_a_collection() -> None:
    world = opened("last")
    world.run({"a": "x", "b": "x"})
    world.run({"a": "x x"})  # the tree takes no notice: it names the object that was there
    collected(world)
    world.run({}, gone=["b"])
    assert world.shown() == {"x": "a;"}


@pytest.mark.parametrize(("policy", "shown"), [("append", "a;b;"), ("last", "b;")])
def test_rel_P6_what_was_written_again_as_it_was_is_added_to_or_hidden_after_a_collection(
    policy: Collision, shown: str
) -> None:
    world = opened(policy)
    world.run({"a": "x"})
    world.run({"a": "x x"})
    collected(world)
    world.run({"b": "x"})
    assert world.shown() == {"x": shown}
    world.run({}, gone=["b"])
    assert world.shown() == {"x": "a;"}


def test_rel_P6_what_came_up_equal_to_what_hid_it_can_be_hidden_again_after_a_collection() -> None:
    """The tree keeps the object of the datum that is gone."""
    world = PipelineWorld.open(function=say_it)
    world.create(thumbs(output=Output(repo=THUMBS, collision="last")))
    world.run({"a": "same", "b": "same"})
    world.run({}, gone=["b"])
    collected(world)
    world.run({"b": "other"})
    assert world.shown() == {"x": "other"}
    world.run({}, gone=["b"])
    assert world.shown() == {"x": "same"}


def test_what_was_written_again_as_it_was_is_remembered_after_a_collection() -> None:
    world = opened("error")
    create_branch(world.lake, world.repository(THUMBS), EXP, world.head().id)
    world.run({"a": "x"})
    world.run({"a": "x x"})
    collected(world)
    decided = run_by_hand(world.lake, ["thumbs"], branch=EXP)
    assert world.drive(decided.jobs[0].job).counts.remembered == 1
    assert world.shown(ref=EXP) == {"x": "a;"}


def test_an_index_from_before_such_objects_were_named_is_healed_by_the_next_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = opened("last")
    world.run({"a": "x", "b": "x"})
    with monkeypatch.context() as patched:
        patched.setattr(Squash, "_settle", lambda *_: {})
        world.run({"a": "x x"})
    collected(world)
    world.run({}, gone=["b"])
    assert world.shown() == {"x": "a;"}


@pytest.mark.parametrize("first", ["p", "p/q/r"])
def test_a_path_that_was_a_file_can_be_a_folder_when_the_file_goes_and_not_before(
    first: str,
) -> None:
    second = "p/q/r" if first == "p" else "p"
    world = opened("error")
    world.run({"a": first, "z": "x"})
    assert world.run({"b": second}).state is JobState.FAILURE
    assert world.run({"b": second}, gone=["a"]).state is JobState.SUCCESS
    assert world.shown() == {second: "b;", "x": "z;"}


def test_a_folder_is_seen_behind_a_name_that_another_one_goes_on_from() -> None:
    world = opened("error")
    world.run({"a": "q-x/y"})
    job = world.run({"b": " ".join(["q", "q-x", *(f"many{number}" for number in range(FEW))])})
    assert "'q-x' would be a file and a folder" in job.reason


names = st.sampled_from(["a", "b", "c", "d", "e"])
paths = st.lists(st.sampled_from(["x", "y/1", "y/2", "z"]), max_size=3).map(" ".join)
changes = st.dictionaries(names, st.none() | paths, max_size=4)


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=60, deadline=None)
@given(history=st.lists(changes, min_size=1, max_size=4))
def test_job_upon_job_shows_what_one_job_over_all_would(
    policy: Collision, history: list[dict[str, str | None]]
) -> None:
    world, files, shown = opened(policy), dict[str, str](), dict[str, str]()
    for step in history:
        gone = [name for name, text in step.items() if text is None and name in files]
        put = {name: text for name, text in step.items() if text is not None}
        files = {name: text for name, text in {**files, **put}.items() if name not in gone}
        job = world.run(put, gone=gone)
        wanted = expected(files, policy)
        assert (job.state is JobState.FAILURE) == (wanted is None), job.reason
        shown = shown if wanted is None else wanted
        assert world.shown() == shown
