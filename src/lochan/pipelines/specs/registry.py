# SPDX-License-Identifier: Apache-2.0
"""The pipelines of a lake: made, changed, paused and taken away.

A version is named by what it holds, spec and files. So an update to what is there already changes
nothing, and a version that comes back is the one of before: what its datums gave is remembered. It
is decided on like a new one (`update`), since another has run since. Its digest says which datums
run again:

    rerun: on_code_change     when the transform changed, or the code that it is made of (`code`)
    rerun: never              never: the digest of the version before goes on
    rerun: every_job          with every job (`digest_for_job`)

Making a pipeline:
1. what it says is checked, alone and in the graph of all pipelines;
2. the repositories and branches that are its own are made;
3. its files are stored, then the version, then the row specs/<pipeline> by one compare-and-swap:
   from then on it is there;
4. the others are read again: of two that were made at once and do not go together, whoever sees
   the other takes itself back, and one does;
5. it takes its branches (`output`).
What dies on the way stands in nobody's way; after step 3, an update to the same does the rest.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256

import msgspec

from lochan.errors import (
    AlreadyExists,
    Conflict,
    Corruption,
    InvalidInput,
    NotFound,
    PredicateFailed,
)
from lochan.kv.table import Stored, Table
from lochan.model.ids import RepositoryId
from lochan.model.instant import Instant, from_seconds
from lochan.objects.store import IF_ABSENT
from lochan.operations.lake import Lake
from lochan.pipelines.model import tables
from lochan.pipelines.model.datum import hashed
from lochan.pipelines.model.failures import Failed
from lochan.pipelines.model.records import PipelineRecord, PipelineState, PipelineVersion
from lochan.pipelines.model.spec import Spec
from lochan.pipelines.model.tables import PipelineTables, version_name
from lochan.pipelines.model.work import Code
from lochan.pipelines.specs.code import Files, closure_of, pack, stated, transform_digest
from lochan.pipelines.specs.graph import Graph, Node
from lochan.pipelines.specs.output import (
    Namespaces,
    make_places,
    owned_places,
    release_places,
    require_inputs,
    take_places,
)
from lochan.pipelines.specs.validate import validate
from lochan.refs.repositories import get_repository

CODE = "_lochan/code"
NO_FILES: Mapping[str, bytes] = {}


def create_pipeline(
    lake: Lake,
    spec: Spec,
    files: Files = NO_FILES,
    *,
    principal: str = "",
    namespaces: Namespaces | None = None,
) -> PipelineRecord:
    """Make a pipeline; `namespaces` says where its repositories lie if they are missing.

    Raises: InvalidInput for what the spec, the files or the graph forbid; AlreadyExists;
    RepositoryNotFound; UnknownOutcome: look, then update.
    """
    if PipelineTables.of(lake.store).specs.find(spec.pipeline.encode()) is not None:
        raise _exists(spec.pipeline)
    version = _prepare(lake, spec, files, None, namespaces)
    now = from_seconds(lake.environment.now())
    record = PipelineRecord(
        pipeline=spec.pipeline,
        version=version.version,
        unique_identifier=lake.environment.new_id(),
        created=now,
        updated=now,
        principal=principal,
    )
    _put_in_place(lake, None, record)
    take_places(lake, spec.pipeline, owned_places(spec))
    return record


def update_pipeline(
    lake: Lake,
    spec: Spec,
    files: Files = NO_FILES,
    *,
    principal: str = "",
    reprocess: bool = False,
    namespaces: Namespaces | None = None,
) -> PipelineRecord:
    """Give a pipeline another version, or leave it as it is when spec and files are its own.

    Its jobs act for who changed it last. With `reprocess` everything is run again.
    Raises: NotFound; Conflict when somebody else updates it at this moment; else as
    `create_pipeline`.
    """
    stored = _stored(lake, spec.pipeline)
    before = get_version(lake, spec.pipeline, stored.record.version)
    wanted = version_of(spec, files)
    record = stored.record
    if wanted != before.version or reprocess:
        _prepare(lake, spec, files, before, namespaces)
        record = msgspec.structs.replace(
            record,
            version=wanted,
            updated=from_seconds(lake.environment.now()),
            principal=principal or record.principal,
            reprocess=lake.environment.new_id() if reprocess else record.reprocess,
            update=lake.environment.new_id(),
        )
        _put_in_place(lake, stored, record)
    places = owned_places(spec)
    take_places(lake, spec.pipeline, places)
    left = (place for place in owned_places(before.spec) if place not in places)
    release_places(lake, spec.pipeline, left)
    return record


def set_paused(lake: Lake, pipeline: str, *, paused: bool) -> PipelineRecord:
    """Let new commits start no jobs of a pipeline, or start them again. Raises NotFound."""
    state = PipelineState.PAUSED if paused else PipelineState.ACTIVE

    def change(record: PipelineRecord | None) -> PipelineRecord:
        if record is None:
            raise _not_found(pipeline)
        return msgspec.structs.replace(record, state=state)

    name = pipeline.encode()
    changed = PipelineTables.of(lake.store).specs.update(name, change, lake.environment)
    assert changed is not None  # noqa: S101 - change never gives None
    return changed


def delete_pipeline(lake: Lake, pipeline: str) -> None:
    """Take a pipeline away. Its output stays, free for all, and so do versions and jobs of before.

    Raises: NotFound; Conflict when somebody else changes it at this moment.
    """
    stored = _stored(lake, pipeline)
    places = owned_places(get_version(lake, pipeline, stored.record.version).spec)
    release_places(lake, pipeline, places)
    try:
        PipelineTables.of(lake.store).specs.delete_if(pipeline.encode(), stored.predicate)
    except PredicateFailed as error:
        take_places(lake, pipeline, places)
        raise _changed(pipeline) from error


def get_pipeline(lake: Lake, pipeline: str) -> PipelineRecord:
    """Give a pipeline as it is now. Raises NotFound."""
    return _stored(lake, pipeline).record


def get_version(lake: Lake, pipeline: str, version: str) -> PipelineVersion:
    """Give a version of a pipeline, also of one that is gone. Raises NotFound."""
    return tables.get_version(lake.store, pipeline, version)


def list_pipelines(lake: Lake, *, after: str = "") -> Iterator[PipelineRecord]:
    """Give the pipelines by name, those behind `after`."""
    for _, record in PipelineTables.of(lake.store).specs.scan(after.encode()):
        yield record


def list_versions(lake: Lake, pipeline: str) -> tuple[PipelineVersion, ...]:
    """Give all versions that a pipeline ever had, the newest first."""
    table, beginning = PipelineTables.of(lake.store).versions, version_name(pipeline, "")
    found = []
    for name, version in table.scan(beginning):
        if not name.startswith(beginning):
            break
        found.append(version)
    return tuple(sorted(found, key=lambda one: (-one.created, one.version)))


def load_graph(lake: Lake, failed: Failed | None = None) -> Graph:
    """Read the graph of all pipelines; of those that do not go together, the later is left out.

    One whose rows are damaged is left out as well, if somebody hears of it. Raises: Corruption,
    NotFound, if nobody does.
    """
    return graph_of(lake, list_pipelines(lake), failed)


def graph_of(lake: Lake, records: Iterable[PipelineRecord], failed: Failed | None = None) -> Graph:
    """Join pipelines that were read before; versions never change, so equal ones give an equal one.

    Raises as `load_graph`.
    """
    return _joined(_nodes(lake, records, failed))


def digest_for_job(record: PipelineRecord, version: PipelineVersion, job: str) -> bytes:
    """Give what datum hashes of a job are made with: the digest, and what says to run again."""
    salt = job if version.spec.rerun == "every_job" else ""
    return hashed([version.digest.encode(), record.reprocess.encode(), salt.encode()])


def version_of(spec: Spec, files: Files) -> str:
    """Name a version by its spec and files."""
    fields = [stated(spec)]
    for path in sorted(files):
        fields += [path.encode(), files[path]]
    return hashed(fields).hex()


def _prepare(
    lake: Lake,
    spec: Spec,
    files: Files,
    before: PipelineVersion | None,
    namespaces: Namespaces | None,
) -> PipelineVersion:
    """Check all, make what it needs, and store the version: steps 1 to 3, but for the row."""
    validate(spec)
    closure, counted = closure_of(spec, files)
    require_place(lake, spec)
    require_inputs(lake, spec)
    make_places(lake, spec, namespaces)
    digest = transform_digest(spec, closure)
    if spec.rerun == "never" and before is not None:
        digest = before.digest
    version = PipelineVersion(
        pipeline=spec.pipeline,
        version=version_of(spec, files),
        spec=spec,
        code=_store_code(lake, spec, files),
        digest=digest,
        hashed=counted,
        created=from_seconds(lake.environment.now()),
    )
    table = PipelineTables.of(lake.store).versions
    name = version_name(spec.pipeline, version.version)
    found = table.update(name, lambda there: there or version, lake.environment)
    return found or version


def _store_code(lake: Lake, spec: Spec, files: Files) -> Code:
    """Store a pipeline's files beside its output, named by what they are."""
    if not files:
        return Code()
    data = pack(files)
    name = sha256(data).hexdigest()
    output = get_repository(lake.store, lake.environment, RepositoryId(spec.output.repo))
    namespace = output.storage_namespace
    code = Code(namespace=namespace, address=f"{CODE}/{name}.zip", sha256=name)
    with suppress(PredicateFailed):  # the same bytes are there, by their name
        put = lake.storage(namespace).objects.put
        put(code.address, data, size=len(data), when=IF_ABSENT)
    return code


