# SPDX-License-Identifier: Apache-2.0
"""Pipelines: made of a spec and its files, looked at, paused, run, taken away.

Whoever makes a pipeline must be allowed to read what it reads and to commit where it writes, since
its jobs will do so without asking; to make a repository too, where its output is in none yet. Who
runs one on another branch must be allowed to commit there. The code is stored and never run here.
"""

import binascii
from base64 import b64decode
from typing import Final

from lochan.access.actions import (
    ATTACH_STORAGE_NAMESPACE,
    CREATE_COMMIT,
    CREATE_PIPELINE,
    CREATE_REPOSITORY,
    DELETE_PIPELINE,
    READ_OBJECT,
    READ_PIPELINE,
    RUN_PIPELINE,
    UPDATE_PIPELINE,
)
from lochan.access.arn import (
    branch_arn,
    object_arn,
    pipeline_arn,
    repository_arn,
    storage_namespace_arn,
)
from lochan.access.needed import AllOf, Permission
from lochan.errors import InvalidInput
from lochan.model.ids import RepositoryId, StorageNamespace
from lochan.pipelines.jobs.check_spec import check_spec
from lochan.pipelines.model.records import PipelineRecord, PipelineVersion
from lochan.pipelines.model.spec import RepoInput, Spec, leaves
from lochan.pipelines.schedule.run_by_hand import run_by_hand
from lochan.pipelines.specs import registry
from lochan.pipelines.specs.code import MOST_BYTES
from lochan.pipelines.specs.graph import graph_dot
from lochan.pipelines.specs.masked_spec import masked_spec
from lochan.pipelines.specs.yaml_spec import load_specs
from lochan.shapes.jobs import JobSet
from lochan.shapes.pages import PageQuery
from lochan.shapes.pipelines import (
    GraphNode,
    Pipeline,
    PipelineCheck,
    PipelineCreation,
    PipelineGraph,
    PipelineList,
    PipelineState,
    PipelineUpdateQuery,
    RunRequest,
)
from lochan.web.api.pages import named, page_of, start_of
from lochan.web.api.shown_jobs import shown_job_set, shown_time
from lochan.web.call import Call
from lochan.web.needs import Need, each
from lochan.web.route import NOTHING, Routes

ROUTES: Routes = Routes("pipelines")

_PIPELINE: Final = "arn:lakefs:pipelines:::pipeline/{pipeline}"
_READS: Final = Need(READ_OBJECT, "arn:lakefs:fs:::repository/{repository}/object/*")
_WRITES: Final = Need(CREATE_COMMIT, "arn:lakefs:fs:::repository/{repository}/branch/{branch}")
_PLACES: Final = (
    _READS,
    _WRITES,
    Need(CREATE_REPOSITORY, "arn:lakefs:fs:::repository/{repository}"),
    Need(ATTACH_STORAGE_NAMESPACE, "arn:lakefs:fs:::namespace/{namespace}"),
)


@ROUTES.get(
    "/pipelines",
    needs=each(Need(READ_PIPELINE, _PIPELINE)),
    query=PageQuery,
    answers={200: PipelineList},
)
def list_pipelines(call: Call) -> PipelineList:
    """Give the pipelines that the caller may see, by name."""
    asked = call.asked(PageQuery)
    start = start_of(asked)
    seen = (
        record
        for record in named(registry.list_pipelines(call.lake), asked, _name)
        if record.pipeline >= start and call.decide(_permission(READ_PIPELINE, record.pipeline))
    )
    page, pagination = page_of(seen, asked, _name)
    return PipelineList(pagination=pagination, results=[_shown(call, each) for each in page])


@ROUTES.post(
    "/pipelines",
    needs=each(Need(CREATE_PIPELINE, _PIPELINE), *_PLACES),
    body=PipelineCreation,
    answers={201: Pipeline},
)
def create_pipeline(call: Call) -> Pipeline:
    """Make a pipeline."""
    spec, files = _said(call)
    call.require(_needed(CREATE_PIPELINE, spec))
    made = registry.create_pipeline(
        call.lake,
        spec,
        files,
        principal=call.user.user,
        namespaces=lambda name: _namespace(call, name),
    )
    return _shown(call, made)


@ROUTES.get("/pipelines/{pipeline}", needs=Need(READ_PIPELINE, _PIPELINE), answers={200: Pipeline})
def get_pipeline(call: Call) -> Pipeline:
    """Give a pipeline as it is now."""
    return _shown(call, registry.get_pipeline(call.lake, call.path["pipeline"]))


@ROUTES.put(
    "/pipelines/{pipeline}",
    needs=each(Need(UPDATE_PIPELINE, _PIPELINE), *_PLACES),
    query=PipelineUpdateQuery,
    body=PipelineCreation,
    answers={200: Pipeline},
)
def update_pipeline(call: Call) -> Pipeline:
    """Give a pipeline another version; the same spec and files change nothing."""
    spec, files = _said(call)
    if spec.pipeline != call.path["pipeline"]:
        message = f"the spec is of {spec.pipeline!r}, not of {call.path['pipeline']!r}"
        raise InvalidInput(message, code="another-pipeline")
    call.require(_needed(UPDATE_PIPELINE, spec))
    changed = registry.update_pipeline(
        call.lake,
        spec,
        files,
        principal=call.user.user,
        reprocess=call.asked(PipelineUpdateQuery).reprocess,
        namespaces=lambda name: _namespace(call, name),
    )
    return _shown(call, changed)


@ROUTES.delete(
    "/pipelines/{pipeline}",
    needs=Need(DELETE_PIPELINE, _PIPELINE),
    answers={204: NOTHING},
)
def delete_pipeline(call: Call) -> None:
    """Take a pipeline away; its output stays."""
    registry.delete_pipeline(call.lake, call.path["pipeline"])


