# SPDX-License-Identifier: Apache-2.0
"""Read a whole snapshot and hold every file against what is said about it.

A file is checked against itself first: checksums, order, properties and name. Then each row of the
metarange is checked against the range that it names, since look-ups, cuts and counts believe the
row. Files of ours also say how they end, and only the last range may end without a cut. Rows of
files from elsewhere hold an estimate where ours hold the raw size, and their cuts are not judged.
"""

from lochan.committed.cuts import END, Cuts
from lochan.committed.files import Files
from lochan.committed.metarange import MetaRange
from lochan.committed.range import Range
from lochan.errors import Corruption
from lochan.kernel.records import Records
from lochan.model.ids import RangeId
from lochan.sstable import StoredTable
from lochan.sstable.properties import CUT


def verify(files: Files, cuts: Cuts, metarange: MetaRange) -> int:
    """Count the records of a snapshot. Raises Corruption for the first promise that is broken."""
    if metarange.id:
        files.range_once(RangeId(metarange.id)).verify()
    numbers = range(len(metarange))
    return sum(len(verify_range(files, cuts, metarange, number)) for number in numbers)


def verify_range(files: Files, cuts: Cuts, metarange: MetaRange, number: int) -> Records:
    """Check one range of a snapshot, and give its records. Raises Corruption."""
    found = metarange[number]
    table = files.range_once(found.id)
    records = _verify_range(table, found, metarange)
    if CUT in table.properties:
        _verify_cut(table, found, cuts, is_last=number == len(metarange) - 1)
    return records


def _verify_cut(table: StoredTable, found: Range, cuts: Cuts, *, is_last: bool) -> None:
    kind = cuts.kind(found.max_key, found.raw_size)
    if table.properties[CUT] != kind or (kind == END and not is_last):
        raise Corruption(
            f"the range says that it ends by {table.properties[CUT]!r}; by the lake's rule it ends"
            f" by {kind!r}{'' if is_last else ', and others follow'}",
            file=found.id,
        )


def _verify_range(table: StoredTable, said: Range, metarange: MetaRange) -> Records:
    count = table.verify()
    records = table.records()
    size = records.raw_size if CUT in table.properties else said.raw_size
    bounds = (records.keys[0], records.keys[-1]) if count else (b"", b"")
    if (said.min_key, said.max_key, said.raw_size, said.count) != (*bounds, size, count):
        raise Corruption(
            f"range {said.id} holds {count} records, {size} bytes, from {bounds[0]!r} to"
            f" {bounds[1]!r}; its row says {said.count}, {said.raw_size}, {said.min_key!r},"
            f" {said.max_key!r}",
            file=metarange.id,
        )
    return records
