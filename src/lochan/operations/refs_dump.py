# SPDX-License-Identifier: Apache-2.0
"""What a dump of refs is: three metaranges and the manifest that names them.

    metarange   key            identity    data
    commits     commit id      commit id   Commit
    tags        tag name       commit id   Tag
    branches    branch name    commit id   Branch, without its staging tokens

The messages are those of the KV store (docs/formats/refs-dump.md); where lakeFS has the same field,
so has the dump. The files lie where all metadata lies, named by their content: equal refs give
equal ids, and a dump made twice is one dump.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

import msgspec

from lochan.errors import Corruption
from lochan.kernel.records import Records
from lochan.model.ids import MetaRangeId
from lochan.objects.address import metadata_address

MANIFEST = metadata_address("refs_manifest.json")
_CHUNK_ROWS = 20_000

Row = tuple[bytes, bytes, bytes]


class RefsDump(msgspec.Struct, frozen=True, kw_only=True):
    """The manifest: which metaranges hold a repository's refs. The empty id is an empty one."""

    commits_meta_range_id: MetaRangeId
    tags_meta_range_id: MetaRangeId
    branches_meta_range_id: MetaRangeId


def encode_dump(dump: RefsDump) -> bytes:
    """Write the manifest as JSON, with lakeFS's names."""
    return msgspec.json.encode(dump)


def decode_dump(data: bytes, where: str = MANIFEST) -> RefsDump:
    """Read a manifest; fields that are not known are passed over. Raises Corruption."""
    try:
        return msgspec.json.decode(data, type=RefsDump)
    except msgspec.DecodeError as error:
        raise Corruption(f"not a manifest of refs: {error}", file=where) from error


def chunked(rows: Iterable[Row]) -> Iterator[Records]:
    """Turn rows in key order into the chunks that a metarange is written from."""
    source = iter(rows)
    while chunk := list(islice(source, _CHUNK_ROWS)):
        yield Records.of(chunk)
