# SPDX-License-Identifier: Apache-2.0
"""Where a commit or a file came from, and what came of it.

Commits of repositories that the caller may not read are left out, and so are the edges to them and
the files that it may not read.
"""

from lochan.access.actions import READ_COMMIT, READ_OBJECT
from lochan.access.arn import object_arn, repository_arn
from lochan.access.needed import Permission
from lochan.operations.reference import commit_of
from lochan.pipelines.lineage import file_lineage, provenance
from lochan.pipelines.lineage.drawn import dot, svg
from lochan.shapes.provenance import (
    FilePlace,
    FileStep,
    KnownCommit,
    ProvenanceEdge,
    ProvenanceGraph,
    ProvenanceQuery,
)
from lochan.web.call import Call
from lochan.web.needs import Need, each
from lochan.web.route import Routes

ROUTES: Routes = Routes("provenance")

_REPOSITORY = "arn:lakefs:fs:::repository/{repository}"


@ROUTES.get(
    "/repositories/{repository}/refs/{ref}/provenance",
    needs=each(Need(READ_COMMIT, _REPOSITORY), Need(READ_OBJECT, _REPOSITORY + "/object/{path}")),
    query=ProvenanceQuery,
    answers={200: ProvenanceGraph},
)
def get_provenance(call: Call) -> ProvenanceGraph:
    """Give all that made a commit, or all that was made of it; of a file, the datums too."""
    asked = call.asked(ProvenanceQuery)
    call.require(Permission(READ_COMMIT, repository_arn(call.path["repository"])))
    if asked.path:
        call.require(Permission(READ_OBJECT, object_arn(call.path["repository"], asked.path)))
    commit = commit_of(call.lake, call.repository, call.path["ref"])
    found = provenance.trace(call.lake, call.repository, commit, asked.direction)
    steps: tuple[file_lineage.FileStep, ...] = ()
    if asked.path:
        look = file_lineage.made_of if asked.direction == "up" else file_lineage.came_of
        steps = look(call.lake, call.repository, commit, asked.path.encode())
    graph = _visible(call, found)
    return ProvenanceGraph(
        start=graph.start,
        direction=graph.direction,
        commits=[_commit(known) for known in graph.commits],
        edges=[
            ProvenanceEdge(source=edge.source, made=edge.made, input=edge.input, glob=edge.glob)
            for edge in graph.edges
        ],
        files=[shown for step in steps if (shown := _step(call, step)) is not None],
        svg=svg(graph),
        dot=dot(graph),
    )


def _visible(call: Call, graph: provenance.Graph) -> provenance.Graph:
    """Leave out what the caller may not read, and the edges to it."""
    commits = tuple(known for known in graph.commits if _may_read(call, known.repository))
    names = {known.name for known in commits}
    edges = tuple(edge for edge in graph.edges if {edge.source, edge.made} <= names)
    return provenance.Graph(
        start=graph.start, direction=graph.direction, commits=commits, edges=edges
    )


def _may_read(call: Call, repository: str) -> bool:
    return call.may(Permission(READ_COMMIT, repository_arn(repository)))


def _commit(known: provenance.Known) -> KnownCommit:
    return KnownCommit(
        repository=known.repository,
        commit=known.commit,
        job=known.job,
        pipeline=known.pipeline,
        message=known.message,
        is_there=known.is_there,
    )


def _step(call: Call, step: file_lineage.FileStep) -> FileStep | None:
    """Show a datum as far as the caller may see its files; nothing where that is nowhere."""
    if not _may_read(call, step.repository):
        return None
    return FileStep(
        datum=step.datum,
        job=step.job,
        pipeline=step.pipeline,
        repository=step.repository,
        commit=step.commit,
        sources=[_place(place) for place in step.sources if _may_see(call, place)],
        results=[_place(place) for place in step.results if _may_see(call, place)],
    )


def _may_see(call: Call, place: file_lineage.FilePlace) -> bool:
    return call.may(Permission(READ_OBJECT, object_arn(place.repository, place.path)))


def _place(place: file_lineage.FilePlace) -> FilePlace:
    return FilePlace(
        repository=place.repository,
        commit=place.commit,
        path=place.path.encode(errors="surrogateescape").decode(errors="replace"),
        input=place.input,
    )
