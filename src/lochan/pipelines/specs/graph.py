# SPDX-License-Identifier: Apache-2.0
"""All pipelines of a lake, joined by the branches that they read and write.

A pipeline hangs on another when it reads the branch that the other owns. That it *reads* a branch
is enough to close a circle, and circles are refused. Only inputs that are a `trigger` carry a
change on: what `affected` gives, and what a job waits for, follows those alone. A pipeline that is
paused, or waits for more than a commit, stops what comes from above.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from lochan.errors import InvalidInput, NotFound
from lochan.pipelines.model.datum import hashed
from lochan.pipelines.model.spec import CronInput, RepoInput, Spec, cron_repository, leaves

TICKS = "main"  # the branch of a clock's repository


class Place(NamedTuple):
    """A branch that pipelines read or write."""

    repo: str
    branch: str

    def __str__(self) -> str:
        """Give it as people write it."""
        return f"{self.repo}@{self.branch}"


@dataclass(frozen=True, slots=True)
class Node:
    """A pipeline in the graph: what is said, which version of it, and whether it rests."""

    spec: Spec
    version: str = ""
    paused: bool = False
    incarnation: str = ""  # another for a pipeline that was made again, or updated

    @property
    def life(self) -> str:
        """Name what is decided on: another one has seen nothing yet."""
        return hashed([self.version.encode(), self.incarnation.encode()]).hex()

    @property
    def pipeline(self) -> str:
        """Name the pipeline."""
        return self.spec.pipeline

    @property
    def follows(self) -> bool:
        """Say whether each new commit starts it; one that waits for more is decided on alone."""
        waits = self.spec.trigger.any or self.spec.trigger.all
        return not self.paused and not waits

    @property
    def writes(self) -> Place:
        """Give the branch that it owns."""
        return Place(self.spec.output.repo, self.spec.output.branch)

    @property
    def reads(self) -> tuple[Place, ...]:
        """Give the branches of all its inputs, each once."""
        read = (place_of(self.pipeline, leaf) for leaf in leaves(self.spec.input))
        return tuple(dict.fromkeys(read))

    @property
    def triggers(self) -> tuple[Place, ...]:
        """Give the branches on which a new commit starts it."""
        found = (leaf for leaf in leaves(self.spec.input) if is_trigger(leaf))
        return tuple(dict.fromkeys(place_of(self.pipeline, leaf) for leaf in found))


@dataclass(frozen=True)
class Graph:
    """The pipelines, those that write before those that read; ties go by name."""

    nodes: tuple[Node, ...]

    @classmethod
    def of(cls, nodes: Iterable[Node]) -> "Graph":
        """Order pipelines. Raises InvalidInput, code pipeline-cycle or output-shared."""
        named = {node.pipeline: node for node in nodes}
        writers: dict[Place, str] = {}
        for node in named.values():
            other = writers.setdefault(node.writes, node.pipeline)
            if other != node.pipeline:
                message = f"{node.pipeline!r} and {other!r} both write {node.writes}; change one"
                raise InvalidInput(message, code="output-shared", pipeline=node.pipeline)
        above = {
            name: {writers[place] for place in node.reads if place in writers}
            for name, node in named.items()
        }
        return cls(tuple(named[name] for name in _ordered(above)))

    def node(self, pipeline: str) -> Node:
        """Give a pipeline by its name. Raises NotFound."""
        found = self._by_name.get(pipeline)
        if found is None:
            message = f"no pipeline {pipeline!r}"
            raise NotFound(message, code="pipeline-not-found", pipeline=pipeline)
        return found

    def writer(self, repo: str, branch: str) -> Node | None:
        """Give the pipeline that owns a branch, if one does."""
        return self._writers.get(Place(repo, branch))

    def affected(self, repo: str, branch: str) -> tuple[Node, ...]:
        """Give the pipelines that a commit on a branch starts, those above first."""
        return tuple(self._reached({Place(repo, branch)}))

    def below(self, pipeline: str) -> tuple[Node, ...]:
        """Give the pipelines that start when this one has published, however far down."""
        return tuple(self._reached({self.node(pipeline).writes}))

    def upstream(self, pipeline: str) -> tuple[Node, ...]:
        """Give the pipelines whose next commit starts this one: its jobs wait for theirs."""
        triggers = self.node(pipeline).triggers
        found = {self._writers[place].pipeline for place in triggers if place in self._writers}
        return tuple(self._by_name[name] for name in sorted(found, key=self._place.__getitem__))

    def with_node(self, node: Node) -> "Graph":
        """Give the graph with one pipeline added or replaced. Raises as `of`."""
        others = (other for other in self.nodes if other.pipeline != node.pipeline)
        return Graph.of((*others, node))

    @cached_property
    def version(self) -> str:
        """Name the graph by what runs in it: a change of any pipeline gives another name."""
        fields: list[bytes] = []
        for node in sorted(self.nodes, key=lambda node: node.pipeline):
            fields += [node.pipeline.encode(), node.life.encode(), b"01"[node.paused :][:1]]
        return hashed(fields).hex()

    @cached_property
    def _by_name(self) -> dict[str, Node]:
        return {node.pipeline: node for node in self.nodes}

    @cached_property
    def _place(self) -> dict[str, int]:
        return {node.pipeline: place for place, node in enumerate(self.nodes)}

    @cached_property
    def _writers(self) -> dict[Place, Node]:
        return {node.writes: node for node in self.nodes}

    def _reached(self, moved: set[Place]) -> Iterator[Node]:
        """Follow moved branches down. One pass is enough: who writes comes before who reads."""
        for node in self.nodes:
            if node.follows and not moved.isdisjoint(node.triggers):
                moved.add(node.writes)
                yield node


def place_of(pipeline: str, leaf: RepoInput | CronInput) -> Place:
    """Say which branch an input reads."""
    if isinstance(leaf, CronInput):
        return Place(cron_repository(pipeline, leaf), TICKS)
    return Place(leaf.repo, leaf.branch)


def is_trigger(leaf: RepoInput | CronInput) -> bool:
    """Say whether a new commit of an input starts jobs."""
    return isinstance(leaf, CronInput) or leaf.trigger


def graph_text(graph: Graph) -> str:
    """Draw a graph for a terminal, a line for each pipeline; (…) is read and starts nothing."""
    lines: list[str] = []
    for node in graph.nodes:
        triggers = set(node.triggers)
        read = (str(place) if place in triggers else f"({place})" for place in node.reads)
        rests = " [paused]" * node.paused
        lines.append(f"{', '.join(read)} -> {node.pipeline}{rests} -> {node.writes}\n")
    return "".join(lines)


def graph_dot(graph: Graph) -> str:
    """Draw a graph in Graphviz's language: branches are boxes, pipelines are round."""
    lines = ["digraph pipelines {", "  rankdir=LR;"]
    places: dict[Place, None] = {}
    for node in graph.nodes:
        places |= dict.fromkeys((*node.reads, node.writes))
    lines += [f'  "{place}" [shape=box];' for place in places]
    for node in graph.nodes:
        name, triggers = f"pipeline {node.pipeline}", set(node.triggers)
        style = ", style=dashed" * node.paused
        lines.append(f'  "{name}" [label="{node.pipeline}"{style}];')
        for place in node.reads:
            line = "" if place in triggers else " [style=dashed]"
            lines.append(f'  "{place}" -> "{name}"{line};')
        lines.append(f'  "{name}" -> "{node.writes}";')
    return "\n".join([*lines, "}", ""])


def _ordered(above: dict[str, set[str]]) -> Iterator[str]:
    """Give names behind all that are above them, by name where that leaves a choice."""
    sorter = TopologicalSorter(above)
    try:
        sorter.prepare()
    except CycleError as error:
        way = " -> ".join(error.args[1])
        message = f"pipelines would run in a circle: {way}; let one of them write another branch"
        raise InvalidInput(message, code="pipeline-cycle", cycle=error.args[1]) from error
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        yield from ready
        sorter.done(*ready)
