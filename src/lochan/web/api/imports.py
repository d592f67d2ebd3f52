# SPDX-License-Identifier: Apache-2.0
"""Imports: begun, asked about, cancelled.

An import needs the right to read each source, to write all that may come to lie under each
destination, and to commit on the branch (S16). An import that failed is not `completed` and has an
error, since lakeFS's clients take what is completed for done.
"""

from lochan.access.actions import (
    CREATE_COMMIT,
    IMPORT_FROM_STORAGE,
    WRITE_OBJECT,
)
from lochan.access.arn import branch_arn, object_arn, storage_namespace_arn
from lochan.access.needed import AllOf, Permission
from lochan.errors import InvalidInput, NotFound
from lochan.model.instant import to_datetime
from lochan.model.tasks import Task
from lochan.objects.foreign import spelled
from lochan.operations.import_objects import ImportRequest
from lochan.operations.import_paths import ImportPath, PathKind
from lochan.operations.import_sources import ImportSources
from lochan.operations.start_import import start_import
from lochan.operations.task_rows import TaskKind
from lochan.refs.commits import get_commit
from lochan.shapes.errors import Error
from lochan.shapes.imports import (
    ImportCreation,
    ImportCreationResponse,
    ImportLocation,
    ImportQuery,
    ImportStatus,
)
from lochan.web.api.shown import committer_of, shown_commit
from lochan.web.call import Call
from lochan.web.needs import Need, each
from lochan.web.route import NOTHING, Routes

ROUTES = Routes("import")

_PATH = "/repositories/{repository}/branches/{branch}/import"
_REPOSITORY = "arn:lakefs:fs:::repository/{repository}"
_BRANCH = _REPOSITORY + "/branch/{branch}"


@ROUTES.post(
    _PATH,
    needs=each(
        Need(CREATE_COMMIT, _BRANCH),
        Need(IMPORT_FROM_STORAGE, "arn:lakefs:fs:::namespace/{path}"),
        Need(WRITE_OBJECT, _REPOSITORY + "/object/{destination}"),
    ),
    body=ImportCreation,
    answers={202: ImportCreationResponse},
)
def import_start(call: Call) -> ImportCreationResponse:
    """Begin to bring objects that lie elsewhere onto a branch, by one commit."""
    told = call.told(ImportCreation)
    call.require(_needed(call, told))
    task = start_import(
        call.lake,
        call.services.tasks,
        _sources(call),
        call.repository,
        call.branch,
        [_path(location) for location in told.paths],
        _request(call, told),
    )
    return ImportCreationResponse(id=task.id)


@ROUTES.get(
    _PATH,
    needs=Need("fs:ReadBranch", _BRANCH),
    query=ImportQuery,
    answers={200: ImportStatus},
)
def import_status(call: Call) -> ImportStatus:
    """Tell how far an import has come."""
    task = _task(call)
    commit = None
    if task.result.commit_id:
        commit = get_commit(call.lake.tables(call.repository), task.result.commit_id)
    return ImportStatus(
        completed=task.done and not task.error,
        update_time=to_datetime(task.updated_at),
        ingested_objects=task.progress,
        metarange_id=commit.meta_range_id if commit else None,
        commit=shown_commit(commit) if commit else None,
        error=Error(message=task.error, code=task.error_code) if task.error else None,
    )


@ROUTES.delete(
    _PATH,
    needs=Need("fs:ImportCancel", _BRANCH),
    query=ImportQuery,
    answers={204: NOTHING},
)
def import_cancel(call: Call) -> None:
    """Give an import up; nothing of it will show."""
    task = _task(call)
    call.services.tasks.cancel(call.repository, TaskKind.IMPORT, task.id)


def _task(call: Call) -> Task:
    asked = call.asked(ImportQuery)
    rows = call.services.tasks.rows(call.repository, TaskKind.IMPORT)
    task = rows.get(asked.id)
    if task.branch != call.branch:
        message = f"no import {asked.id!r} goes to branch {call.branch!r}"
        raise NotFound(message, code="task-not-found")
    return task


def _needed(call: Call, told: ImportCreation) -> AllOf:
    repository = call.path["repository"]
    return AllOf(
        Permission(CREATE_COMMIT, branch_arn(repository, call.branch)),
        *(
            Permission(
                IMPORT_FROM_STORAGE,
                storage_namespace_arn(_below(location, spelled(location.path))),
                below=location.type != "object",
            )
            for location in told.paths
        ),
        *(
            Permission(IMPORT_FROM_STORAGE, storage_namespace_arn(spelled(location.inventory)))
            for location in told.paths
            if location.inventory
        ),
        *(
            Permission(
                WRITE_OBJECT,
                object_arn(repository, _below(location, location.destination)),
                below=location.type != "object",
            )
            for location in told.paths
        ),
    )


def _below(location: ImportLocation, name: str) -> str:
    """Name what an import reads, or writes: of a folder, everything below."""
    if location.type == "object":
        return name
    return f"{name.removesuffix('/')}/*" if name else "*"


def _sources(call: Call) -> ImportSources:
    settings = call.services.settings
    return ImportSources(
        prefixes=settings.blockstore.allowed_namespace_prefixes,
        folders=settings.blockstore.readable_folders,
        own=(f"local://{settings.lake.absolute()}", settings.namespace_prefix),
    )


def _path(location: ImportLocation) -> ImportPath:
    kind = PathKind(location.type)
    if location.inventory and kind is PathKind.OBJECT:
        message = f"{location.path!r} is one object, which no inventory need list"
        raise InvalidInput(message, code="invalid-inventory")
    destination = location.destination.encode()
    return ImportPath(location.path, destination, kind, location.inventory or "")


def _request(call: Call, told: ImportCreation) -> ImportRequest:
    commit = told.commit
    return ImportRequest(
        committer_of(call),
        commit.message or "Import objects",
        commit.metadata,
        allow_empty=commit.allow_empty,
    )
