# SPDX-License-Identifier: Apache-2.0
"""Objects that are uploaded in parts, each to a signed URL of its own.

An upload belongs to one path of one branch of one repository (S9): its address carries the
signature for these (`address_signature`), every call must show it, and the store keeps which upload
is for which address. Nothing shows under the path before the upload is completed.

S3 signs the URLs of parts by itself, and names parts and whole by hashes of its own. With all other
stores the parts come through `presigned`, and a part's tag is

    <MD5 of its bytes>.<the store's own tag>

of which the second half is checked when the upload is completed; the first makes the checksum of
the whole as S3 has it: MD5 of the parts' MD5s, a hyphen, their number.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from lochan.access.actions import READ_OBJECT, WRITE_OBJECT
from lochan.access.arn import object_arn
from lochan.access.needed import Permission
from lochan.errors import InvalidInput
from lochan.model.entry import DEFAULT_CONTENT_TYPE
from lochan.model.ids import valid_object_key
from lochan.objects.body import Measured
from lochan.objects.store import (
    IF_ABSENT,
    WHOLE,
    Extent,
    From,
    Last,
    ObjectStore,
    Part,
    Span,
    SupportsMultipart,
    SupportsPresignedParts,
    Uploads,
)
from lochan.operations.link_object import Uploaded
from lochan.operations.read_object import get_object
from lochan.operations.stage import seen_writable
from lochan.shapes.objects import ObjectQuery, ObjectStats
from lochan.shapes.staging import (
    MAX_PARTS,
    AbortPresignMultipartUpload,
    CompletePresignMultipartUpload,
    CreatePresignMultipartUploadQuery,
    PresignMultipartUpload,
    UploadPart,
    UploadPartCopyFrom,
    UploadPartFrom,
    UploadTo,
)
from lochan.web.address_signature import given_address, in_full, new_signed_address
from lochan.web.api.staging import link
from lochan.web.call import Call
from lochan.web.needs import Need, each
from lochan.web.object_reply import quoted
from lochan.web.presign import lifetime, part_urls
from lochan.web.reply import Reply
from lochan.web.route import NOTHING, Routes

ROUTES = Routes("experimental")

_PATH = "/repositories/{repository}/branches/{branch}/staging/pmpu"
_WRITE = Need("fs:WriteObject", "arn:lakefs:fs:::repository/{repository}/object/{path}")
_READ = Need(
    "fs:ReadObject",
    "arn:lakefs:fs:::repository/{body.copy_source.repository}/object/{body.copy_source.path}",
)
_MD5: Final = re.compile(r"[0-9a-f]{32}", re.ASCII)
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,4}", re.ASCII)


class _Whole(NamedTuple):
    """What became of the parts."""

    size: int
    e_tag: str


@ROUTES.post(
    _PATH,
    needs=_WRITE,
    query=CreatePresignMultipartUploadQuery,
    answers={201: PresignMultipartUpload},
)
def create_presign_multipart_upload(call: Call) -> PresignMultipartUpload:
    """Begin an upload in parts, with URLs for as many as are asked for."""
    asked = call.asked(CreatePresignMultipartUploadQuery)
    uploads = _uploads(call)
    address = new_signed_address(call, asked.path)
    upload = uploads.create(address)
    url_of = _part_urls(call, uploads, address, upload)
    return PresignMultipartUpload(
        upload_id=upload,
        physical_address=in_full(call.repository, address),
        presigned_urls=[url_of(number) for number in range(1, asked.parts + 1)],
    )


@ROUTES.put(
    _PATH + "/{uploadId}",
    needs=_WRITE,
    query=ObjectQuery,
    body=CompletePresignMultipartUpload,
    answers={200: ObjectStats},
)
def complete_presign_multipart_upload(call: Call) -> ObjectStats:
    """Join the parts and make an object of them."""
    path, told = call.asked(ObjectQuery).path, call.told(CompletePresignMultipartUpload)
    address = given_address(call, told.physical_address, path)
    seen_writable(call.lake, call.repository, call.branch)  # before the parts are gone
    whole = _joined(_uploads(call), address, call.path["uploadId"], told.parts)
    uploaded = Uploaded(
        address=told.physical_address,
        size=whole.size,
        e_tag=whole.e_tag,
        content_type=told.content_type or DEFAULT_CONTENT_TYPE,
        metadata=told.user_metadata,
    )
    return link(call, path, uploaded)


@ROUTES.delete(
    _PATH + "/{uploadId}",
    needs=_WRITE,
    query=ObjectQuery,
    body=AbortPresignMultipartUpload,
    answers={204: NOTHING},
)
def abort_presign_multipart_upload(call: Call) -> None:
    """Give an upload up, with its parts."""
    told = call.told(AbortPresignMultipartUpload)
    address = given_address(call, told.physical_address, call.asked(ObjectQuery).path)
    uploads, upload = _uploads(call), call.path["uploadId"]
    uploads.parts(address, upload)  # an upload for another address is none of the caller's
    uploads.abort(address, upload)


@ROUTES.put(
    _PATH + "/{uploadId}/parts/{partNumber}",
    needs=_WRITE,
    query=ObjectQuery,
    body=UploadPartFrom,
    answers={200: UploadTo},
)
def upload_part(call: Call) -> UploadTo:
    """Give the URL of a further part."""
    told = call.told(UploadPartFrom)
    address = given_address(call, told.physical_address, call.asked(ObjectQuery).path)
    url_of = _part_urls(call, _uploads(call), address, call.path["uploadId"])
    return UploadTo(presigned_url=url_of(_part_number(call)))


@ROUTES.put(
    _PATH + "/{uploadId}/parts/{partNumber}/copy",
    needs=each(_WRITE, _READ),
    query=ObjectQuery,
    body=UploadPartCopyFrom,
    answers={204: NOTHING},
)
def upload_part_copy(call: Call) -> Reply:
    """Make a part of an object, or of some bytes of it, of any repository."""
    path, told = call.asked(ObjectQuery).path, call.told(UploadPartCopyFrom)
    source = told.copy_source
    call.require(Permission(WRITE_OBJECT, object_arn(call.path["repository"], path)))
    call.require(Permission(READ_OBJECT, object_arn(source.repository, source.path)))
    address = given_address(call, told.physical_address, path)
    uploads, number = _uploads(call), _part_number(call)
    _, reading = get_object(
        call.lake,
        call.services.repositories.seen(source.repository),
        source.ref,
        valid_object_key(source.path),
        _extent(source.range),
    )
    with reading:
        measured = Measured(reading)
        size = reading.stop - reading.start
        stored = uploads.put_part(address, call.path["uploadId"], number, measured, size=size)
    return Reply(None, 204, {"etag": quoted(part_tag(uploads, measured.md5, stored))})


def uploads_of(store: ObjectStore) -> Uploads:
    """Give a store's uploads. Raises InvalidInput, code not-implemented, where it has none."""
    if not isinstance(store, SupportsMultipart):
        message = "the repository's object store takes no uploads in parts; upload in one piece"
        raise InvalidInput(message, code="not-implemented")
    return store.uploads


