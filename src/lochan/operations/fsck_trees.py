# SPDX-License-Identifier: Apache-2.0
"""Check trees: every metarange, every range, and every object that an entry names.

Files are read from the object store itself, past all caches. A range that many snapshots share is
read once for each different thing that metaranges say of it, and so are its objects.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from lochan.committed.files import Files
from lochan.committed.metarange import MetaRange
from lochan.committed.range import Range
from lochan.committed.verify import verify_range
from lochan.errors import Corruption, InvalidInput, NotFound
from lochan.kernel.records import Record
from lochan.model.codec import decode_entry
from lochan.model.entry import Entry, identity
from lochan.model.ids import MetaRangeId, RangeId
from lochan.model.records import Repository
from lochan.operations.findings import Finding, Kind
from lochan.operations.lake import Lake
from lochan.operations.read_entry import locate


@dataclass(slots=True)
class Trees:
    """The trees of one repository that were checked so far."""

    lake: Lake
    repository: Repository
    files: Files
    objects: bool
    seen: set[MetaRangeId] = field(default_factory=set)
    ranges: set[tuple[Range, bool]] = field(default_factory=set)
    records: int = 0

    @classmethod
    def of(cls, lake: Lake, repository: Repository, *, objects: bool) -> "Trees":
        """Check trees of a repository, with their objects or without."""
        snapshots = lake.storage(repository.storage_namespace).snapshots
        return cls(lake, repository, snapshots.files.unkept(), objects)

    def check(self, tree: MetaRangeId, named_by: str) -> Iterator[Finding]:
        """Check a tree that somebody names, unless it was checked before."""
        if not tree or tree in self.seen:
            return
        self.seen.add(tree)
        where = f"metarange {tree}, of {named_by}"
        try:
            self.files.range_once(RangeId(tree)).verify()
            metarange = self.files.metarange(tree)
            rows = list(metarange)
        except NotFound:
            yield Finding(Kind.MISSING_METARANGE, where, "there is no such file")
            return
        except Corruption as error:
            yield Finding(Kind.DAMAGED_METARANGE, where, f"{error.reason} (at {error.offset})")
            return
        for number, row in enumerate(rows):
            known = (row, number == len(rows) - 1)
            if known not in self.ranges:
                self.ranges.add(known)
                yield from self._check_range(metarange, number, f"range {row.id}, of {where}")

    def check_entry(self, record: Record, where: str) -> Iterator[Finding]:
        """Check what a key stands for: entry, identity, and the objects behind it."""
        where = f"object {record.key.decode(errors='replace')!r}, of {where}"
        try:
            entry = decode_entry(record.value)
        except Corruption as error:
            yield Finding(Kind.UNREADABLE_ENTRY, where, error.reason)
            return
        if identity(entry) != record.identity:
            what = f"its content has identity {identity(entry).hex()}, not {record.identity.hex()}"
            yield Finding(Kind.WRONG_IDENTITY, where, what)
        if self.objects:
            yield from self._check_objects(entry, where)

    def _check_range(self, metarange: MetaRange, number: int, where: str) -> Iterator[Finding]:
        cuts = self.lake.storage(self.repository.storage_namespace).snapshots.cuts
        try:
            records = verify_range(self.files, cuts, metarange, number)
        except NotFound:
            yield Finding(Kind.MISSING_RANGE, where, "there is no such file")
            return
        except Corruption as error:
            yield Finding(Kind.DAMAGED_RANGE, where, f"{error.reason} (at {error.offset})")
            return
        self.records += len(records)
        for record in records:
            yield from self.check_entry(record, where)

    def _check_objects(self, entry: Entry, where: str) -> Iterator[Finding]:
        if entry.blocks:
            for block in entry.blocks:
                yield from self._check_object(block.address, block.offset + block.size, where)
        elif entry.address:
            yield from self._check_object(entry.address, entry.size, where, exactly=True)

    def _check_object(
        self, address: str, size: int, where: str, *, exactly: bool = False
    ) -> Iterator[Finding]:
        try:
            store, name = locate(self.lake, self.repository, address)
            found = store.head(name).size
        except NotFound:
            yield Finding(Kind.MISSING_OBJECT, where, f"there is no {address}")
        except InvalidInput as error:
            yield Finding(Kind.MISSING_OBJECT, where, error.message)
        else:
            if found < size or (exactly and found != size):
                what = f"{address} has {found} bytes, and should have {size}"
                yield Finding(Kind.CHANGED_OBJECT, where, what)
