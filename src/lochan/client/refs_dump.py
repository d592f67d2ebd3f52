# SPDX-License-Identifier: Apache-2.0
"""All refs of a repository written to files of its store, and read back into a bare one.

The server works on it behind the answer; both functions ask until it is done.
"""

from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from lochan.client.transport import Transport
from lochan.errors import Conflict, Internal
from lochan.shapes.refs import RefsDump, RefsRestore
from lochan.shapes.tasks import (
    RepositoryDumpStatus,
    RepositoryRestoreStatus,
    TaskInfo,
    TaskQuery,
)

_WAIT_S: Final = 0.1


class Status(Protocol):
    """What is told of work behind an answer."""

    @property
    def done(self) -> bool:
        """Say whether it is over."""

    @property
    def error(self) -> str | None:
        """Say why it failed."""


Told = TypeVar("Told", bound=Status)


def dump_refs(transport: Transport, repository_id: str) -> RefsDump:
    """Write all refs to files, and give the files' ids."""
    path = ("repositories", repository_id, "dump")
    task = TaskQuery(task_id=transport.call("POST", path, TaskInfo).id)
    status = _wait(transport, lambda: transport.call("GET", path, RepositoryDumpStatus, query=task))
    if status.refs is None:
        raise Internal(f"the dump of {repository_id} ended without telling its files")
    return status.refs


def restore_refs(
    transport: Transport, repository_id: str, dump: RefsDump, *, force: bool = False
) -> None:
    """Read all refs from files into a repository that was made bare."""
    path = ("repositories", repository_id, "restore")
    body = RefsRestore(
        commits_meta_range_id=dump.commits_meta_range_id,
        tags_meta_range_id=dump.tags_meta_range_id,
        branches_meta_range_id=dump.branches_meta_range_id,
        force=force,
    )
    task = TaskQuery(task_id=transport.call("POST", path, TaskInfo, body=body).id)
    _wait(transport, lambda: transport.call("GET", path, RepositoryRestoreStatus, query=task))


def _wait(transport: Transport, ask: Callable[[], Told]) -> Told:
    while not (status := ask()).done:
        transport.environment.sleep(_WAIT_S)
    if status.error:
        raise Conflict(f"it failed: {status.error}", code="task-failed")
    return status
