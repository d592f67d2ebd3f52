# SPDX-License-Identifier: Apache-2.0
"""Files written by hand: metaranges of metaranges, and ones that lie under right checksums."""

from collections.abc import Iterable

from lochan.committed import Files
from lochan.committed.range import Range
from lochan.kernel.records import Record, Records
from lochan.model.ids import MetaRangeId, RangeId
from lochan.sstable import write_table


def put_rows(files: Files, rows: Iterable[Record], kind: str = "metaranges") -> MetaRangeId:
    """Store rows as a file of its own, whatever they say."""
    file = write_table(Records.of(rows), kind, {})
    files.put(file)
    return MetaRangeId(file.id)


def put_metarange(files: Files, ranges: Iterable[Range]) -> MetaRangeId:
    """Store a metarange over these ranges."""
    return put_rows(files, [found.row() for found in ranges])


def as_range(files: Files, metarange: MetaRangeId) -> Range:
    """Describe a metarange like a range, so that a row of another metarange can name it."""
    ranges = list(files.metarange(metarange))
    return Range(
        RangeId(metarange),
        ranges[0].min_key,
        ranges[-1].max_key,
        sum(found.raw_size for found in ranges),
        sum(found.count for found in ranges),
    )
