# SPDX-License-Identifier: Apache-2.0
"""Objects: described, listed, uploaded, copied, staged, deleted, and their metadata.

The rows of a listing leave out what a prefix has not: size, metadata and content type.
"""

from typing import Annotated, Final

from msgspec import Meta, Struct, field

from lochan.shapes.fields import (
    ByteCount,
    Checksum,
    ContentType,
    Force,
    Metadata,
    ObjectPath,
    PathType,
    PhysicalAddress,
    Presign,
    RefExpression,
    UnixSeconds,
    WithUserMetadata,
)
from lochan.shapes.pages import DEFAULT_AMOUNT, After, Amount, Delimiter, Pagination, Prefix

NoTombstone = Annotated[
    bool, Meta(description="Leave no mark of the deletion where nothing is committed.")
]
MAX_DELETED: Final = 1000


class ObjectStats(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An object, or in a listing a prefix."""

    path: Annotated[str, Meta(description="Path of the object, or the prefix.")]
    path_type: PathType
    physical_address: Annotated[
        str, Meta(description="Where the bytes lie, or a signed URL; empty for a prefix.")
    ]
    physical_address_expiry: (
        Annotated[int, Meta(description="When a signed URL stops working, in seconds since 1970.")]
        | None
    ) = None
    checksum: Checksum
    size_bytes: ByteCount | None = None
    mtime: UnixSeconds
    metadata: Metadata | None = None
    content_type: ContentType | None = None


class ObjectStatsList(Struct, frozen=True, kw_only=True):
    """A page of objects and prefixes, in order of their paths."""

    pagination: Pagination
    results: list[ObjectStats]


class ListObjectsQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A page of objects."""

    user_metadata: WithUserMetadata = True
    presign: Presign = False
    after: After = ""
    amount: Amount = DEFAULT_AMOUNT
    delimiter: Delimiter = ""
    prefix: Prefix = ""


class StatObjectQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which object to describe, and how."""

    path: ObjectPath
    user_metadata: WithUserMetadata = True
    presign: Presign = False


class GetObjectQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which object to read."""

    path: ObjectPath
    presign: Presign = False


class ObjectQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which object is meant, where nothing else is asked."""

    path: ObjectPath


class UploadObjectQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where an object is written, and how."""

    path: ObjectPath
    storage_class: Annotated[
        str, Meta(description="Storage class in the object store, where it has several.")
    ] = field(default="", name="storageClass")
    force: Force = False


class DeleteObjectQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which object is deleted, and how."""

    path: ObjectPath
    force: Force = False
    no_tombstone: NoTombstone = False


class DeleteObjectsQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How objects are deleted."""

    force: Force = False
    no_tombstone: NoTombstone = False


class PathList(Struct, frozen=True, kw_only=True):
    """Objects to be deleted."""

    paths: Annotated[list[ObjectPath], Meta(max_length=MAX_DELETED, description="Their paths.")]


class ObjectError(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why one object of several was not deleted."""

    status_code: Annotated[int, Meta(description="The HTTP status that it would have had alone.")]
    message: Annotated[str, Meta(description="What went wrong.")]
    path: Annotated[str, Meta(description="The object's path.")] | None = None


class ObjectErrorList(Struct, frozen=True, kw_only=True):
    """The objects that were not deleted; the others were."""

    errors: list[ObjectError]


class CopyObjectQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a copy goes."""

    dest_path: ObjectPath


class ObjectCopyCreation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is copied."""

    src_path: ObjectPath
    src_ref: RefExpression | None = None
    force: Force = False
    shallow: Annotated[
        bool, Meta(description="Share the bytes instead of copying them, where that is safe.")
    ] = False


class ObjectRename(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An object that gets another path, or with a slash at its end all objects below one."""

    source: ObjectPath
    destination: ObjectPath
    overwrite: Annotated[
        bool, Meta(description="Replace what is at the destination, which also ends a rename.")
    ] = False
    force: Force = False


class ObjectsRenamed(Struct, frozen=True, kw_only=True):
    """How many objects have another path now."""

    renamed: Annotated[int, Meta(ge=0, description="Number of objects.")]


class ObjectStageCreation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An object whose bytes are in the store already."""

    physical_address: PhysicalAddress
    checksum: Checksum
    size_bytes: ByteCount
    mtime: UnixSeconds | None = None
    metadata: Metadata = {}
    content_type: ContentType = ""
    force: Force = False


class UnderlyingObjectProperties(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the object store says of an object."""

    storage_class: (
        Annotated[str, Meta(description="Its storage class, where the store has several.")] | None
    ) = None


class UpdateObjectUserMetadata(Struct, frozen=True, kw_only=True):
    """The metadata that an object is to have instead of what it has."""

    set: Metadata
