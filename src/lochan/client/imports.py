# SPDX-License-Identifier: Apache-2.0
"""Objects that lie elsewhere, brought to a branch without copying them.

    branch.import_data("load 2024").prefix("s3://raw/2024/", "raw/2024/").run(progress)

The server works on it behind the answer; `wait` asks until it is done.
"""

from collections.abc import Callable
from typing import Final, Self

from lochan.client.commit import Commit, known_commit
from lochan.client.transport import Transport
from lochan.errors import Conflict, InvalidInput
from lochan.shapes.commits import CommitCreation
from lochan.shapes.imports import (
    ImportCreation,
    ImportCreationResponse,
    ImportLocation,
    ImportQuery,
    ImportStatus,
)

_FIRST_WAIT_S: Final = 0.05
_LONGEST_WAIT_S: Final = 2.0

ImportProgress = Callable[[int], object]
"""Told how many objects were found so far."""


class Import:
    """An import that is described, begun and waited for."""

    def __init__(
        self,
        transport: Transport,
        repository_id: str,
        branch_id: str,
        message: str,
        metadata: dict[str, str] | None,
        *,
        force: bool = False,
    ) -> None:
        """Bring objects to a branch by one commit."""
        self._transport = transport
        self._path = ("repositories", repository_id, "branches", branch_id, "import")
        self._commit = CommitCreation(message=message or "import", metadata=metadata or {})
        self._force = force
        self._places: list[ImportLocation] = []
        self.id: str | None = None  # once it has begun

    def prefix(self, source: str, destination: str) -> Self:
        """Take all objects below an address, to below a prefix of the branch."""
        place = ImportLocation(type="common_prefix", path=source, destination=destination)
        self._places.append(place)
        return self

    def inventory(self, file: str, source: str, destination: str) -> Self:
        """Take what a Parquet or CSV file lists below an address; the store is not asked.

        The file is named by its address, too, and read by the lake's server.
        """
        place = ImportLocation(
            type="common_prefix", path=source, destination=destination, inventory=file
        )
        self._places.append(place)
        return self

    def object(self, source: str, destination: str) -> Self:
        """Take the object at an address, to a path of the branch."""
        self._places.append(ImportLocation(type="object", path=source, destination=destination))
        return self

    def start(self) -> str:
        """Begin, and give the import's id."""
        if self.id is not None:
            raise InvalidInput(f"this import has begun already, as {self.id}; make another")
        body = ImportCreation(paths=self._places, commit=self._commit, force=self._force)
        self.id = self._transport.call("POST", self._path, ImportCreationResponse, body=body).id
        return self.id

    def status(self) -> ImportStatus:
        """Ask how far it has come."""
        return self._transport.call("GET", self._path, ImportStatus, query=self._query())

    def wait(self, progress: ImportProgress | None = None) -> Commit:
        """Wait until it is done, and give its commit. Raises Conflict where it failed."""
        pause = _FIRST_WAIT_S
        while not (status := self.status()).completed and status.error is None:
            if progress is not None:
                progress(status.ingested_objects or 0)
            self._transport.environment.sleep(pause)
            pause = min(2 * pause, _LONGEST_WAIT_S)
        if status.error is not None:
            raise Conflict(f"the import failed: {status.error.message}", code="import-failed")
        if status.commit is None:
            raise Conflict("the import ended without a commit", code="import-failed")
        if progress is not None:
            progress(status.ingested_objects or 0)
        return known_commit(self._transport, self._path[1], status.commit)

    def run(self, progress: ImportProgress | None = None) -> Commit:
        """Begin and wait."""
        self.start()
        return self.wait(progress)

    def cancel(self) -> None:
        """Stop it; nothing comes to the branch."""
        self._transport.send("DELETE", self._path, query=self._query())

    def _query(self) -> ImportQuery:
        if self.id is None:
            raise InvalidInput("this import has not begun; call start() or run()")
        return ImportQuery(id=self.id)
