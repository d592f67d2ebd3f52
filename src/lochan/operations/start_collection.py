# SPDX-License-Identifier: Apache-2.0
"""Begin a collection, its plan, its undoing or a storage report behind the answer to a request.

A server has writers, so it collects with the whole grace at least; a shorter one is for who works
on the stores of a lake that nobody writes to. What is refused at first sight is refused at once.
"""

from collections.abc import Callable, Sequence

import msgspec

from lochan.errors import InvalidInput
from lochan.model.records import Repository
from lochan.model.tasks import Task
from lochan.operations.allowed import require_writable
from lochan.operations.gc.abandoned import IDLE_S
from lochan.operations.gc.collect import GRACE_S, Collection, collect, plan
from lochan.operations.gc.undo import undo
from lochan.operations.lake import Lake
from lochan.operations.reference import committed
from lochan.operations.storage_report import storage_report
from lochan.operations.task_rows import TaskKind
from lochan.operations.tasks import Report, Tasks

Work = Callable[[], object]


def _nothing() -> None:
    """Clear nothing away."""


def start_collection(
    lake: Lake,
    tasks: Tasks,
    repository: Repository,
    how: Collection,
    *,
    is_plan: bool,
    first: Work = _nothing,
    last: Work = _nothing,
) -> Task:
    """Begin to collect, or to plan it; the task's report is that of the run.

    What others have to clear away is cleared by `first` before a run, and by `last` behind it.
    Raises: InvalidInput, code gc-grace or gc-idle, for bounds that are too short beside writers;
    Refused, Throttled.
    """
    if how.grace_s < GRACE_S:
        message = f"a server collects after {GRACE_S / 3600:.0f} hours or more, beside its writers"
        raise InvalidInput(f"{message}; stop them and work on the stores", code="gc-grace")
    if how.idle_s < IDLE_S:
        message = f"a server deletes private branches after {IDLE_S / 86400:.0f} days or more"
        raise InvalidInput(message, code="gc-idle")
    if not is_plan:
        require_writable(lake.branches.fresh_repository(repository), force=lake.force)
    run = plan if is_plan else collect

    def work(report: Report) -> str:
        if not is_plan:
            first()
        found = run(lake, repository, how, lambda _, count: report.progress(count))
        if not is_plan:
            last()
        return msgspec.json.encode(found).decode()

    return tasks.begin(repository, TaskKind.COLLECT, work)


def start_undo(lake: Lake, tasks: Tasks, repository: Repository, run: str) -> Task:
    """Begin to bring back what a run moved to the trash. Raises Refused, Throttled."""
    require_writable(lake.branches.fresh_repository(repository), force=lake.force)

    def work(report: Report) -> str:
        row, count = undo(lake, repository, run, lambda _, count: report.progress(count))
        return msgspec.json.encode({"run": row.run, "count": count}).decode()

    return tasks.begin(repository, TaskKind.COLLECT, work)


def start_report(lake: Lake, tasks: Tasks, repository: Repository, refs: Sequence[str]) -> Task:
    """Begin to add up what refs hold. Raises NotFound for a ref; Throttled."""
    for ref in refs:
        committed(lake, repository, ref)

    def work(report: Report) -> str:
        found = storage_report(lake, repository, refs, lambda _, count: report.progress(count))
        return msgspec.json.encode(found).decode()

    return tasks.begin(repository, TaskKind.STORAGE_REPORT, work)
