# SPDX-License-Identifier: Apache-2.0
"""Plans: the datums that a model finds, and by what changed the same as anew."""

from collections.abc import Mapping
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lochan.errors import InvalidInput, JobFailed, NotFound
from lochan.pipelines.datums.combined import bounded
from lochan.pipelines.datums.parts import Part
from lochan.pipelines.model.datum import Datum
from lochan.pipelines.model.spec import (
    CronInput,
    CrossInput,
    DeclarativeTransform,
    FrameTransform,
    GroupInput,
    Input,
    JoinInput,
    RepoInput,
    SqlTransform,
    UnionInput,
    leaves,
)
from support.lakes import NAME, open_stage
from support.planned import PlannedWorld, Tree, model, seen, spec_of
from support.trees import SMALL

GLOBS = ["/", "/*", "/*/", "/*/*", "/(*)/*", "/**", "/**/c", "/{a,b/c}", "/a/*", "/**/b/"]
CAPTURING = ["/(*)", "/(*)/*", "/*/(*)", "/**(?)", "/(*)/"]


def repo(name: str, glob: str = "/*", **fields: object) -> RepoInput:
    """Say one input."""
    return RepoInput(name=name, repo=NAME, glob=glob, **fields)  # type: ignore[arg-type]


@st.composite
def inputs(draw: st.DrawFn, names: str = "xyzw", depth: int = 2) -> Input:
    """Draw an input of any kind, whose inputs have different names."""
    kind = draw(st.sampled_from(["repo", "join", "group"] + ["cross", "union"] * (depth > 0)))
    if kind == "repo" or len(names) == 1:
        return repo(names[0], draw(st.sampled_from(GLOBS)), reference=draw(st.booleans()))
    if kind in ("cross", "union"):
        half = len(names) // 2
        parts = tuple(draw(inputs(some, depth - 1)) for some in (names[:half], names[half:]))
        return CrossInput(inputs=parts) if kind == "cross" else UnionInput(inputs=parts)
    glob = st.sampled_from(CAPTURING)
    several = tuple(
        repo(
            name,
            draw(glob),
            join_on="$1",
            group_by="$1",
            outer=draw(st.booleans()),
            reference=draw(st.booleans()),
        )
        for name in names[: draw(st.integers(1, 3))]
    )
    return JoinInput(inputs=several) if kind == "join" else GroupInput(inputs=several)


KEYS = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map("/".join)
TREES = st.dictionaries(st.one_of(KEYS, st.just("b/")), st.integers(0, 2), max_size=7)
# A change of all, of nothing, or of a few keys; None takes a key away.
CHANGES = st.dictionaries(KEYS, st.one_of(st.none(), st.integers(0, 2)), max_size=2)


@st.composite
def histories(draw: st.DrawFn) -> tuple[Input, list[dict[str, Tree]]]:
    """Draw an input, and the trees that it is pinned to, one job after the other."""
    node = draw(inputs())
    names = [leaf.name for leaf in leaves(node)]
    now: dict[str, Tree] = {name: draw(TREES) for name in names}
    jobs = [now]
    for _ in range(draw(st.integers(1, 3))):
        now = {name: changed(tree, draw(CHANGES)) for name, tree in now.items()}
        jobs.append(now)
    return node, jobs


def changed(tree: Tree, changes: Mapping[str, int | None]) -> Tree:
    """Put keys into a tree, or take them away."""
    return {key: content for key, content in {**tree, **changes}.items() if content is not None}


@given(histories(), st.integers(0, 3), st.lists(st.sampled_from(["new", ""]), max_size=4))
@settings(max_examples=250, deadline=None)
def test_a_plan_by_what_changed_is_the_plan_anew(
    history: tuple[Input, list[dict[str, Tree]]], unlucky: int, code: list[str]
) -> None:
    node, jobs = history
    world = PlannedWorld(open_stage(cuts=SMALL), spec_of(node))
    for trees, said in zip(jobs, [*code, "", "", "", ""], strict=False):
        world.digest += said  # new code is planned anew, upon the base as well
        pins = world.pins(trees)
        first = world.first_plan(pins)
        assert sorted(map(seen, first.run)) == sorted(model(node, trees))
        done = {one: known.hash for one, known in world.index.every() if known.is_processed}
        were = {one for one, _ in world.index.every()}
        found = world.run(pins, lambda datum: len(world.ran) % 4 == unlucky and datum.hash[0] > 64)
        now = {datum.id: datum for datum in first.run}
        assert {d.id: d.hash for d in found.run} == {
            one: datum.hash for one, datum in now.items() if done.get(one) != datum.hash
        }
        assert {(d.id, d.files, d.bytes) for d in found.run} <= {
            (d.id, d.files, d.bytes) for d in first.run
        }
        assert set(found.gone) == were - set(now)
        assert set(found.changed) == {d.id for d in found.run} & were
        assert found.counts.total == len(now) == world.index.totals().datums
        assert found.counts.skipped == len(now) - len(found.run)
        rows = list(world.index.rows())
        fresh = type(world.index)(world.index.snapshots).changed((), rows, first.values)
        assert fresh.id == world.index.id


