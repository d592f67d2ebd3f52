# SPDX-License-Identifier: Apache-2.0
"""What a snapshot of a KV store is made of: parts with rows, and a manifest with their hashes.

    <snapshot id>/part-00000      rows: zlib over MessagePack, [[partition, key, value], ...]
    <snapshot id>/part-00001      ...
    <snapshot id>/manifest.json   written last: without it there is no snapshot

The manifest names every part with its size, hash and number of rows, and holds its own hash; so a
byte that changed anywhere is noticed, and so is a part that is missing or of another snapshot. The
order of rows is that in which they are written on restoring (docs/formats/kv-snapshot.md).
"""

import zlib
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Final

import msgspec

from lochan.errors import Corruption, NotFound
from lochan.objects.store import ObjectStore

FORMAT: Final = 1
PART_BYTES: Final = 8 << 20  # of keys and values, before compression
MANIFEST: Final = "manifest.json"

Row = tuple[bytes, bytes, bytes]  # partition, key, value


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One file with rows."""

    name: str
    size_bytes: int
    sha256: str
    rows: int


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """What a manifest says."""

    format: int
    id: str
    created: int  # nanoseconds since the epoch
    rows: int
    size_bytes: int  # of keys and values
    parts: tuple[Part, ...]


class _Manifest(msgspec.Struct, frozen=True, kw_only=True):
    sha256: str  # of the bytes of `snapshot`, as they stand in the file
    snapshot: msgspec.Raw


def encode_rows(rows: list[Row]) -> bytes:
    """Give the bytes of a part."""
    return zlib.compress(msgspec.msgpack.encode(rows))


def decode_rows(data: bytes, where: str) -> list[Row]:
    """Read a part. Raises Corruption."""
    try:
        return msgspec.msgpack.decode(zlib.decompress(data), type=list[Row])
    except (zlib.error, msgspec.DecodeError) as error:
        raise Corruption(f"this is no part of a snapshot: {error}", file=where) from error


def chunked(rows: Iterable[Row], most: int = PART_BYTES) -> Iterator[list[Row]]:
    """Give rows in lists, each as large as a part may be."""
    chunk: list[Row] = []
    size = 0
    for row in rows:
        chunk.append(row)
        size += row_bytes(row)
        if size >= most:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def row_bytes(row: Row) -> int:
    """Count the bytes of a row's key and value."""
    return len(row[1]) + len(row[2])


def put_part(objects: ObjectStore, snapshot_id: str, number: int, rows: list[Row]) -> Part:
    """Store one part."""
    data = encode_rows(rows)
    name = f"part-{number:05}"
    objects.put(f"{snapshot_id}/{name}", data, size=len(data))
    return Part(name=name, size_bytes=len(data), sha256=sha256(data).hexdigest(), rows=len(rows))


def get_part(objects: ObjectStore, snapshot_id: str, part: Part) -> list[Row]:
    """Read a part that is as its manifest says. Raises: Corruption, Unavailable."""
    where = f"{snapshot_id}/{part.name}"
    try:
        with objects.get(where) as reading:
            data = reading.read()
    except NotFound as error:
        raise Corruption("the part is missing", file=where) from error
    if len(data) != part.size_bytes or sha256(data).hexdigest() != part.sha256:
        raise Corruption("its bytes are not those that the manifest hashed", file=where)
    rows = decode_rows(data, where)
    if len(rows) != part.rows:
        raise Corruption(f"it has {len(rows)} rows, not {part.rows}", file=where)
    return rows


def put_manifest(objects: ObjectStore, snapshot: Snapshot) -> None:
    """Make a snapshot exist."""
    said = msgspec.json.encode(snapshot)
    manifest = _Manifest(sha256=sha256(said).hexdigest(), snapshot=msgspec.Raw(said))
    data = msgspec.json.encode(manifest)
    objects.put(f"{snapshot.id}/{MANIFEST}", data, size=len(data))


def get_manifest(objects: ObjectStore, snapshot_id: str) -> Snapshot:
    """Read what a snapshot holds. Raises: NotFound, Corruption, Unavailable."""
    where = f"{snapshot_id}/{MANIFEST}"
    try:
        with objects.get(where) as reading:
            data = reading.read()
    except NotFound as error:
        message = f"there is no snapshot {snapshot_id!r} here; `lochan kv snapshots` lists them"
        raise NotFound(message, snapshot=snapshot_id) from error
    try:
        manifest = msgspec.json.decode(data, type=_Manifest)
        if sha256(manifest.snapshot).hexdigest() != manifest.sha256:
            raise Corruption("the manifest does not have its own hash", file=where)
        snapshot = msgspec.json.decode(manifest.snapshot, type=Snapshot)
    except msgspec.DecodeError as error:
        raise Corruption(f"this is no manifest: {error}", file=where) from error
    if snapshot.format != FORMAT or snapshot.id != snapshot_id:
        reason = f"it is of snapshot {snapshot.id!r}, format {snapshot.format}"
        raise Corruption(f"{reason}; format {FORMAT} can be read", file=where)
    return snapshot


def list_snapshots(objects: ObjectStore) -> Iterator[Snapshot]:
    """Give the snapshots of a place, oldest first. Raises: Corruption, Unavailable."""
    after = ""
    while True:
        page = objects.list("", delimiter="/", start_after=after)
        for prefix in page.prefixes:
            snapshot_id = prefix.removesuffix("/")
            try:
                yield get_manifest(objects, snapshot_id)
            except NotFound:
                continue  # it is being made, or whoever made it died
        after = page.next_after
        if not after:
            return
