# SPDX-License-Identifier: Apache-2.0
"""Staging: bytes go to the store without us, and are linked to a path when they are there.

Of one piece: ask for a `StagingLocation`, write there, link with `StagingMetadata`. Many: ask for
the location of a path that ends in a slash, write below it, link with `ObjectLinks`. In parts:
begin with `PresignMultipartUpload`, write each part to its URL, finish with the parts' etags. A
link that comes too late is refused.
"""

from typing import Annotated, Final

from msgspec import Meta, Struct

from lochan.shapes.fields import (
    ByteCount,
    Checksum,
    ContentType,
    Force,
    Metadata,
    ObjectPath,
    PhysicalAddress,
    Presign,
    RefExpression,
    RepositoryName,
    UnixSeconds,
)

MAX_PARTS: Final = 10_000
MAX_LINKED: Final = 1000

SignedUrl = Annotated[str, Meta(description="Where to send the bytes, without credentials.")]
PartNumber = Annotated[int, Meta(ge=1, le=MAX_PARTS, description="Place of the part, from 1.")]


class GetPhysicalAddressQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """For which object an address is wanted."""

    path: ObjectPath
    presign: Presign = False


class StagingLocation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where the bytes of an object are to be written, or have been."""

    physical_address: Annotated[
        str, Meta(description="The address in the object store, with our signature in it.")
    ] = ""
    presigned_url: SignedUrl | None = None
    presigned_url_expiry: (
        Annotated[int, Meta(description="When the URL stops working, in seconds since 1970.")]
        | None
    ) = None


class StagingMetadata(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was written to a location, and is to be linked to a path."""

    staging: StagingLocation
    checksum: Checksum
    size_bytes: ByteCount
    user_metadata: Metadata = {}
    content_type: ContentType = ""
    mtime: UnixSeconds | None = None
    force: Force = False


class WrittenObject(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An object that was written below a folder's address."""

    path: ObjectPath
    physical_address: PhysicalAddress
    checksum: Checksum
    size_bytes: ByteCount
    mtime: UnixSeconds | None = None
    user_metadata: Metadata = {}
    content_type: ContentType = ""


class ObjectLinks(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Objects that were written below one folder's address, and are to be linked to paths."""

    folder: Annotated[
        str, Meta(description="The path, with a slash at its end, that the address was given for.")
    ]
    objects: Annotated[
        list[WrittenObject], Meta(max_length=MAX_LINKED, description="What was written.")
    ]
    force: Force = False


class ObjectsLinked(Struct, frozen=True, kw_only=True):
    """How many objects were linked."""

    linked: Annotated[int, Meta(ge=0, description="Number of objects.")]


class CreatePresignMultipartUploadQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """For which object an upload in parts begins."""

    path: ObjectPath
    parts: Annotated[
        int, Meta(ge=0, le=MAX_PARTS, description="For how many parts URLs are wanted at once.")
    ] = 0


class PresignMultipartUpload(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An upload in parts that has begun."""

    upload_id: Annotated[str, Meta(description="Names the upload in what follows.")]
    physical_address: PhysicalAddress
    presigned_urls: Annotated[
        list[str], Meta(description="A URL for each part that was asked for.")
    ] = []


class UploadPartFrom(Struct, frozen=True, kw_only=True):
    """The upload for which the URL of a further part is wanted."""

    physical_address: PhysicalAddress


class UploadTo(Struct, frozen=True, kw_only=True):
    """Where a further part goes."""

    presigned_url: SignedUrl


class CopyPartSource(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An object, or some bytes of it, that become a part."""

    repository: RepositoryName
    ref: RefExpression
    path: ObjectPath
    range: (
        Annotated[
            str,
            Meta(
                pattern="^bytes=[0-9]{0,19}-[0-9]{0,19}$",
                description="Which bytes, as in an HTTP Range; all of them without it.",
            ),
        ]
        | None
    ) = None


class UploadPartCopyFrom(Struct, frozen=True, kw_only=True):
    """A part that is copied from an object."""

    physical_address: PhysicalAddress
    copy_source: CopyPartSource


class UploadPart(Struct, frozen=True, kw_only=True):
    """A part that was written."""

    part_number: PartNumber
    etag: Annotated[str, Meta(description="What the store answered when it was written.")]


class CompletePresignMultipartUpload(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The end of an upload in parts: the object is to be linked."""

    physical_address: PhysicalAddress
    parts: Annotated[
        list[UploadPart], Meta(max_length=MAX_PARTS, description="All parts, by their numbers.")
    ]
    user_metadata: Metadata = {}
    content_type: ContentType = ""


class AbortPresignMultipartUpload(Struct, frozen=True, kw_only=True):
    """An upload in parts that is given up."""

    physical_address: PhysicalAddress