def _put_in_place(
    lake: Lake, stored: Stored[PipelineRecord] | None, record: PipelineRecord
) -> None:
    """Swap a pipeline's row, and take that back if it does not go together with the others."""
    table, name = PipelineTables.of(lake.store).specs, record.pipeline.encode()
    before = stored.record if stored else None

    def change(there: PipelineRecord | None) -> PipelineRecord:
        if there != before:
            raise _changed(record.pipeline) if before else _exists(record.pipeline)
        return record

    table.update(name, change, lake.environment)
    try:
        require_place(lake, get_version(lake, record.pipeline, record.version).spec)
    except InvalidInput:
        mine = table.find(name)
        if mine is not None and mine.record == record:
            with suppress(PredicateFailed):  # then somebody else has changed it since
                _set_back(lake, table, before, mine)
        raise


def require_place(lake: Lake, spec: Spec) -> None:
    """Refuse a pipeline that does not go together with the others. Raises as `Graph.of`."""
    others = (one for one in _nodes(lake, list_pipelines(lake)) if one[1].pipeline != spec.pipeline)
    _joined(others).with_node(Node(spec))


def _joined(nodes: Iterable[tuple[Instant, Node]]) -> Graph:
    """Join pipelines; those that cannot be, which only a crash leaves behind, the oldest first."""
    found = sorted(nodes, key=lambda one: (one[0], one[1].pipeline))
    try:
        return Graph.of(node for _, node in found)
    except InvalidInput:
        graph = Graph(())
        for _, node in found:
            with suppress(InvalidInput):  # it runs no more until its author updates it
                graph = graph.with_node(node)
        return graph