WHOLE = [
    FrameTransform(function="f:f"),
    SqlTransform(query="select 1"),
    DeclarativeTransform(project="p"),
]


@given(histories(), st.sampled_from(WHOLE))
@settings(max_examples=60, deadline=None)
def test_a_frame_in_full_is_one_datum_over_all_that_is_matched(
    history: tuple[Input, list[dict[str, Tree]]], transform: FrameTransform
) -> None:
    node, jobs = history
    world = PlannedWorld(open_stage(cuts=SMALL), spec_of(node, transform))
    for trees in jobs:
        pins = world.pins(trees)
        first, before = world.first_plan(pins), list(world.index.every())
        found = world.run(pins)
        wanted = {
            (leaf.name, key)
            for leaf in leaves(node)
            for row in model(leaf, trees)
            for part in row
            for key, _ in part[3]
        }
        members = {
            (file.input, one.key.decode())
            for datum in first.run
            for file in datum.files
            for one in file.members
        }
        assert members == wanted
        assert len(first.run) == bool(wanted)
        same = [(d.id, d.hash) for d in first.run] == [(one, known.hash) for one, known in before]
        assert bool(found.run) == (bool(wanted) and not same)
        assert [one for one, _ in world.index.every()] == [d.id for d in first.run]


def world_of(node: Input, **fields: object) -> PlannedWorld:
    """Make a world with one input."""
    return PlannedWorld(open_stage(cuts=SMALL), spec_of(node, **fields))  # type: ignore[arg-type]


def paths(datums: tuple[Datum, ...]) -> list[str]:
    """Name what datums read."""
    return ["+".join(file.key.decode() for file in datum.files) for datum in datums]


def test_numbers_follow_the_order_of_what_is_read() -> None:
    world = world_of(CrossInput(inputs=(repo("x"), repo("y"))))
    found = world.plan(world.pins({"x": {"b": 1, "a": 1}, "y": {"d": 1, "c": 1}}))
    assert paths(found.run) == ["a+c", "a+d", "b+c", "b+d"]
    assert [datum.number for datum in found.run] == [0, 1, 2, 3]
    assert [datum.bytes for datum in found.run] == [2, 2, 2, 2]


def test_a_changed_reference_runs_nothing_and_a_new_one_does() -> None:
    world = world_of(CrossInput(inputs=(repo("x"), repo("model", "/", reference=True))))
    data = {"a": 1, "b": 1}
    world.run(world.pins({"x": data, "model": {"w": 1}}))
    assert world.run(world.pins({"x": data, "model": {"w": 2, "v": 1}})).is_nothing
    assert len(world.run(world.pins({"x": data, "model": {}})).gone) == 2
    assert paths(world.run(world.pins({"x": data, "model": {"w": 1}})).run) == ["a+/", "b+/"]


def test_new_code_runs_everything_again() -> None:
    world = world_of(repo("x"))
    pins = world.pins({"x": {"a": 1, "b": 1}})
    world.run(pins)
    world.digest = "code 2"
    found = world.run(pins)
    assert paths(found.run) == ["a", "b"]
    assert len(found.changed) == 2
    assert world.run(pins).is_nothing


def test_every_job_runs_everything_if_the_pipeline_says_so() -> None:
    world = world_of(repo("x"), rerun="every_job")
    pins = world.pins({"x": {"a": 1, "b": 1}})
    assert [paths(world.run(pins).run) for _ in range(2)] == [["a", "b"]] * 2
    assert len(world.run(world.pins({"x": {"a": 1}})).gone) == 1


def test_another_glob_is_planned_anew_and_takes_old_outputs_away() -> None:
    world = world_of(repo("x", "/*"))
    pins = world.pins({"x": {"a/b": 1, "c": 1}})
    world.run(pins)
    world.spec = spec_of(repo("x", "/*/*"))
    found = world.run(pins)
    assert paths(found.run) == ["a/b"]
    assert len(found.gone) == 2
    assert found.counts.total == world.index.totals().datums == 1


def test_a_frame_that_is_computed_in_another_way_is_planned_anew() -> None:
    full = FrameTransform(function="f:f")
    world = PlannedWorld(open_stage(), spec_of(repo("x", "/*/"), full))
    pins = world.pins({"x": {"a/b": 1, "c/d": 1}})
    assert paths(world.run(pins).run) == ["/"]
    parted = FrameTransform(function="f:f", incremental="partition")
    world.spec = spec_of(repo("x", "/*/"), parted)
    found = world.run(pins)
    assert paths(found.run) == ["a/", "c/"]
    assert len(found.gone) == 1


