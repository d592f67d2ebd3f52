# SPDX-License-Identifier: Apache-2.0
"""Uploads in parts that S3 joins by itself, through boto3; obstore keeps them to itself.

An upload's end is sent once: were it repeated after a lost answer, S3 would say that there is no
such upload, or that the precondition fails, both because of the first sending.
"""

import re
import tempfile
from collections.abc import Callable, Sequence
from typing import IO

from lochan.errors import NotFound
from lochan.objects.body import chunks
from lochan.objects.drivers.cloud.clients import Clients
from lochan.objects.drivers.cloud.failures import Attempt, told
from lochan.objects.drivers.cloud.paths import check_path
from lochan.objects.joined import check_part_number, check_parts
from lochan.objects.namespace import Namespace
from lochan.objects.store import (
    ALWAYS,
    Always,
    Body,
    IfAbsent,
    IfMatch,
    ObjectInfo,
    Part,
    Precondition,
)

_UPLOAD = re.compile(r"[A-Za-z0-9._~+=-]+\Z")
_IN_MEMORY = 8 << 20  # a part larger than this waits on disk, since its request may be repeated


class S3Uploads:
    """`Uploads` by S3's own verbs."""

    def __init__(
        self, clients: Clients, namespace: Namespace, head: Callable[[str], ObjectInfo]
    ) -> None:
        """Upload below the namespace's prefix; `head` describes what came of it."""
        self._clients = clients
        self._namespace = namespace
        self._head = head

    def create(self, address: str) -> str:
        """Begin an upload and name it."""
        with told(Attempt(address, is_write=True, is_repeated=True)):
            answer = self._clients.boto_steady.create_multipart_upload(**self._at(address))
        return str(answer["UploadId"])

    def put_part(
        self, address: str, upload: str, number: int, body: Body, *, size: int | None = None
    ) -> Part:
        """Store one part; S3 sees nothing of a body that does not arrive whole."""
        check_part_number(number)
        if isinstance(body, bytes):
            whole = b"".join(chunks(body, size, address))
            return self._send(address, upload, number, whole, len(whole))
        with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as spool:
            for chunk in chunks(body, size, address):
                spool.write(chunk)
            length = spool.tell()
            spool.seek(0)
            return self._send(address, upload, number, spool, length)

    def parts(self, address: str, upload: str) -> tuple[Part, ...]:
        """Name the stored parts by number."""
        found: list[Part] = []
        marker = 0
        while True:
            with told(Attempt(address)):
                answer = self._clients.boto_steady.list_parts(
                    **self._at(address, upload), PartNumberMarker=marker
                )
            found += [
                Part(part["PartNumber"], _plain(part["ETag"]), part["Size"])
                for part in answer.get("Parts", [])
            ]
            if not answer["IsTruncated"]:
                return tuple(found)
            marker = answer["NextPartNumberMarker"]

    def complete(
        self, address: str, upload: str, parts: Sequence[Part], *, when: Precondition = ALWAYS
    ) -> ObjectInfo:
        """Let S3 join the parts."""
        at = self._at(address, upload)
        check_parts(parts)
        listed = [{"PartNumber": part.number, "ETag": f'"{part.etag}"'} for part in parts]
        with told(Attempt(address, is_write=True)):
            self._clients.boto_once.complete_multipart_upload(
                **at, MultipartUpload={"Parts": listed}, **_conditions(when)
            )
        return self._head(address)

    def abort(self, address: str, upload: str) -> None:
        """Let S3 forget the parts."""
        try:
            with told(Attempt(address, is_write=True, is_repeated=True)):
                self._clients.boto_steady.abort_multipart_upload(**self._at(address, upload))
        except NotFound:
            return

    def presign_part(self, address: str, upload: str, number: int, *, expires_s: int) -> str:
        """Sign a URL that puts one part."""
        check_part_number(number)
        with told(Attempt(address)):
            url = self._clients.boto_steady.generate_presigned_url(
                "upload_part",
                Params=self._at(address, upload) | {"PartNumber": number},
                ExpiresIn=expires_s,
            )
        return str(url)

    def _send(
        self, address: str, upload: str, number: int, body: bytes | IO[bytes], size: int
    ) -> Part:
        with told(Attempt(address, is_write=True, is_repeated=True)):
            answer = self._clients.boto_steady.upload_part(
                **self._at(address, upload), PartNumber=number, Body=body, ContentLength=size
            )
        return Part(number, _plain(answer["ETag"]), size)

    def _at(self, address: str, upload: str | None = None) -> dict[str, str]:
        check_path(address, self._namespace)
        path = self._namespace.path
        place = {
            "Bucket": self._namespace.authority,
            "Key": f"{path}/{address}" if path else address,
        }
        if upload is None:
            return place
        if not _UPLOAD.match(upload):
            raise NotFound(f"there is no upload {upload[:40]!r}", code="upload-not-found")
        return place | {"UploadId": upload}


def _conditions(when: Precondition) -> dict[str, str]:
    match when:
        case Always():
            return {}
        case IfAbsent():
            return {"IfNoneMatch": "*"}
        case IfMatch(etag):
            return {"IfMatch": f'"{etag}"'}


def _plain(etag: str) -> str:
    return etag.strip('"')
