# SPDX-License-Identifier: Apache-2.0
"""The metadata files of a repository, read through the lake's server.

For those who cannot reach the storage. It is an object store of which only `get` is answered.
"""

from collections.abc import Iterator
from typing import NoReturn

from lochan.client.transport import Transport
from lochan.errors import Refused
from lochan.objects.store import (
    ALWAYS,
    PAGE,
    WHOLE,
    Body,
    Extent,
    ObjectInfo,
    Page,
    Precondition,
    Reading,
)


class MetadataThroughServer:
    """The ranges and metaranges of one repository."""

    def __init__(self, transport: Transport, repository_id: str) -> None:
        """Ask through a transport."""
        self._transport = transport
        self._repository_id = repository_id

    def get(self, address: str, extent: Extent = WHOLE) -> Reading:
        """Read a file whole; it is named by the last part of its address."""
        if extent != WHOLE:
            _refuse(address, extent)
        name = address.rpartition("/")[2]
        path = ("repositories", self._repository_id, "metadata", "object", "range", name)
        data = self._transport.send("GET", path).content
        return Reading(ObjectInfo(len(data), name, 0.0), (0, len(data)), _once(data), _nothing)

    def put(
        self, address: str, body: Body, *, size: int | None = None, when: Precondition = ALWAYS
    ) -> ObjectInfo:
        """Refuse."""
        _refuse(address, body, size, when)

    def head(self, address: str) -> ObjectInfo:
        """Refuse."""
        _refuse(address)

    def list(
        self, prefix: str = "", *, delimiter: str = "", start_after: str = "", limit: int = PAGE
    ) -> Page:
        """Refuse."""
        _refuse(prefix, delimiter, start_after, limit)

    def delete(self, *addresses: str) -> None:
        """Refuse."""
        _refuse(*addresses)

    def copy(self, source: str, destination: str) -> ObjectInfo:
        """Refuse."""
        _refuse(source, destination)

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()


def _once(data: bytes) -> Iterator[bytes]:
    yield data


def _nothing() -> None:
    return


def _refuse(*_: object) -> NoReturn:
    raise Refused("metadata files are only read through a server", code="read-only")
