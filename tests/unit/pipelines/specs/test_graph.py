# SPDX-License-Identifier: Apache-2.0
"""The graph of pipelines: what a commit starts, in which order, and what is refused."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.errors import InvalidInput, NotFound
from lochan.pipelines.model.spec import (
    CronInput,
    CrossInput,
    FilesTransform,
    Output,
    RepoInput,
    Spec,
)
from lochan.pipelines.specs.graph import Graph, Node, Place, graph_dot, graph_text

WORK = FilesTransform(function="steps:make")


def node(name: str, *reads: str, version: str = "1", paused: bool = False, quiet: str = "") -> Node:
    """Make a pipeline that writes the repository of its name; `quiet` inputs start nothing."""
    inputs = tuple(
        RepoInput(name=f"i{number}", repo=repo, trigger=repo != quiet)
        for number, repo in enumerate(reads)
    )
    spec = Spec(
        pipeline=name,
        input=inputs[0] if len(inputs) == 1 else CrossInput(inputs=inputs),
        transform=WORK,
        output=Output(repo=name),
    )
    return Node(spec, version, paused=paused)


def names(nodes: tuple[Node, ...]) -> list[str]:
    return [node.pipeline for node in nodes]


DIAMOND = [node("bottom", "left", "right"), node("right", "top"), node("left", "top")]


def test_a_commit_starts_what_hangs_on_its_branch_those_above_first() -> None:
    graph = Graph.of([*DIAMOND, node("other", "elsewhere")])

    assert names(graph.affected("top", "main")) == ["left", "right", "bottom"]
    assert names(graph.affected("left", "main")) == ["bottom"]
    assert graph.affected("top", "dev") == ()
    assert names(graph.upstream("bottom")) == ["left", "right"]
    assert names(graph.below("right")) == ["bottom"]


def test_an_input_that_is_no_trigger_starts_nothing_and_is_not_waited_for() -> None:
    graph = Graph.of([node("left", "top"), node("bottom", "left", "side", quiet="left")])

    assert names(graph.affected("top", "main")) == ["left"]
    assert names(graph.affected("side", "main")) == ["bottom"]
    assert graph.upstream("bottom") == ()


def test_a_paused_pipeline_stops_what_comes_from_above() -> None:
    graph = Graph.of([node("left", "top", paused=True), node("bottom", "left")])

    assert graph.affected("top", "main") == ()
    assert names(graph.affected("left", "main")) == ["bottom"]


def test_a_clock_starts_its_pipeline() -> None:
    clock = CronInput(name="tick", schedule="@hourly")
    spec = Spec(pipeline="hourly", input=clock, transform=WORK, output=Output(repo="out"))

    assert names(Graph.of([Node(spec)]).affected("hourly-tick", "main")) == ["hourly"]


@pytest.mark.parametrize("quiet", ["", "c"])
def test_circles_are_refused_with_the_way_around(quiet: str) -> None:
    with pytest.raises(InvalidInput, match=r"a -> b -> c -> a|b -> c -> a -> b|c -> a -> b -> c"):
        Graph.of([node("a", "c", "x", quiet=quiet), node("b", "a"), node("c", "b")])
    with pytest.raises(InvalidInput, match="circle"):
        Graph.of([node("a", "a")])


def test_two_branches_of_one_repository_make_no_circle() -> None:
    back = Spec(
        pipeline="back",
        input=RepoInput(name="x", repo="a"),
        transform=WORK,
        output=Output(repo="top", branch="tidy"),
    )

    assert names(Graph.of([node("a", "top"), Node(back)]).nodes) == ["a", "back"]


def test_two_pipelines_never_write_one_branch() -> None:
    other = Spec(
        pipeline="b", input=RepoInput(name="x", repo="y"), transform=WORK, output=Output(repo="a")
    )
    with pytest.raises(InvalidInput, match="both write a@main") as caught:
        Graph.of([node("a", "x"), Node(other)])
    assert caught.value.code == "output-shared"


def test_the_version_names_what_runs_and_nothing_else() -> None:
    graph = Graph.of(DIAMOND)

    assert graph.version == Graph.of(reversed(DIAMOND)).version
    for change in (
        node("left", "top", version="2"),
        node("left", "top", paused=True),
        node("new", "top"),
    ):
        assert graph.with_node(change).version != graph.version


def test_a_pipeline_is_found_by_name_and_by_its_branch() -> None:
    graph = Graph.of(DIAMOND)

    assert graph.node("left").writes == Place("left", "main")
    assert graph.writer("left", "main") == graph.node("left")
    assert graph.writer("top", "main") is None
    with pytest.raises(NotFound):
        graph.node("none")


def test_a_graph_is_drawn_as_text_and_for_graphviz() -> None:
    graph = Graph.of([node("b", "a", "x", quiet="x", paused=True), node("a", "top")])

    assert (
        graph_text(graph) == "top@main -> a -> a@main\na@main, (x@main) -> b [paused] -> b@main\n"
    )
    drawn = graph_dot(graph)
    assert '"a@main" -> "pipeline b";' in drawn
    assert '"x@main" -> "pipeline b" [style=dashed];' in drawn


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=20), st.randoms())
def test_every_order_of_saying_gives_one_order_in_which_writers_come_first(
    edges: list[tuple[int, int]], random: Random
) -> None:
    reads: dict[str, set[str]] = {f"p{number}": {"source"} for number in range(10)}
    for one, other in edges:
        if one != other:  # from the smaller to the larger: never a circle
            reads[f"p{max(one, other)}"].add(f"p{min(one, other)}")
    nodes = [node(name, *sorted(found)) for name, found in reads.items()]
    ordered = names(Graph.of(nodes).nodes)
    random.shuffle(nodes)

    assert names(Graph.of(nodes).nodes) == ordered
    for name, found in reads.items():
        assert all(ordered.index(other) < ordered.index(name) for other in found - {"source"})
