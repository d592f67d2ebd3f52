# SPDX-License-Identifier: Apache-2.0
"""Run pipelines because somebody asks: on what is there now, on fixed commits, on another branch.

Requests with one key are one run, so a caller that heard no answer may ask again. On another branch
the whole graph below reads inputs there where they have the branch, and writes all outputs there:
what was computed before is remembered, and runs nothing.
"""

from collections.abc import Mapping, Sequence

from lochan.errors import InvalidInput
from lochan.model.ids import RepositoryId, valid_branch_name
from lochan.operations.lake import Lake
from lochan.operations.reference import commit_of
from lochan.pipelines.jobs.heads import pin_to
from lochan.pipelines.model.records import Cause, JobSet, Pin
from lochan.pipelines.model.spec import leaves
from lochan.pipelines.schedule.job_sets import decide
from lochan.pipelines.specs.graph import Graph, place_of
from lochan.pipelines.specs.registry import load_graph
from lochan.refs.repositories import get_repository

MANUAL = "manual"


def run_by_hand(
    lake: Lake,
    pipelines: Sequence[str],
    *,
    key: str = "",
    branch: str = "",
    commits: Mapping[str, str] | None = None,
) -> JobSet:
    """Decide a run; `commits` fixes inputs of the named pipelines to refs, by the inputs' names.

    Raises: NotFound for a pipeline or a ref, InvalidInput for an input or a branch that is none.
    """
    if branch:
        valid_branch_name(branch)
    graph = load_graph(lake)
    pins = _pins(lake, graph, pipelines, commits or {})
    cause = Cause(kind=MANUAL, key=key or lake.environment.new_id())
    decided = decide(lake, cause, graph, pipelines=pipelines, branch=branch, pins=pins)
    if decided is None:
        raise InvalidInput("say which pipelines to run", code="pipelines-needed")
    return decided


def _pins(
    lake: Lake, graph: Graph, pipelines: Sequence[str], commits: Mapping[str, str]
) -> tuple[Pin, ...]:
    found: list[Pin] = []
    for pipeline in pipelines:
        for leaf in leaves(graph.node(pipeline).spec.input):
            if leaf.name not in commits:
                continue
            place = place_of(pipeline, leaf)
            repository = get_repository(lake.store, lake.environment, RepositoryId(place.repo))
            commit = commit_of(lake, repository, commits[leaf.name])
            found.append(pin_to(leaf, repository, place.branch, commit))
    unknown = sorted(set(commits) - {pin.input for pin in found})
    if unknown:
        message = f"{', '.join(pipelines)} has no input {', '.join(unknown)}"
        raise InvalidInput(message, code="no-such-input")
    return tuple(found)
