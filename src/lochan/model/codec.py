# SPDX-License-Identifier: Apache-2.0
"""The one place where records become bytes and back.

The bytes are protobuf messages (records.proto, docs/formats/records.md). Encoding is canonical:
fields in number order, maps sorted by key, defaults left out, so equal records give equal bytes and
stores may compare values as bytes. What somebody else wrote in another order decodes to the same
record.
"""

import msgspec
from google.protobuf.message import DecodeError

from lochan.errors import Corruption
from lochan.model import records_pb2 as wire


class RangeData(msgspec.Struct, frozen=True):
    """What a metarange says about one range beside its id: bounds, size and number of rows."""

    min_key: bytes
    max_key: bytes
    estimated_size: int
    count: int


def encode_range_data(min_key: bytes, max_key: bytes, estimated_size: int, count: int) -> bytes:
    """Encode the data of one metarange row."""
    return wire.RangeData(
        min_key=min_key, max_key=max_key, estimated_size=estimated_size, count=count
    ).SerializeToString()


def decode_range_data(data: bytes, where: str = "a metarange row") -> RangeData:
    """Decode the data of one metarange row; `where` names it in the error. Raises Corruption."""
    try:
        found = wire.RangeData.FromString(data)
    except DecodeError as error:
        raise Corruption(f"not a RangeData message ({error})", file=where) from error
    return RangeData(found.min_key, found.max_key, found.estimated_size, found.count)
