# SPDX-License-Identifier: Apache-2.0
"""Signed URLs of our own, where lakeFS leaves them to the object store."""

from typing import Annotated

from msgspec import Meta, Struct


class PresignedQuery(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """What a signed URL opens."""

    token: Annotated[str, Meta(max_length=16384, description="What was signed, and its signature.")]
