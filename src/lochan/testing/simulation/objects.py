# SPDX-License-Identifier: Apache-2.0
"""An object store whose every call is a switch point.

A get takes its whole extent in one step, since a read sees one version from its first byte to its
last (promise 4 of the seam); a put sees its whole body before it takes its step. Objects of a
simulation are small. Multipart goes through the plain verbs, a step a part.
"""

from collections.abc import Callable
from typing import TypeVar

from lochan.objects.body import chunks
from lochan.objects.joined import JoinedUploads
from lochan.objects.store import (
    ALWAYS,
    PAGE,
    WHOLE,
    Body,
    Extent,
    ObjectInfo,
    ObjectStore,
    Page,
    Precondition,
    Reading,
)
from lochan.testing.simulation.access import Mode
from lochan.testing.simulation.calls import Calls
from lochan.testing.simulation.environment import SimulatedEnvironment

R = TypeVar("R")


class SimulatedObjects:
    """An `ObjectStore` on its way to another, a step a call."""

    def __init__(self, store: ObjectStore, calls: Calls, environment: SimulatedEnvironment) -> None:
        """Stand between processes and `store`."""
        self._store = store
        self._calls = calls
        self._thing = calls.turns.thing("objects")
        self.uploads = JoinedUploads(self, environment)

    def put(
        self, address: str, body: Body, *, size: int | None = None, when: Precondition = ALWAYS
    ) -> ObjectInfo:
        """Store a body in one step."""
        whole = b"".join(bytes(piece) for piece in chunks(body, size, address))
        return self._write(
            "put", (address,), lambda: self._store.put(address, whole, size=size, when=when)
        )

    def get(self, address: str, extent: Extent = WHOLE) -> Reading:
        """Read an object or a part of it in one step."""

        def work() -> Reading:
            self._touch(address, Mode.READ)
            with self._store.get(address, extent) as inner:
                data = inner.read()
                return Reading(inner.info, (inner.start, inner.stop), iter([data]), lambda: None)

        return self._calls.read("get", "objects", address, work)

    def head(self, address: str) -> ObjectInfo:
        """Describe an object in one step."""

        def work() -> ObjectInfo:
            self._touch(address, Mode.READ)
            return self._store.head(address)

        return self._calls.read("head", "objects", address, work)

    def list(
        self, prefix: str = "", *, delimiter: str = "", start_after: str = "", limit: int = PAGE
    ) -> Page:
        """Give one page in one step."""

        def work() -> Page:
            self._touch(None, Mode.READ)
            return self._store.list(
                prefix, delimiter=delimiter, start_after=start_after, limit=limit
            )

        return self._calls.read("list", "objects", prefix, work)

    def delete(self, *addresses: str) -> None:
        """Remove objects in one step."""
        self._write("delete", addresses, lambda: self._store.delete(*addresses))

    def copy(self, source: str, destination: str) -> ObjectInfo:
        """Copy an object in one step."""

        def work() -> ObjectInfo:
            self._touch(source, Mode.READ)
            return self._store.copy(source, destination)

        return self._write("copy", (destination,), work)

    def close(self) -> None:
        """Close the inner store."""
        self._store.close()

    def _write(self, operation: str, addresses: tuple[str, ...], apply: Callable[[], R]) -> R:
        def work() -> R:
            for address in addresses:
                self._touch(address, Mode.WRITE)
            return apply()

        return self._calls.write(operation, "objects", " ".join(addresses), work)

    def _touch(self, address: str | None, mode: Mode) -> None:
        self._calls.turns.touch(self._thing, address, mode)
