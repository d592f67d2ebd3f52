# SPDX-License-Identifier: Apache-2.0
"""Begin an import behind the answer to a request: what can be said at once is said at once.

Sources, repository and branch are looked at before the task begins, so that a mistake is an error
now and not a failed task later. All of it is looked at again when the import comes to it.
"""

from collections.abc import Sequence

from lochan.model.ids import BranchName
from lochan.model.records import Repository
from lochan.model.tasks import Task, TaskResult
from lochan.operations.allowed import Action, require_allowed
from lochan.operations.import_objects import ImportRequest
from lochan.operations.import_paths import ImportPath, import_paths, require_apart
from lochan.operations.import_sources import ImportSources
from lochan.operations.lake import Lake
from lochan.operations.task_rows import TaskKind
from lochan.operations.tasks import Report, Tasks


def start_import(
    lake: Lake,
    tasks: Tasks,
    sources: ImportSources,
    repository: Repository,
    branch: BranchName,
    paths: Sequence[ImportPath],
    request: ImportRequest,
) -> Task:
    """Begin to import what lies under some paths; the task's result names the commit.

    Raises: what `ImportSources.require` raises; NotFound for the branch; Refused; Throttled.
    """
    for path in paths:
        require_apart(repository, path)
    sources.require(lake, paths)
    began = lake.branches.fresh(repository, branch)
    require_allowed(began.repository, branch, Action.IMPORT, force=lake.force)

    def work(report: Report) -> TaskResult:
        made = import_paths(
            lake,
            repository,
            branch,
            paths,
            request,
            report.progress,
            committing=report.committing,
        )
        return TaskResult(commit_id=made.id)

    return tasks.begin(repository, TaskKind.IMPORT, work, branch)
