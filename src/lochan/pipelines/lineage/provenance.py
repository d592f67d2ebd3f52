# SPDX-License-Identifier: Apache-2.0
"""Where a commit came from and what came of it, as a graph of commits.

Commits name their direct inputs, so the way up needs nothing else. The way down goes by the rows
that each job writes when it has published (`records`: came/...), and that can be made again from
the commits. Each commit is met once; a commit whose repository is gone is told by its name alone.

    a commit    repository, id, and of a job's commit which job and pipeline made it
    an edge     from an input to what was made of it, by the input's name
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal

import msgspec

from lochan.errors import Gone, InvalidInput, NotFound
from lochan.kv.read import scan_prefix
from lochan.model.ids import CommitId, RepositoryId
from lochan.model.records import Commit, Provenance, Repository
from lochan.operations.lake import Lake
from lochan.pipelines.model.commit_metadata import JOB, PIPELINE
from lochan.pipelines.model.records import PIPELINES
from lochan.refs.repositories import get_repository

CAME: Final = b"came/"
MOST_COMMITS: Final = 10_000
Direction = Literal["up", "down"]


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """A commit of the graph. Without `is_there`, only its name is left."""

    repository: str
    commit: str
    job: str = ""
    pipeline: str = ""
    message: str = ""
    is_there: bool = True

    @property
    def name(self) -> str:
        """Name it as commands take it."""
        return f"{self.repository}@{self.commit}"


class Edge(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """That `made` was made of `source`: both repository@commit."""

    source: str
    made: str
    input: str = ""
    glob: str = ""


class Graph(msgspec.Struct, frozen=True, kw_only=True):
    """Commits, each after all that it was made of, and what joins them."""

    start: str
    direction: Direction
    commits: tuple[Known, ...]
    edges: tuple[Edge, ...]


_Step = Callable[["_Place"], Iterable[tuple["_Place", Edge]]]


class _Place(msgspec.Struct, frozen=True, order=True):
    repository: str
    commit: str

    @property
    def name(self) -> str:
        return f"{self.repository}@{self.commit}"


def trace(lake: Lake, repository: Repository, commit: Commit, direction: Direction) -> Graph:
    """Walk from a commit to all that made it, or to all that was made of it.

    Raises: InvalidInput, code too-much, beyond ten thousand commits.
    """
    start = _Place(repository.repository_id, commit.id)
    reads = _Reads(lake)
    step = reads.sources if direction == "up" else reads.results
    found: dict[_Place, list[Edge]] = {}
    waiting = [start]
    while waiting:
        place = waiting.pop()
        if place in found:
            continue
        if len(found) >= MOST_COMMITS:
            message = f"{start.name} hangs together with more than {MOST_COMMITS} commits"
            raise InvalidInput(message, code="too-much")
        steps = list(step(place))
        found[place] = [edge for _, edge in steps]
        waiting.extend(other for other, _ in steps)
    edges = tuple(sorted({edge for several in found.values() for edge in several}))
    return Graph(
        start=start.name,
        direction=direction,
        commits=tuple(_in_order({place.name: reads.known(place) for place in found}, edges)),
        edges=edges,
    )


class _Reads:
    """Commits by place, each read once."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._repositories: dict[str, Repository | None] = {}
        self._commits: dict[_Place, Commit | None] = {}

    def known(self, place: _Place) -> Known:
        commit = self.commit(place)
        if commit is None:
            return Known(repository=place.repository, commit=place.commit, is_there=False)
        return Known(
            repository=place.repository,
            commit=place.commit,
            job=commit.metadata.get(JOB, ""),
            pipeline=commit.metadata.get(PIPELINE, ""),
            message=commit.message,
        )

    def sources(self, place: _Place) -> Iterator[tuple[_Place, Edge]]:
        commit = self.commit(place)
        for source in commit.provenance if commit else ():
            other = _Place(source.repository_id, source.commit_id)
            yield other, _edge(other, place, source)

    def results(self, place: _Place) -> Iterator[tuple[_Place, Edge]]:
        repository = self.repository(place.repository)
        if repository is None:
            return
        for other in self._came(repository, place.commit):
            made = self.commit(other)
            for source in made.provenance if made else ():
                if (source.repository_id, source.commit_id) == (place.repository, place.commit):
                    yield other, _edge(place, other, source)

    def repository(self, name: str) -> Repository | None:
        if name not in self._repositories:
            self._repositories[name] = find_repository(self._lake, name)
        return self._repositories[name]

    def commit(self, place: _Place) -> Commit | None:
        if place not in self._commits:
            repository = self.repository(place.repository)
            stored = None
            if repository is not None:
                stored = self._lake.tables(repository).commits.find(place.commit.encode())
            self._commits[place] = stored.record if stored else None
        return self._commits[place]

    def _came(self, repository: Repository, commit: str) -> Iterator[_Place]:
        for name, made in results_of(self._lake, repository, commit):
            yield _Place(name, made)


def results_of(lake: Lake, repository: Repository, commit: str) -> Iterator[tuple[str, str]]:
    """Give repository and id of each commit that jobs made of a commit directly."""
    name = f"{repository.repository_id}-{repository.unique_identifier}/{commit}/"
    for key, _ in scan_prefix(lake.store, PIPELINES, CAME + name.encode()):
        made_in, made = key.decode().rsplit("/", 2)[1:]
        yield made_in, made


def find_repository(lake: Lake, name: str) -> Repository | None:
    """Give a repository, or None where there is none any more."""
    try:
        return get_repository(lake.store, lake.environment, RepositoryId(name))
    except (NotFound, Gone):
        return None


def find_commit(lake: Lake, name: str, commit: str) -> Commit | None:
    """Give a commit by the name of its repository, or None where either is gone."""
    repository = find_repository(lake, name)
    if repository is None:
        return None
    stored = lake.tables(repository).commits.find(CommitId(commit).encode())
    return stored.record if stored else None


def _edge(source: _Place, made: _Place, said: Provenance) -> Edge:
    return Edge(source=source.name, made=made.name, input=said.input, glob=said.glob)


def _in_order(commits: dict[str, Known], edges: Iterable[Edge]) -> Iterator[Known]:
    """Give each commit behind its inputs; among those that could come next, by name."""
    before: dict[str, set[str]] = {name: set() for name in commits}
    after: dict[str, set[str]] = {name: set() for name in commits}
    for edge in edges:
        before[edge.made].add(edge.source)
        after[edge.source].add(edge.made)
    ready = sorted((name for name, inputs in before.items() if not inputs), reverse=True)
    while ready:
        name = ready.pop()
        yield commits[name]
        for made in sorted(after[name]):
            before[made].discard(name)
            if not before[made]:
                ready.append(made)
        ready.sort(reverse=True)
