# SPDX-License-Identifier: Apache-2.0
"""A range as its metarange row names it: key = largest key, identity = hex id, data = the rest."""

import msgspec

from lochan.errors import Corruption
from lochan.kernel.records import Record
from lochan.model.codec import decode_range_data, encode_range_data
from lochan.model.ids import RangeId, valid_range_id


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
    def of_row(cls, row: Record, file: str) -> "Range":
        """Read a row of the metarange `file`. Raises Corruption unless it describes a range."""
        data = decode_range_data(row.value, file)
        if data.max_key != row.key:
            raise Corruption(
                f"the row {row.key!r} says that it ends at {data.max_key!r}", file=file
            )
        return cls(
            named_range(row.identity, file),
            data.min_key,
            data.max_key,
            data.estimated_size,
            data.count,
        )

    def row(self) -> Record:
        """Give the row that names this range."""
        data = encode_range_data(self.min_key, self.max_key, self.raw_size, self.count)
        return Record(self.max_key, self.id.encode(), data)


def named_range(identity: bytes, file: str) -> RangeId:
    """Read which range a row names. An id becomes a path, so that nothing else may pass for one."""
    try:
        return valid_range_id(identity.decode())
    except ValueError as error:
        raise Corruption(f"a row names {identity!r}, which is no range", file=file) from error
