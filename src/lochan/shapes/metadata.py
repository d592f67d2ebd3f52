# SPDX-License-Identifier: Apache-2.0
"""Metadata files: where a tree's ranges lie, for readers that open them without us."""

from typing import Annotated

from msgspec import Meta, Struct

from lochan.shapes.fields import Presign


class StorageURI(Struct, frozen=True, kw_only=True):
    """Where a file lies."""

    location: Annotated[str, Meta(description="Full address in the object store.")]


class GetMetadataObjectQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a metadata file is read."""

    presign: Presign = False


class CreateSymlinkFileQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """For which objects symlink manifests are written."""

    location: Annotated[str, Meta(description="Prefix of the objects; all without it.")] = ""
