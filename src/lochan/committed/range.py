# SPDX-License-Identifier: Apache-2.0
"""A range as its metarange row names it: key = largest key, identity = hex id, data = the rest."""

import msgspec

from lochan.kernel.records import Record
from lochan.model.codec import decode_range_data, encode_range_data
from lochan.model.ids import RangeId


class Range(msgspec.Struct, frozen=True):
    """What is known of a range without opening it.

    `raw_size` is the length of keys, identities and values; it stands in the field that lakeFS
    calls estimated_size, and tells a size cut from a mere end.
    """

    id: RangeId
    min_key: bytes
    max_key: bytes
    raw_size: int
    count: int

    @classmethod
    def of_row(cls, row: Record) -> "Range":
        """Read a metarange row."""
        data = decode_range_data(row.value)
        return cls(
            RangeId(row.identity.decode()),
            data.min_key,
            data.max_key,
            data.estimated_size,
            data.count,
        )

    def row(self) -> Record:
        """Give the row that names this range."""
        data = encode_range_data(self.min_key, self.max_key, self.raw_size, self.count)
        return Record(self.max_key, self.id.encode(), data)