def test_a_base_that_read_a_repository_since_made_again_is_compared_whole() -> None:
    world = world_of(repo("x"))
    pins = world.pins({"x": {"a": 1, "b": 1}})
    world.run(pins)
    assert world.before is not None
    strange = msgspec.structs.replace(pins[0], unique_identifier="other", meta_range_id="0" * 64)
    world.before = replace(world.before, pins=(strange,))
    found = world.plan(pins)
    assert found.is_nothing
    assert found.opened.hashed == 2


def test_a_datum_that_failed_is_tried_again_though_nothing_changed() -> None:
    world = world_of(repo("x"))
    pins = world.pins({"x": {"a": 1, "b": 1, "c": 1}})
    world.run(pins, lambda datum: datum.files[0].key == b"b")
    found = world.run(pins)
    assert paths(found.run) == ["b"]
    assert (found.counts.total, found.counts.skipped) == (3, 2)
    assert world.run(pins).is_nothing


def test_a_frame_by_partition_computes_the_folders_that_changed() -> None:
    frame = FrameTransform(function="f:f", incremental="partition")
    world = PlannedWorld(open_stage(), spec_of(repo("x", "/dt=*/"), frame))
    days = {"dt=1/a": 1, "dt=1/b": 1, "dt=2/a": 1, "dt=3/a": 1}
    world.run(world.pins({"x": days}))
    found = world.run(world.pins({"x": changed(days, {"dt=1/b": 2, "dt=3/a": None, "dt=4/a": 1})}))
    assert paths(found.run) == ["dt=1/", "dt=4/"]
    assert len(found.gone) == 1


def test_a_frame_that_appends_computes_new_files_and_refuses_anything_else() -> None:
    frame = FrameTransform(function="f:f", incremental="append")
    world = PlannedWorld(open_stage(), spec_of(repo("x", "/dt=*/"), frame))
    days = {"dt=1/a": 1, "dt=1/b": 1}
    assert paths(world.run(world.pins({"x": days})).run) == ["dt=1/a", "dt=1/b"]
    more = changed(days, {"dt=1/c": 1, "other": 1})
    assert paths(world.run(world.pins({"x": more})).run) == ["dt=1/c"]
    with pytest.raises(JobFailed, match=r"'x' may only grow, and 'dt=1/a' has changed"):
        world.plan(world.pins({"x": changed(more, {"dt=1/a": 2})}))
    with pytest.raises(JobFailed, match=r"'x' may only grow, and 'dt=1/b' is gone"):
        world.plan(world.pins({"x": changed(more, {"dt=1/b": None})}))
    world.digest = "salted"
    found = world.plan(world.pins({"x": changed(more, {"dt=1/b": None})}))
    assert paths(found.run) == ["dt=1/a", "dt=1/c"]


def test_a_tick_of_a_clock_is_a_part_like_any_file() -> None:
    world = world_of(CrossInput(inputs=(repo("x"), CronInput(name="tick", schedule="@daily"))))
    first = world.run(world.pins({"x": {"a": 1, "b": 1}, "tick": {"2026-01-01T00:00:00Z": 0}}))
    assert paths(first.run) == ["a+2026-01-01T00:00:00Z", "b+2026-01-01T00:00:00Z"]
    found = world.run(world.pins({"x": {"a": 1, "b": 1}, "tick": {"2026-01-02T00:00:00Z": 0}}))
    assert paths(found.run) == ["a+2026-01-02T00:00:00Z", "b+2026-01-02T00:00:00Z"]
    assert sorted(found.gone) == sorted(datum.id for datum in first.run)


def test_inputs_that_make_too_many_datums_together_are_refused() -> None:
    world = world_of(repo("x"))
    rows = [
        tuple(Part(file, 0) for file in datum.files)
        for datum in world.plan(world.pins({"x": {"a": 1, "b": 1, "c": 1}})).run
    ]
    assert list(bounded(rows, 3)) == rows
    with pytest.raises(JobFailed, match="inputs 'x' make more than 2 datums together"):
        list(bounded(rows, 2))


def test_an_input_without_a_pin_and_a_repository_made_again_are_refused() -> None:
    world = world_of(repo("x"))
    with pytest.raises(InvalidInput, match="'x' of 'p' is pinned to no commit"):
        world.plan([])
    (pin,) = world.pins({"x": {"a": 1}})
    with pytest.raises(NotFound, match="was made again"):
        world.plan([msgspec.structs.replace(pin, unique_identifier="other")])