@ROUTES.put(
    "/pipelines/{pipeline}/state",
    needs=Need(UPDATE_PIPELINE, _PIPELINE),
    body=PipelineState,
    answers={200: Pipeline},
)
def set_pipeline_state(call: Call) -> Pipeline:
    """Let new commits start jobs, or not."""
    paused = call.told(PipelineState).state == "paused"
    return _shown(call, registry.set_paused(call.lake, call.path["pipeline"], paused=paused))


@ROUTES.post(
    "/pipelines/{pipeline}/runs",
    needs=each(Need(RUN_PIPELINE, _PIPELINE), _WRITES),
    body=RunRequest,
    body_optional=True,
    answers={202: JobSet},
)
def run_pipeline(call: Call) -> JobSet:
    """Run a pipeline and all that hangs below it, on what is there now or on fixed commits."""
    told = call.told(RunRequest) if call.body is not None else RunRequest()
    name = call.path["pipeline"]
    call.require(_permission(RUN_PIPELINE, name))
    if told.branch:
        _require_branch(call, name, told.branch)
    decided = run_by_hand(
        call.lake,
        [name],
        key=told.key,
        branch=told.branch,
        commits=told.commits,
    )
    return shown_job_set(call, decided, name)


@ROUTES.post(
    "/pipeline-checks",
    needs=each(Need(CREATE_PIPELINE, _PIPELINE), _READS, _WRITES),
    body=PipelineCreation,
    answers={200: PipelineCheck},
)
def check_pipeline(call: Call) -> PipelineCheck:
    """Say what a pipeline would do now; nothing is made."""
    spec, files = _said(call)
    call.require(_needed(CREATE_PIPELINE, spec))
    found = check_spec(call.lake, spec, files)
    return PipelineCheck(
        pipeline=found.pipeline,
        datums=found.datums,
        first=[list(one) for one in found.first],
        hashed=list(found.hashed),
        notes=list(found.notes),
    )


@ROUTES.get(
    "/pipeline-graph",
    needs=each(Need(READ_PIPELINE, _PIPELINE)),
    answers={200: PipelineGraph},
)
def get_pipeline_graph(call: Call) -> PipelineGraph:
    """Give the graph of all pipelines that the caller may see."""
    graph = registry.load_graph(call.lake)
    seen = [node for node in graph.nodes if call.decide(_permission(READ_PIPELINE, node.pipeline))]
    shown = [
        GraphNode(
            pipeline=node.pipeline,
            reads=list(map(str, node.reads)),
            triggers=list(map(str, node.triggers)),
            writes=str(node.writes),
            paused=node.paused,
        )
        for node in seen
    ]
    visible = type(graph)(tuple(seen))
    return PipelineGraph(version=visible.version, nodes=shown, dot=graph_dot(visible))


def _said(call: Call) -> tuple[Spec, dict[str, bytes]]:
    """Read a spec and its files. Raises InvalidInput."""
    told = call.told(PipelineCreation)
    specs = load_specs(told.spec, file="the spec")
    if len(specs) != 1:
        message = f"the text holds {len(specs)} pipelines; send them one by one"
        raise InvalidInput(message, code="one-pipeline")
    files = {path: _decoded(path, text) for path, text in told.files.items()}
    if sum(map(len, files.values())) > MOST_BYTES:
        message = f"the files of a pipeline have {MOST_BYTES >> 20} MiB at most"
        raise InvalidInput(message, code="code-too-large")
    return specs[0], files


def _decoded(path: str, text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInput(f"file {path!r} is no base64", code="not-base64") from error


def _namespace(call: Call, name: RepositoryId) -> StorageNamespace:
    """Say where a repository shall lie that a pipeline needs. Raises PermissionDenied."""
    where = f"{call.services.settings.namespace_prefix.rstrip('/')}/{name}"
    call.require(
        AllOf(
            Permission(CREATE_REPOSITORY, repository_arn(name)),
            Permission(ATTACH_STORAGE_NAMESPACE, storage_namespace_arn(where)),
        )
    )
    return StorageNamespace(where)


def _require_branch(call: Call, name: str, branch: str) -> None:
    """Refuse a run on a branch that the caller may not commit to, of any output that it writes."""
    graph = registry.load_graph(call.lake)
    nodes = {node.pipeline: node for node in (graph.node(name), *graph.below(name))}
    outputs = sorted({node.writes.repo for node in nodes.values()})
    call.require(AllOf(*(Permission(CREATE_COMMIT, branch_arn(one, branch)) for one in outputs)))


def _needed(action: str, spec: Spec) -> AllOf:
    reads = sorted({leaf.repo for leaf in leaves(spec.input) if isinstance(leaf, RepoInput)})
    return AllOf(
        _permission(action, spec.pipeline),
        *(Permission(READ_OBJECT, object_arn(repo, "*"), below=True) for repo in reads),
        Permission(CREATE_COMMIT, branch_arn(spec.output.repo, spec.output.branch)),
    )


def _permission(action: str, pipeline: str) -> Permission:
    return Permission(action, pipeline_arn(pipeline))


def _name(record: PipelineRecord) -> str:
    return record.pipeline


def _shown(call: Call, record: PipelineRecord) -> Pipeline:
    version: PipelineVersion = registry.get_version(call.lake, record.pipeline, record.version)
    return Pipeline(
        pipeline=record.pipeline,
        version=record.version,
        state=record.state.value,
        created=shown_time(record.created),
        updated=shown_time(record.updated),
        principal=record.principal,
        spec=masked_spec(version.spec),
        digest=version.digest,
        hashed=list(version.hashed),
    )
