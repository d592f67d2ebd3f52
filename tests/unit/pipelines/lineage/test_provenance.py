# SPDX-License-Identifier: Apache-2.0
"""Graphs of commits: up to what made one, down to what came of it, drawn for people."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lochan.model.instant import EPOCH
from lochan.model.records import Commit, Provenance
from lochan.operations.advance import advance
from lochan.operations.allowed import Action
from lochan.operations.request import Candidate, Said
from lochan.pipelines.lineage.drawn import dot, svg, tree_lines
from lochan.pipelines.lineage.provenance import Graph, trace
from lochan.pipelines.model.commit_metadata import JOB, PIPELINE
from lochan.pipelines.model.tables import PipelineTables, came_name
from support.lakes import MAIN, NAME, Stage, open_stage


def made_from(stage: Stage, sources: list[Commit], number: int) -> Commit:
    """Commit as a job does: with its inputs, and the rows that lead back."""
    said = Said(
        "pipeline",
        f"made {number}",
        {JOB: f"job{number}", PIPELINE: f"p{number}"} if sources else {},
        EPOCH,
        provenance=tuple(
            Provenance(repository_id=NAME, commit_id=source.id, input=f"in{place}", glob="/*")
            for place, source in enumerate(sources)
        ),
    )
    made = advance(
        stage.lake,
        stage.repository,
        MAIN,
        said,
        lambda tip: Candidate(tip.head.meta_range_id),
        action=Action.COMMIT,
    )
    came = PipelineTables.of(stage.lake.store).came
    for source in sources:
        came.set(came_name(stage.repository, source.id, NAME, made.id), b"")
    return made


def traced(stage: Stage, commit: Commit, *, up: bool = True) -> Graph:
    return trace(stage.lake, stage.repository, commit, "up" if up else "down")


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 12))
def test_pach_S7_every_commit_comes_after_its_provenance_in_any_graph(seed: int, size: int) -> None:
    drawn, stage = Random(seed), open_stage()
    made: list[Commit] = []
    ancestors: dict[str, set[str]] = {}
    for number in range(size):
        sources = drawn.sample(made, drawn.randint(0, min(3, len(made))))
        made.append(made_from(stage, sources, number))
        above = {one for source in sources for one in (source.id, *ancestors[source.id])}
        ancestors[made[-1].id] = above
    for commit in made:
        order = [known.commit for known in traced(stage, commit).commits]
        assert set(order) == {commit.id, *ancestors[commit.id]}
        assert all(ancestors[one] <= set(order[:place]) for place, one in enumerate(order))
        below = {known.commit for known in traced(stage, commit, up=False).commits}
        assert below == {commit.id} | {
            one for one, above in ancestors.items() if commit.id in above
        }


@pytest.fixture
def diamond() -> tuple[Stage, list[Commit]]:
    stage = open_stage()
    top = made_from(stage, [], 0)
    left, right = made_from(stage, [top], 1), made_from(stage, [top], 2)
    return stage, [top, left, right, made_from(stage, [left, right], 3)]


def test_a_commit_that_is_gone_is_told_by_its_name(diamond: tuple[Stage, list[Commit]]) -> None:
    stage, (top, *_, bottom) = diamond
    stage.lake.tables(stage.repository).commits.delete(top.id.encode())
    lost = next(one for one in traced(stage, bottom).commits if one.commit == top.id)
    assert not lost.is_there


def test_a_diamond_is_drawn_as_a_tree_that_unfolds_nothing_twice(
    diamond: tuple[Stage, list[Commit]],
) -> None:
    stage, commits = diamond
    lines = list(tree_lines(traced(stage, commits[-1])))
    assert [line.count(commits[0].id[:12]) for line in lines] == [0, 0, 1, 0, 1]
    assert lines[0].endswith("by p3")
    assert lines[1].startswith("├─")


def test_dot_and_svg_show_every_commit_and_every_edge(
    diamond: tuple[Stage, list[Commit]],
) -> None:
    stage, commits = diamond
    graph = traced(stage, commits[-1])
    assert dot(graph).count(" -> ") == len(graph.edges) == 4
    picture = svg(graph)
    assert picture.count("<rect") == len(commits)
    assert picture.count("<path") == len(graph.edges)
    assert all(commit.id in picture for commit in commits)
