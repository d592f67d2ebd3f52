# SPDX-License-Identifier: Apache-2.0
"""The rows that tell how far tasks have come, by repository and kind.

    imports/<id>       an import
    tasks/DR<id>       a dump of refs
    tasks/RR<id>       a restore of refs
    tasks/GC<id>       a collection, its plan, or the undoing of one
    tasks/SR<id>       a storage report

The process that works on a task renews its row every BEAT_S seconds. A row that was not renewed for
DEAD_AFTER_S belongs to nobody: whoever reads it then writes down that the task failed. The clocks
of servers must agree to within half of that. Rows are forgotten KEPT_S after they were last
renewed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final

import msgspec

from lochan.environment import Environment
from lochan.errors import NotFound
from lochan.kv.read import scan_prefix
from lochan.kv.store import Store
from lochan.kv.table import Table
from lochan.model.instant import NANOSECONDS
from lochan.model.keys import IMPORTS, TASKS, partition_of
from lochan.model.records import Repository
from lochan.model.tasks import Task, decode_task, encode_task

BEAT_S: Final = 2.0
DEAD_AFTER_S: Final = 60.0
KEPT_S: Final = 24 * 3600.0

DIED: Final = "task-died"


class TaskKind(Enum):
    """What is worked on, and where its rows lie."""

    IMPORT = ("import", IMPORTS, "")
    DUMP = ("dump_refs", TASKS, "DR")
    RESTORE = ("restore_refs", TASKS, "RR")
    COLLECT = ("collection", TASKS, "GC")
    STORAGE_REPORT = ("storage_report", TASKS, "SR")

    def __init__(self, operation: str, prefix: bytes, mark: str) -> None:
        """Keep the name, the prefix of the keys, and how ids begin."""
        self.operation = operation
        self.prefix = prefix
        self.mark = mark


@dataclass(frozen=True, slots=True)
class TaskRows:
    """The rows of one repository's tasks of one kind."""

    store: Store
    environment: Environment
    repository: Repository
    kind: TaskKind

    @property
    def table(self) -> Table[Task]:
        """Give the records by id."""
        partition = partition_of(self.repository)
        return Table(self.store, partition, self.kind.prefix, encode_task, decode_task)

    def get(self, task_id: str) -> Task:
        """Tell how far a task has come. Raises NotFound for one never begun, or long over."""
        found = self.table.find(self._name(task_id))
        if found is None or self._is_forgotten(found.record):
            raise self.not_found(task_id)
        if not self._is_dead(found.record):
            return found.record
        now = self.change(task_id, _told_dead(found.record))
        if now is None:
            raise self.not_found(task_id)
        return now

    def change(self, task_id: str, change: Callable[[Task], Task]) -> Task | None:
        """Replace a row by what a pure function makes of it; None if there is none."""

        def changed(current: Task | None) -> Task | None:
            return None if current is None else change(current)

        return self.table.update(self._name(task_id), changed, self.environment)

    def forget_old(self) -> None:
        """Remove the rows of tasks that are over for long."""
        prefix = self.kind.prefix + self.kind.mark.encode()
        for key, value in scan_prefix(self.store, partition_of(self.repository), prefix):
            if self._is_forgotten(decode_task(value, where=key.decode(errors="replace"))):
                self.store.delete(partition_of(self.repository), key)

    def not_found(self, task_id: str) -> NotFound:
        """Make the error for an id that names nothing."""
        message = (
            f"no {self.kind.operation} {task_id!r} is known; it was never begun, or is long over"
        )
        return NotFound(message, code="task-not-found", task=task_id)

    def _name(self, task_id: str) -> bytes:
        # Other rows lie beside ours in tasks/, and only ids have this form.
        digits = task_id.removeprefix(self.kind.mark)
        if not task_id.startswith(self.kind.mark) or not digits.isascii() or not digits.isalnum():
            raise self.not_found(task_id)
        return task_id.encode()

    def _age_s(self, task: Task) -> float:
        return self.environment.now() - task.updated_at / NANOSECONDS

    def _is_forgotten(self, task: Task) -> bool:
        return self._age_s(task) > KEPT_S

    def _is_dead(self, task: Task) -> bool:
        return not task.done and self._age_s(task) > DEAD_AFTER_S


def _told_dead(seen: Task) -> Callable[[Task], Task]:
    error = "the process that worked on it is gone; begin again"
    if seen.committing:
        error = "the process that worked on it is gone, while it committed; look at the log"

    def told(current: Task) -> Task:
        if current != seen:
            return current  # it was only slow
        return msgspec.structs.replace(current, done=True, error=error, error_code=DIED)

    return told
