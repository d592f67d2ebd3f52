# SPDX-License-Identifier: Apache-2.0
"""Bytes to an object: through the server, or past it to a signed URL that is linked afterwards.

Through the server, metadata travels in headers, whose names have no capitals and whose values are
ASCII. Metadata that would not arrive as it is follows in a second request, in JSON.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from lochan.client.content import Content, Progress
from lochan.client.transport import Transport, decoded, require_text
from lochan.errors import PermissionDenied, Unavailable
from lochan.shapes.objects import (
    ObjectQuery,
    ObjectStats,
    UpdateObjectUserMetadata,
    UploadObjectQuery,
)
from lochan.shapes.staging import GetPhysicalAddressQuery, StagingLocation, StagingMetadata

_META: Final = "x-lakefs-meta-"
_SERVERS_OWN: Final = frozenset({"local", "mem"})
_WORTH_BYTES: Final = 1 << 20  # below, three requests cost more than the way through the server
_LARGEST_PUT_BYTES: Final = 5 << 30  # of one request, in S3 and its like
_NAME: Final = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]+")
_VALUE: Final = re.compile(r"(?:[!-~](?:[ -~]*[!-~])?)?")


@dataclass(frozen=True, slots=True)
class Target:
    """Where an object goes, and what is said of it."""

    repository_id: str
    branch_id: str
    path: str
    content_type: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    conditions: Mapping[str, str] = field(default_factory=dict)
    force: bool = False

    def at(self, *rest: str) -> tuple[str, ...]:
        """Give the route of something of the branch."""
        return ("repositories", self.repository_id, "branches", self.branch_id, *rest)


def upload_object(
    transport: Transport,
    target: Target,
    content: Content,
    progress: Progress | None,
    *,
    presign: bool | None,
) -> ObjectStats:
    """Send bytes the way that is asked for, or else the way that the server's store suggests."""
    require_text((*target.metadata, *target.metadata.values(), target.content_type))
    if presign is None:
        presign = _goes_past_server(transport, content)
    send = upload_presigned if presign else upload_through_server
    return send(transport, target, content, progress)


def upload_through_server(
    transport: Transport, target: Target, content: Content, progress: Progress | None
) -> ObjectStats:
    """Send the bytes to the server."""
    in_headers = _fits_headers(target.metadata)
    headers = {
        "content-type": target.content_type or "application/octet-stream",
        **target.conditions,
    }
    if in_headers:
        headers |= {_META + name: value for name, value in target.metadata.items()}
    query = UploadObjectQuery(path=target.path, force=target.force)
    response = transport.upload(
        "POST", target.at("objects"), content, query=query, headers=headers, progress=progress
    )
    stats = decoded(response, ObjectStats)
    return stats if in_headers else _described(transport, target, stats)


def upload_presigned(
    transport: Transport, target: Target, content: Content, progress: Progress | None
) -> ObjectStats:
    """Send the bytes to the store itself, then link them to their path."""
    place = transport.call(
        "GET",
        target.at("staging", "backing"),
        StagingLocation,
        query=GetPhysicalAddressQuery(path=target.path, presign=True),
    )
    if not place.presigned_url:
        raise Unavailable("the server signs no URLs; upload with presign=False", code="no-presign")
    headers = {"x-ms-blob-type": "BlockBlob"} if ".blob.core." in place.presigned_url else {}
    sent = _Counted(content, progress)
    response = transport.put_signed(
        place.presigned_url, content, headers=headers, progress=sent.told
    )
    told = StagingMetadata(
        staging=place,
        checksum=response.headers.get("etag", "").strip('"'),
        size_bytes=sent.size,
        content_type=target.content_type,
        user_metadata=dict(target.metadata),
        force=target.force,
    )
    return transport.call(
        "PUT",
        target.at("staging", "backing"),
        ObjectStats,
        query=ObjectQuery(path=target.path),
        body=told,
        headers=target.conditions,
    )


def _goes_past_server(transport: Transport, content: Content) -> bool:
    """Say whether the store takes these bytes by itself: it is another machine's, and can."""
    if content.size is None or not _WORTH_BYTES <= content.size <= _LARGEST_PUT_BYTES:
        return False
    try:
        store = transport.storage_config
    except PermissionDenied:  # who may write need not see the configuration
        return False
    return store.pre_sign_support and store.blockstore_type not in _SERVERS_OWN


class _Counted:
    """Counts what is sent, since a link tells the size."""

    def __init__(self, content: Content, progress: Progress | None) -> None:
        self.size = content.size or 0
        self._progress = progress

    def told(self, done: int, total: int | None) -> None:
        self.size = done
        if self._progress is not None:
            self._progress(done, total)


def _fits_headers(metadata: Mapping[str, str]) -> bool:
    return all(
        _NAME.fullmatch(name) and _VALUE.fullmatch(value) for name, value in metadata.items()
    )


def _described(transport: Transport, target: Target, stats: ObjectStats) -> ObjectStats:
    transport.send(
        "PUT",
        target.at("objects", "stat", "user_metadata"),
        query=ObjectQuery(path=target.path),
        body=UpdateObjectUserMetadata(set=dict(target.metadata)),
    )
    return ObjectStats(
        path=stats.path,
        path_type=stats.path_type,
        physical_address=stats.physical_address,
        checksum=stats.checksum,
        size_bytes=stats.size_bytes,
        mtime=stats.mtime,
        metadata=dict(target.metadata),
        content_type=stats.content_type,
    )
