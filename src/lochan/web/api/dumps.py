# SPDX-License-Identifier: Apache-2.0
"""Refs dumped to files and restored from them: as tasks, and, as lakeFS once did, at once.

A dump tells all of history, so it needs every right to list it; a restore makes all of it.
"""

from lochan.access.actions import (
    CREATE_BRANCH,
    CREATE_COMMIT,
    CREATE_TAG,
    LIST_BRANCHES,
    LIST_COMMITS,
    LIST_TAGS,
)
from lochan.model import tasks
from lochan.model.ids import valid_meta_range_id
from lochan.model.instant import to_datetime
from lochan.operations import refs_dump
from lochan.operations.dump_refs import dump_refs as write_dump
from lochan.operations.restore_refs import restore_refs as read_dump
from lochan.operations.start_dump import start_dump, start_restore
from lochan.operations.task_rows import TaskKind
from lochan.shapes.refs import RefsDump, RefsRestore
from lochan.shapes.tasks import (
    RepositoryDumpStatus,
    RepositoryRestoreStatus,
    TaskInfo,
    TaskQuery,
)
from lochan.web.call import Call
from lochan.web.needs import Need, every
from lochan.web.route import NOTHING, Routes

ROUTES = Routes("repositories")

_REPOSITORY = "arn:lakefs:fs:::repository/{repository}"
_TO_DUMP = every(
    *(Need(action, _REPOSITORY) for action in (LIST_TAGS, LIST_BRANCHES, LIST_COMMITS))
)
_TO_RESTORE = every(
    *(Need(action, _REPOSITORY) for action in (CREATE_TAG, CREATE_BRANCH, CREATE_COMMIT))
)


@ROUTES.post("/repositories/{repository}/dump", needs=_TO_DUMP, answers={202: TaskInfo})
def dump_submit(call: Call) -> TaskInfo:
    """Begin to write all refs to files beside the objects."""
    return TaskInfo(id=start_dump(call.lake, call.services.tasks, call.repository).id)


@ROUTES.get(
    "/repositories/{repository}/dump",
    needs=_TO_DUMP,
    query=TaskQuery,
    answers={200: RepositoryDumpStatus},
)
def dump_status(call: Call) -> RepositoryDumpStatus:
    """Tell how far a dump has come, and which files it wrote."""
    task = _task(call, TaskKind.DUMP)
    return RepositoryDumpStatus(
        id=task.id,
        done=task.done,
        update_time=to_datetime(task.updated_at),
        error=task.error or None,
        refs=_shown(task.result) if task.done and not task.error else None,
    )


@ROUTES.post(
    "/repositories/{repository}/restore",
    needs=_TO_RESTORE,
    body=RefsRestore,
    answers={202: TaskInfo},
)
def restore_submit(call: Call) -> TaskInfo:
    """Begin to restore dumped refs into a bare repository."""
    dump = _dump(call.told(RefsRestore))
    return TaskInfo(id=start_restore(call.lake, call.services.tasks, call.repository, dump).id)


@ROUTES.get(
    "/repositories/{repository}/restore",
    needs=_TO_RESTORE,
    query=TaskQuery,
    answers={200: RepositoryRestoreStatus},
)
def restore_status(call: Call) -> RepositoryRestoreStatus:
    """Tell how far a restore has come."""
    task = _task(call, TaskKind.RESTORE)
    return RepositoryRestoreStatus(
        id=task.id,
        done=task.done,
        update_time=to_datetime(task.updated_at),
        error=task.error or None,
    )


@ROUTES.put("/repositories/{repository}/refs/dump", needs=_TO_DUMP, answers={201: RefsDump})
def dump_refs(call: Call) -> RefsDump:
    """Write all refs to files beside the objects, and answer when it is done."""
    return _shown(write_dump(call.lake, call.repository))


@ROUTES.put(
    "/repositories/{repository}/refs/restore",
    needs=_TO_RESTORE,
    body=RefsRestore,
    answers={200: NOTHING},
)
def restore_refs(call: Call) -> None:
    """Restore dumped refs into a bare repository, and answer when it is done."""
    read_dump(call.lake, call.repository, _dump(call.told(RefsRestore)))


def _task(call: Call, kind: TaskKind) -> tasks.Task:
    return call.services.tasks.rows(call.repository, kind).get(call.asked(TaskQuery).task_id)


def _dump(told: RefsRestore) -> refs_dump.RefsDump:
    return refs_dump.RefsDump(
        commits_meta_range_id=valid_meta_range_id(told.commits_meta_range_id),
        tags_meta_range_id=valid_meta_range_id(told.tags_meta_range_id),
        branches_meta_range_id=valid_meta_range_id(told.branches_meta_range_id),
    )


def _shown(dump: refs_dump.RefsDump | tasks.TaskResult) -> RefsDump:
    return RefsDump(
        commits_meta_range_id=dump.commits_meta_range_id,
        tags_meta_range_id=dump.tags_meta_range_id,
        branches_meta_range_id=dump.branches_meta_range_id,
    )
