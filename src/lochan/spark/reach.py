# SPDX-License-Identifier: Apache-2.0
"""How tasks get at files: by the storage itself, or through the lake's server.

Tasks never see the key-value store. The driver resolves refs, commits and files; a task is handed
what it reads: ids of ranges, addresses of objects.

    direct    storage namespace + the credentials of the machine     a lake in a folder, or `direct`
    server    the server's URL + the lake's credentials              a lake behind a server

A process opens each once and keeps it: workers are used again.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import IO, Any, Final, NamedTuple
from urllib.parse import quote

import pyarrow as pa

from lochan.client.lake import Lake
from lochan.client.repository import Repository
from lochan.committed import Files, Snapshots
from lochan.environment import RealEnvironment
from lochan.errors import Conflict, InvalidInput
from lochan.objects.foreign import FILES, is_full, split_foreign
from lochan.objects.namespace import Namespace
from lochan.objects.open import open_objects
from lochan.objects.store import ObjectStore, SupportsLocalPath
from lochan.spark.known_lake import KnownLake
from lochan.spark.stored_file import Segment, StoredFile
from lochan.spark.through_server import MetadataThroughServer

OPTION: Final = "reach"
_WAYS: Final = ("auto", "direct", "server")
_ENVIRONMENT: Final = RealEnvironment()


class PinnedFile(NamedTuple):
    """An object of one commit: its path, its size, and the places of its bytes in order.

    A place is an address, an offset and a number of bytes; an object as such has one.
    """

    path: str
    commit_id: str
    size: int
    places: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Reach:
    """How the files of one repository are reached; it may be pickled."""

    lake: KnownLake
    repository: str
    namespace: str
    is_direct: bool

    @property
    def snapshots(self) -> Snapshots:
        """Give the committed trees of the repository."""
        return _snapshots(self)

    def open(self, file: PinnedFile) -> Any:  # noqa: ANN401 - what pyarrow reads from
        """Open an object for pyarrow. Raises NotFound; Conflict if it was changed where it lies."""
        if not self.is_direct:
            return pa.PythonFile(self._served(file), mode="r")
        segments = [self._segment(*place) for place in file.places]
        if len(segments) == 1 and isinstance(segments[0].store, SupportsLocalPath):
            return _mapped(segments[0], file)
        if not segments:
            return pa.BufferReader(b"")
        return pa.PythonFile(StoredFile(file.path, segments), mode="r")

    def store(self) -> ObjectStore:
        """Give the repository's own objects."""
        return _store(self.namespace)

    def _served(self, file: PinnedFile) -> IO[bytes]:
        lake = _connected(self.lake)
        return lake.repository(self.repository).ref(file.commit_id).open(file.path)

    def _segment(self, address: str, offset: int, size: int) -> Segment:
        inside: str | None = address
        if is_full(address):
            inside = Namespace.parse(self.namespace).find_address(address)
        if inside is not None:
            return Segment(self.store(), inside, offset, size)
        namespace, name = split_foreign(address)
        store = _store(namespace)
        if store.head(name).size != size + offset:
            message = f"object {address!r} is not as large as it was; import it again"
            raise Conflict(message, code="object-changed")
        return Segment(store, name, offset, size)


def find_reach(known: KnownLake, repository: Repository, said: str = "") -> Reach:
    """Choose how tasks reach a repository; `said` is auto, direct or server."""
    way = said or "auto"
    if way not in _WAYS or (way == "server" and not known.is_served):
        message = f"{said!r} is no way to reach {known.name}; there are {', '.join(_WAYS)}"
        raise InvalidInput(message, code="invalid-reach")
    is_direct = way == "direct" or (way == "auto" and not known.is_served)
    return Reach(known, repository.id, repository.properties.storage_namespace, is_direct)


def _mapped(segment: Segment, file: PinnedFile) -> Any:  # noqa: ANN401 - what pyarrow reads from
    if not isinstance(segment.store, SupportsLocalPath) or segment.offset or not file.size:
        return pa.PythonFile(StoredFile(file.path, [segment]), mode="r")
    return pa.memory_map(str(segment.store.local_path(segment.address)))


@lru_cache(64)
def _store(namespace: str) -> ObjectStore:
    # Who runs the task can read the machine's files anyway.
    location = f"{FILES}?allow={quote('/')}" if namespace == FILES else namespace
    return open_objects(location, _ENVIRONMENT)


@lru_cache(16)
def _connected(known: KnownLake) -> Lake:
    return known.open()


@lru_cache(16)
def _snapshots(reach: Reach) -> Snapshots:
    store: ObjectStore
    if reach.is_direct:
        store = _store(reach.namespace)
    else:
        store = MetadataThroughServer(_connected(reach.lake).transport, reach.repository)
    return Snapshots(Files(store, _ENVIRONMENT, memory_bytes=64 << 20), _ENVIRONMENT)
