# SPDX-License-Identifier: Apache-2.0
"""Collections, their plans and undoing, and storage reports: as tasks.

To collect needs the rights of lakeFS's own collector, and the right to delete every object: its
collector has that by credentials of the store. A plan and a report name objects and sizes alone.
"""

import msgspec

from lochan.access.actions import (
    DELETE_OBJECT,
    LIST_BRANCHES,
    LIST_COMMITS,
    LIST_OBJECTS,
    LIST_TAGS,
    PREPARE_GARBAGE_COLLECTION_COMMITS,
    PREPARE_GARBAGE_COLLECTION_UNCOMMITTED,
)
from lochan.model.instant import to_datetime
from lochan.model.tasks import Task
from lochan.operations.gc.collect import Collection
from lochan.operations.start_collection import start_collection, start_report, start_undo
from lochan.operations.task_rows import TaskKind
from lochan.pipelines.jobs.after import clear_holds
from lochan.pipelines.jobs.sweep_work import sweep_work
from lochan.shapes.collection import (
    CollectionCreation,
    CollectionReport,
    CollectionStatus,
    CollectionUndo,
    CollectionUndone,
    StorageReport,
    StorageReportCreation,
    StorageReportStatus,
)
from lochan.shapes.errors import Error
from lochan.shapes.tasks import TaskInfo, TaskQuery
from lochan.web.call import Call
from lochan.web.needs import Need, every
from lochan.web.route import Routes

ROUTES = Routes("retention")

_REPOSITORY = "arn:lakefs:fs:::repository/{repository}"
_EVERYTHING = Need(DELETE_OBJECT, _REPOSITORY + "/object/*")
_TO_PLAN = (
    Need(PREPARE_GARBAGE_COLLECTION_COMMITS, _REPOSITORY),
    Need(PREPARE_GARBAGE_COLLECTION_UNCOMMITTED, _REPOSITORY),
)
_TO_REPORT = every(
    *(Need(one, _REPOSITORY) for one in (LIST_BRANCHES, LIST_TAGS, LIST_COMMITS, LIST_OBJECTS))
)
_RUNS = "/repositories/{repository}/gc/runs"
_REPORT = "/repositories/{repository}/storage_report"
_HOUR, _DAY, _PERCENT = 3600.0, 86400.0, 100.0


@ROUTES.post(
    _RUNS, needs=every(*_TO_PLAN, _EVERYTHING), body=CollectionCreation, answers={202: TaskInfo}
)
def collection_submit(call: Call) -> TaskInfo:
    """Begin to collect garbage, or to plan it."""
    told = call.told(CollectionCreation)
    how = Collection(
        grace_s=told.grace_hours * _HOUR,
        most_share=told.most_percent / _PERCENT,
        force=told.force,
        idle_s=told.idle_days * _DAY,
    )
    where = call.lake, call.repository
    task = start_collection(
        call.lake,
        call.services.tasks,
        call.repository,
        how,
        is_plan=told.plan,
        first=lambda: clear_holds(*where),
        last=lambda: sweep_work(*where, how.grace_s),
    )
    return TaskInfo(id=task.id)


@ROUTES.get(_RUNS, needs=every(*_TO_PLAN), query=TaskQuery, answers={200: CollectionStatus})
def collection_status(call: Call) -> CollectionStatus:
    """Tell how far a collection, its plan or its undoing has come."""
    task = _task(call, TaskKind.COLLECT)
    found = msgspec.json.decode(task.report or "{}")
    is_run = "is_plan" in found
    return CollectionStatus(
        id=task.id,
        done=task.done,
        update_time=to_datetime(task.updated_at),
        progress=task.progress,
        error=_error(task),
        report=msgspec.convert(found, CollectionReport) if is_run else None,
        undone=msgspec.convert(found, CollectionUndone) if found and not is_run else None,
    )


@ROUTES.post(
    "/repositories/{repository}/gc/undo",
    needs=every(*_TO_PLAN, _EVERYTHING),
    body=CollectionUndo,
    answers={202: TaskInfo},
)
def collection_undo(call: Call) -> TaskInfo:
    """Begin to bring back what a run moved to the trash."""
    run = call.told(CollectionUndo).run
    return TaskInfo(id=start_undo(call.lake, call.services.tasks, call.repository, run).id)


@ROUTES.post(_REPORT, needs=_TO_REPORT, body=StorageReportCreation, answers={202: TaskInfo})
def storage_report_submit(call: Call) -> TaskInfo:
    """Begin to add up what refs hold, with others and alone."""
    refs = call.told(StorageReportCreation).refs
    return TaskInfo(id=start_report(call.lake, call.services.tasks, call.repository, refs).id)


@ROUTES.get(_REPORT, needs=_TO_REPORT, query=TaskQuery, answers={200: StorageReportStatus})
def storage_report_status(call: Call) -> StorageReportStatus:
    """Tell how far a storage report has come."""
    task = _task(call, TaskKind.STORAGE_REPORT)
    return StorageReportStatus(
        id=task.id,
        done=task.done,
        update_time=to_datetime(task.updated_at),
        progress=task.progress,
        error=_error(task),
        report=msgspec.json.decode(task.report, type=StorageReport) if task.report else None,
    )


def _task(call: Call, kind: TaskKind) -> Task:
    return call.services.tasks.rows(call.repository, kind).get(call.asked(TaskQuery).task_id)


def _error(task: Task) -> Error | None:
    return Error(message=task.error, code=task.error_code) if task.error else None
