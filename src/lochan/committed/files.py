# SPDX-License-Identifier: Apache-2.0
"""Range and metarange files by id, through the tiers: memory, disk, object store.

The object store is the truth. Where its objects are plain files of this machine they are mapped in
place and no copies are made; otherwise the disk tier holds copies, each checked from end to end
when it arrives, and again when a process first meets it: a power loss may have damaged it since.
The memory tier keeps files open, with their index decoded.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from lochan.committed.disk import CacheUnavailable, DiskTier
from lochan.committed.memory import MemoryTier
from lochan.committed.metarange import NOTHING, MetaRange
from lochan.environment import Environment
from lochan.errors import Corruption, NotFound, Unavailable
from lochan.kernel.chosen import kernel
from lochan.kernel.interface import Breathe
from lochan.kernel.records import Records
from lochan.model.ids import MetaRangeId, RangeId
from lochan.objects.address import METADATA, metadata_address
from lochan.objects.store import ObjectStore, SupportsLocalPath
from lochan.sstable import StoredTable, TableFile, read_table

_METARANGES_SHARE = 8  # one part in so many of the memory is for decoded metaranges
# A process may map some ten thousand files, a lake may have more small ones: these are read.
_MAPPED_FROM = 1 << 20
_PIECE = 1 << 20
_CHECKED = 100_000  # names of copies that need no other check; more are not remembered


class Files:
    """The metadata files of one storage namespace."""

    def __init__(
        self,
        objects: ObjectStore,
        environment: Environment,
        *,
        disk: DiskTier | None = None,
        memory_bytes: int = 1 << 30,
        prefix: str = METADATA,
    ) -> None:
        """Read and write files under `prefix`; mapped files count towards memory_bytes."""
        self._objects = objects
        self._environment = environment
        # Asked once: to see whether an object has a Protocol's methods takes 10 microseconds.
        self._local = objects if isinstance(objects, SupportsLocalPath) else None
        self._disk = disk if self._local is None else None
        self._checked: set[str] = set()  # copies in the disk tier that this process has checked
        self._prefix = prefix
        share = memory_bytes // _METARANGES_SHARE
        self._tables = MemoryTier[StoredTable](memory_bytes - share, _mapped_size, environment)
        self._metaranges = MemoryTier[MetaRange](share, _metarange_size, environment)
        self.opened = 0  # files read from below the memory tier, for tests and measurements

    def unkept(self) -> "Files":
        """Give the same files as the object store has them, past all copies: for checking them."""
        return Files(self._objects, self._environment, memory_bytes=0, prefix=self._prefix)

    def put(self, file: TableFile, breathe: Breathe = None) -> None:
        """Store a finished file durably, and keep a copy near where the store is far.

        Idempotent: a file of this name holds these records. It is put again even where it exists,
        since a collector may be about to remove the older one.
        """
        self._objects.put(self._address(file.id), _body(file, breathe), size=file.size_bytes)
        if self._disk is not None:
            with suppress(
                CacheUnavailable
            ):  # a full cache is no reason to fail: the store has the file
                self._disk.put(file.id, _body(file, breathe))

    def range(self, id: RangeId) -> StoredTable:  # noqa: A002 - the seeds' word
        """Open a range for look-ups and keep it open."""
        return self._tables.get(id, self._open)

    def range_once(self, id: RangeId) -> StoredTable:  # noqa: A002
        """Open a range for one pass over it, leaving the memory tier to what is looked up."""
        return self._tables.find(id) or self._open(id)

    def range_rows(self, id: RangeId, breathe: Breathe) -> Iterator[Records]:  # noqa: A002
        """Give the rows of a range for one pass over them.

        All at once, or by stretches of blocks where others are to have their turn in between.
        """
        table = self.range_once(id)
        if breathe is None:
            yield table.records()
            return
        for number, rows in enumerate(table.stretches()):
            if number:
                breathe()
            yield rows

    def metarange(self, id: MetaRangeId) -> MetaRange:  # noqa: A002
        """Read a metarange whole; the empty id is the empty one."""
        return self._metaranges.get(id, self._read_metarange) if id else NOTHING

    def recall_range(self, id: RangeId) -> StoredTable | None:  # noqa: A002
        """Give a range that is open already."""
        return self._tables.find(id)

    def recall_metarange(self, id: MetaRangeId) -> MetaRange | None:  # noqa: A002
        """Give a metarange that was read already."""
        return self._metaranges.find(id)

    def _read_metarange(self, name: str) -> MetaRange:
        return MetaRange(MetaRangeId(name), self._open(name).records())

    def _open(self, name: str) -> StoredTable:
        self.opened += 1
        if self._local is not None:
            return _map(self._local.local_path(self._address(name)), name)
        if self._disk is None:
            return self._read(name)
        kept = self._disk.find(name)
        if kept is not None:
            try:
                return self._check(kept, name)
            except Corruption:  # the copy, not the truth: fetch it again
                self._disk.drop(name)
            except NotFound:  # evicted by somebody else since it was found
                pass
        return self._fetch(name, self._disk)

    def _read(self, name: str) -> StoredTable:
        with self._objects.get(self._address(name)) as reading:
            return read_table(reading.read(), name)

    def _fetch(self, name: str, disk: DiskTier) -> StoredTable:
        self._checked.discard(name)
        try:
            with self._objects.get(self._address(name)) as reading:
                path = disk.put(name, reading)
        except CacheUnavailable:  # full or gone: do without a copy
            return self._read(name)
        try:
            return self._check(path, name)
        except Corruption:
            disk.drop(name)
            raise
        except NotFound:  # evicted by somebody else since it was put
            return self._read(name)

    def _check(self, path: Path, name: str) -> StoredTable:
        """Open a copy, and read it from end to end where this process has not done so before."""
        table = _map(path, name)
        if name not in self._checked:
            table.table.verify()
            self._remember(name)
        return table

    def _remember(self, name: str) -> None:
        if len(self._checked) < _CHECKED:
            self._checked.add(name)

    def _address(self, name: str) -> str:
        return metadata_address(name, self._prefix)


def _body(file: TableFile, breathe: Breathe) -> Iterable[bytes | memoryview]:
    """Give a file as it is, or in pieces between which others have their turn.

    A system call that takes in tens of megabytes keeps a processor from everybody else.
    """
    return file.parts if breathe is None else _pieces(file, breathe)


def _pieces(file: TableFile, breathe: Callable[[], None]) -> Iterator[memoryview]:
    for part in file.parts:
        for start in range(0, len(part), _PIECE):
            if start:
                breathe()
            yield memoryview(part)[start : start + _PIECE]


def _map(path: Path, name: str) -> StoredTable:
    try:
        small = path.stat().st_size < _MAPPED_FROM
        file = path.read_bytes() if small else kernel.map_file(path)
    except FileNotFoundError as error:
        raise NotFound(f"metadata file {name} does not exist", file=name) from error
    except OSError as error:
        raise Unavailable(f"metadata file {name} cannot be opened: {error.strerror}") from error
    return read_table(file, name)


def _mapped_size(table: StoredTable) -> int:
    return table.size_bytes


def _metarange_size(found: MetaRange) -> int:
    return found.size_bytes