def part_tag(uploads: Uploads, md5: str, stored: Part) -> str:
    """Name a part that came through us, for the client to show when the upload is completed."""
    return stored.etag if isinstance(uploads, SupportsPresignedParts) else f"{md5}.{stored.etag}"


def _uploads(call: Call) -> Uploads:
    return uploads_of(call.lake.storage(call.repository.storage_namespace).objects)


def _part_urls(call: Call, uploads: Uploads, address: str, upload: str) -> Callable[[int], str]:
    if not isinstance(uploads, SupportsPresignedParts):
        return part_urls(call, address, upload)
    return partial(uploads.presign_part, address, upload, expires_s=lifetime(call.services))


def _part_number(call: Call) -> int:
    text = call.path["partNumber"]
    if not _NUMBER.fullmatch(text) or int(text) > MAX_PARTS:
        raise InvalidInput(f"parts are numbered from 1 to {MAX_PARTS}, not {text[:20]!r}")
    return int(text)


def _joined(uploads: Uploads, address: str, upload: str, told: Sequence[UploadPart]) -> _Whole:
    """Complete an upload with the parts that the client names."""
    stored = {part.number: part for part in uploads.parts(address, upload)}
    digests = hashlib.md5(usedforsecurity=False)
    parts: list[Part] = []
    for part in told:
        tag = part.etag.strip('"')
        if not isinstance(uploads, SupportsPresignedParts):
            md5, _, tag = tag.partition(".")
            digests.update(bytes.fromhex(md5) if _MD5.fullmatch(md5) else b"")
        if part.part_number not in stored or stored[part.part_number].etag != tag:
            message = f"part {part.part_number} with etag {part.etag!r} is not stored; put it again"
            raise InvalidInput(message, code="invalid-parts")
        parts.append(stored[part.part_number])
    info = uploads.complete(address, upload, parts, when=IF_ABSENT)
    if isinstance(uploads, SupportsPresignedParts):
        return _Whole(info.size, info.etag)
    return _Whole(info.size, f"{digests.hexdigest()}-{len(parts)}")


def _extent(text: str | None) -> Extent:
    first, _, last = (text or "").removeprefix("bytes=").partition("-")
    if not first and not last:
        return WHOLE
    if not first:
        return Last(int(last))
    return Span(int(first), int(last) + 1) if last else From(int(first))
