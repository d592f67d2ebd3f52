# SPDX-License-Identifier: Apache-2.0
"""Collection and storage reports of a repository, done by the lake's server.

    Upkeep(lake.transport, "shop").collect(CollectionCreation(plan=True))

The server works on it behind the answer; each verb asks until it is done, and tells how far it is.
"""

from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from lochan.client.transport import Transport
from lochan.errors import Conflict, Internal
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

_FIRST_WAIT_S: Final = 0.05
_LONGEST_WAIT_S: Final = 2.0

UpkeepProgress = Callable[[int], object]
"""Told how much was looked at so far."""


class Status(Protocol):
    """What is told of work behind an answer."""

    @property
    def done(self) -> bool:
        """Say whether it is over."""

    @property
    def progress(self) -> int:
        """Say how far it is."""

    @property
    def error(self) -> Error | None:
        """Say why it failed."""


Told = TypeVar("Told", bound=Status)


def ignore(count: int) -> None:
    """Tell nobody."""


class Upkeep:
    """What keeps a repository's storage in order."""

    def __init__(
        self, transport: Transport, repository_id: str, progress: UpkeepProgress = ignore
    ) -> None:
        """Work on a repository."""
        self._transport = transport
        self._path = ("repositories", repository_id)
        self._progress = progress

    def collect(self, how: CollectionCreation) -> CollectionReport:
        """Collect garbage, or plan it. Raises Conflict, with the server's code, where it failed."""
        found = self._collection(("gc", "runs"), how).report
        if found is None:
            raise Internal("the collection ended without a report")
        return found

    def undo(self, run: str = "") -> CollectionUndone:
        """Bring back what a run moved to the trash; the latest, if none is named."""
        found = self._collection(("gc", "undo"), CollectionUndo(run=run)).undone
        if found is None:
            raise Internal("the undoing ended without telling what came back")
        return found

    def report(self, *refs: str) -> StorageReport:
        """Add up what refs hold; all branches and tags, if none is named."""
        path = (*self._path, "storage_report")
        body = StorageReportCreation(refs=list(refs))
        task = self._begun(path, body)
        found = self._waited(
            lambda: self._transport.call("GET", path, StorageReportStatus, query=task)
        )
        if found.report is None:
            raise Internal("the storage report ended without figures")
        return found.report

    def _collection(
        self, verb: tuple[str, ...], body: CollectionCreation | CollectionUndo
    ) -> CollectionStatus:
        task, path = self._begun((*self._path, *verb), body), (*self._path, "gc", "runs")
        return self._waited(lambda: self._transport.call("GET", path, CollectionStatus, query=task))

    def _begun(
        self,
        path: tuple[str, ...],
        body: CollectionCreation | CollectionUndo | StorageReportCreation,
    ) -> TaskQuery:
        return TaskQuery(task_id=self._transport.call("POST", path, TaskInfo, body=body).id)

    def _waited(self, ask: Callable[[], Told]) -> Told:
        pause = _FIRST_WAIT_S
        while not (status := ask()).done:
            self._progress(status.progress)
            self._transport.environment.sleep(pause)
            pause = min(2 * pause, _LONGEST_WAIT_S)
        if status.error is not None:
            raise Conflict(status.error.message, code=status.error.code or "task-failed")
        self._progress(status.progress)
        return status
