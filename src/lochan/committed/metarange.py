# SPDX-License-Identifier: Apache-2.0
"""A metarange: the ordered ranges of one snapshot, found by key."""

from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property

from lochan.committed.range import Range, named_range
from lochan.errors import Corruption
from lochan.kernel.records import EMPTY, Records
from lochan.model.ids import MetaRangeId, RangeId


class MetaRange:
    """The rows of a metarange file. Rows become ranges when asked for: most never are."""

    def __init__(self, id: MetaRangeId, records: Records) -> None:  # noqa: A002 - the seeds' word
        """Take the rows of the file called `id`; the empty id goes with no rows."""
        self.id = id
        self.records = records

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, index: int) -> Range:
        found = Range.of_row(self.records[index], self.id)
        before = self.max_keys[index - 1] if index else None
        if found.min_key > found.max_key or (before is not None and found.min_key <= before):
            raise Corruption(f"range {found.id} overlaps the one before it", file=self.id)
        return found

    def __iter__(self) -> Iterator[Range]:
        return self.between(0, len(self))

    def between(self, start: int, stop: int) -> Iterator[Range]:
        """Give the ranges start to stop - 1."""
        return (self[index] for index in range(start, stop))

    @cached_property
    def max_keys(self) -> list[bytes]:
        """The largest key of each range."""
        return list(self.records.keys)

    @cached_property
    def range_ids(self) -> list[RangeId]:
        """The id of each range; the rest of its row is not read."""
        return [named_range(identity, self.id) for identity in self.records.identities]

    def find(self, key: bytes) -> int:
        """Number the only range that may hold `key`, or the first behind it; len(self) if none."""
        return bisect_left(self.max_keys, key)

    @property
    def size_bytes(self) -> int:
        """About how much memory the rows take."""
        return 2 * self.records.raw_size + 200 * len(self)


NOTHING = MetaRange(MetaRangeId(""), EMPTY)
