# SPDX-License-Identifier: Apache-2.0
"""Work that goes on behind the answer to a request, in threads of the process that was asked.

What a task has come to is a row in its repository's partition, so that any process tells it
(`task_rows`). While a process lives it renews its rows, also those of tasks that wait for a thread.

Every change of a row is a swap, and a task asks its row before it commits (`Report.committing`):
one that was cancelled, or taken for dead, finds out there, and nothing of it shows. From then on it
is not cancelled any more. One that dies after that may have committed or not, and its row says so.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

import msgspec

from lochan.environment import Environment
from lochan.errors import Conflict, LochanError, Throttled, Unavailable
from lochan.kv.store import Store
from lochan.model.ids import BranchName
from lochan.model.instant import from_seconds
from lochan.model.records import Repository
from lochan.model.tasks import Task, TaskResult
from lochan.operations.task_rows import BEAT_S, DEAD_AFTER_S, DIED, TaskKind, TaskRows

AT_ONCE: Final = 2
WAITING: Final = 64

CANCELLED: Final = "cancelled"


class Report:
    """What running work is given: whom to tell how far it is, and whether it is still wanted."""

    def __init__(self, tasks: "Tasks", repository: Repository, kind: TaskKind, task: Task) -> None:
        """Report about one task."""
        self._tasks = tasks
        self.repository = repository
        self.kind = kind
        self.task = task
        self.count = 0
        self.unwanted: Conflict | None = None

    def progress(self, count: int) -> None:
        """Say how far the work is. Raises Conflict when nobody wants it any more."""
        self.count = count
        if self.unwanted is not None:
            raise self.unwanted

    def committing(self) -> None:
        """Ask, surely, whether the work may be shown; from now on nobody can cancel it.

        Raises: Conflict, code cancelled or task-died.
        """
        self.progress(self.count)
        self._tasks.renew(self, committing=True)
        self.progress(self.count)


Work = Callable[[Report], TaskResult | str]
"""What is worked on; a text is JSON that the row keeps as its report."""


class Tasks:
    """The tasks of one process. Any thread may ask."""

    def __init__(
        self,
        store: Store,
        environment: Environment,
        unexpected: Callable[[Exception], None],
        *,
        at_once: int = AT_ONCE,
    ) -> None:
        """Work on so many tasks at once; `unexpected` is told of errors that nobody foresaw."""
        self._store = store
        self._environment = environment
        self._unexpected = unexpected
        self._at_once = at_once
        self._owner = environment.new_id()
        self._executor = environment.executor(at_once, background=True)
        self._lock = environment.lock()
        self._running: dict[str, Report] = {}
        self._beating = False
        self._closed = False

    def rows(self, repository: Repository, kind: TaskKind) -> TaskRows:
        """Give the rows of a repository's tasks."""
        return TaskRows(self._store, self._environment, repository, kind)

    def begin(
        self, repository: Repository, kind: TaskKind, work: Work, branch: BranchName | None = None
    ) -> Task:
        """Begin a task, and give its row.

        Raises: Throttled when too many wait; Unavailable, also when the process is about to end.
        """
        task = Task(
            id=kind.mark + self._environment.new_id(),
            operation=kind.operation,
            updated_at=from_seconds(self._environment.now()),
            owner=self._owner,
            branch=branch or BranchName(""),
        )
        rows = self.rows(repository, kind)
        rows.forget_old()
        report = Report(self, repository, kind, task)
        self._admit(report)
        try:
            rows.table.set(task.id.encode(), task)
            self._executor.submit(self._run, report, work)
        except BaseException:
            self._leave(report)
            raise
        return task

    def cancel(self, repository: Repository, kind: TaskKind, task_id: str) -> None:
        """Give a task up; once this returns nothing of it will show.

        Raises: NotFound; Conflict, code task-done or task-committing, when it is too late.
        """
        rows = self.rows(repository, kind)
        rows.get(task_id)
        now = rows.change(task_id, _cancelled)
        if now is None:
            raise rows.not_found(task_id)
        report = self._running.get(task_id)
        if report is not None:
            report.unwanted = _unwanted(now)

    def renew(self, report: Report, *, committing: bool = False) -> None:
        """Write down how far a task is, and learn whether others have ended it."""
        moment = from_seconds(self._environment.now())

        def renewed(current: Task) -> Task:
            if current.done:
                return current
            return msgspec.structs.replace(
                current,
                updated_at=moment,
                progress=report.count,
                committing=current.committing or committing,
            )

        now = self.rows(report.repository, report.kind).change(report.task.id, renewed)
        if now is None:
            report.unwanted = Conflict("the repository is gone", code=DIED)
        elif now.done:
            report.unwanted = _unwanted(now)

    def close(self) -> None:
        """Take no more tasks, ask those under way to stop, and wait until they have."""
        with self._lock:
            self._closed = True
            waiting = list(self._running.values())
        for report in waiting:
            message = "the server that worked on it was stopped; begin again"
            report.unwanted = report.unwanted or Conflict(message, code="server-stopped")
        self._executor.shutdown(wait=True)

    def _admit(self, report: Report) -> None:
        with self._lock:
            if self._closed:
                raise Unavailable("the server is about to stop; ask another one, or again")
            if len(self._running) >= self._at_once + WAITING:
                message = f"{len(self._running)} tasks wait already; come back later"
                raise Throttled(message, code="too-many-tasks", retry_after=BEAT_S)
            self._running[report.task.id] = report
            begins, self._beating = not self._beating, True
        if begins:
            self._environment.spawn(self._beat, name="lochan-tasks")

    def _leave(self, report: Report) -> None:
        with self._lock:
            self._running.pop(report.task.id, None)

    def _run(self, report: Report, work: Work) -> None:
        try:
            report.progress(0)
            result = work(report)
        except LochanError as error:
            self._finish(report, error=error.message, error_code=error.code)
        except Exception as error:  # noqa: BLE001 - nobody above would tell anybody
            self._unexpected(error)
            message = "something broke inside the server; its log has the details"
            self._finish(report, error=message, error_code="internal")
        else:
            told = result if isinstance(result, str) else ""
            found = TaskResult() if isinstance(result, str) else result
            self._finish(report, result=found, told=told)

    def _finish(
        self,
        report: Report,
        *,
        result: TaskResult | None = None,
        told: str = "",
        error: str = "",
        error_code: str = "",
    ) -> None:
        moment = from_seconds(self._environment.now())

        def finished(current: Task) -> Task:
            if current.done and result is None:
                return current  # others ended it, and their reason is the first one
            return msgspec.structs.replace(
                current,
                updated_at=moment,
                done=True,
                progress=report.count,
                error=error,
                error_code=error_code,
                result=result or TaskResult(),
                report=told,
            )

        rows = self.rows(report.repository, report.kind)
        try:
            self._repeat(lambda: rows.change(report.task.id, finished))
        except LochanError as lost:
            self._unexpected(lost)  # the row will be taken for that of a process that died
        finally:
            self._leave(report)

    def _repeat(self, write: Callable[[], object]) -> None:
        """Repeat an idempotent write for half the time after which the row would count as dead."""
        pauses = int(DEAD_AFTER_S / 2 / BEAT_S)
        for _ in range(pauses):
            try:
                write()
            except Unavailable:
                self._environment.sleep(BEAT_S)
            else:
                return
        write()

    def _beat(self) -> None:
        while True:
            self._environment.sleep(BEAT_S)
            with self._lock:
                running = list(self._running.values())
                if not running:
                    self._beating = False
                    return
            for report in running:
                # A store that does not answer now is asked again soon; rows stand it for a while.
                with suppress(LochanError):
                    self.renew(report)


def _cancelled(current: Task) -> Task:
    if current.done and current.error_code == CANCELLED:
        return current
    if current.done:
        message = f"the {current.operation} {current.id} is over; there is nothing to cancel"
        raise Conflict(message, code="task-done", task=current.id)
    if current.committing:
        message = f"the {current.operation} {current.id} is being committed; revert it afterwards"
        raise Conflict(message, code="task-committing", task=current.id)
    return msgspec.structs.replace(current, done=True, error="cancelled", error_code=CANCELLED)


def _unwanted(ended: Task) -> Conflict:
    return Conflict(ended.error or "others ended it", code=ended.error_code or DIED)