def _set_back(
    lake: Lake,
    table: Table[PipelineRecord],
    before: PipelineRecord | None,
    mine: Stored[PipelineRecord],
) -> None:
    """Take an update back. A sweep may have run it meanwhile, so that is an update like any."""
    name = mine.record.pipeline.encode()
    if before is None:
        table.delete_if(name, mine.predicate)
    else:
        back = msgspec.structs.replace(before, update=lake.environment.new_id())
        table.set_if(name, back, mine.predicate)


def _nodes(
    lake: Lake, records: Iterable[PipelineRecord], failed: Failed | None = None
) -> Iterator[tuple[Instant, Node]]:
    """Give every pipeline, and since when it is what it is."""
    for record in records:
        try:
            version = get_version(lake, record.pipeline, record.version)
        except (NotFound, Corruption) as error:
            if failed is None:
                raise
            failed(error)
            continue
        paused = record.state is PipelineState.PAUSED
        incarnation = f"{record.unique_identifier}/{record.reprocess}"
        if record.update:  # rows of before there was this field keep the life that they have
            incarnation += f"/{record.update}"
        yield (
            record.updated,
            Node(version.spec, record.version, paused=paused, incarnation=incarnation),
        )


def _stored(lake: Lake, pipeline: str) -> Stored[PipelineRecord]:
    found = PipelineTables.of(lake.store).specs.find(pipeline.encode())
    if found is None:
        raise _not_found(pipeline)
    return found


def _not_found(pipeline: str) -> NotFound:
    return NotFound(f"no pipeline {pipeline!r}", code="pipeline-not-found", pipeline=pipeline)


def _exists(pipeline: str) -> AlreadyExists:
    message = f"there is a pipeline {pipeline!r}; update it, or choose another name"
    return AlreadyExists(message, code="pipeline-exists", pipeline=pipeline)


def _changed(pipeline: str) -> Conflict:
    message = f"pipeline {pipeline!r} was changed by somebody else; look at it, then try again"
    return Conflict(message, code="pipeline-changed", pipeline=pipeline)
