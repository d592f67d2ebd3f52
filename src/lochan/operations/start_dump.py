# SPDX-License-Identifier: Apache-2.0
"""Begin a dump or a restore of refs behind the answer to a request.

A restore that is refused at first sight is refused at once. One that died is begun again with the
same dump, and goes on where it stopped (`restore_refs`).
"""

from lochan.model.records import Repository
from lochan.model.tasks import Task, TaskResult
from lochan.operations.allowed import require_writable
from lochan.operations.dump_refs import dump_refs
from lochan.operations.lake import Lake
from lochan.operations.refs_dump import RefsDump
from lochan.operations.restore_refs import restore_refs
from lochan.operations.task_rows import TaskKind
from lochan.operations.tasks import Report, Tasks


def start_dump(lake: Lake, tasks: Tasks, repository: Repository) -> Task:
    """Begin to dump a repository's refs; the result names the metaranges. Raises Throttled."""

    def work(report: Report) -> TaskResult:
        made = dump_refs(lake, repository)
        report.progress(1)
        return TaskResult(
            commits_meta_range_id=made.commits_meta_range_id,
            tags_meta_range_id=made.tags_meta_range_id,
            branches_meta_range_id=made.branches_meta_range_id,
        )

    return tasks.begin(repository, TaskKind.DUMP, work)


def start_restore(lake: Lake, tasks: Tasks, repository: Repository, dump: RefsDump) -> Task:
    """Begin to restore a dump into a bare repository. Raises Refused, Throttled."""
    require_writable(lake.branches.fresh_repository(repository), force=lake.force)

    def work(report: Report) -> TaskResult:
        restored = restore_refs(lake, repository, dump)
        report.progress(restored.commits)
        return TaskResult()

    return tasks.begin(repository, TaskKind.RESTORE, work)
