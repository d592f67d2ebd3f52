# SPDX-License-Identifier: Apache-2.0
"""How a cloud names the version of an object, and how a put asks for one.

S3 and Azure compare ETags; Google Cloud Storage compares generations, which obstore calls versions.
Our etag is whichever the store compares, without quotation marks.
"""

from datetime import datetime
from typing import Literal, TypedDict

from lochan.errors import Unavailable
from lochan.objects.store import Always, IfAbsent, IfMatch, ObjectInfo, Precondition


class Meta(TypedDict):
    """What obstore says of an object."""

    path: str
    last_modified: datetime
    size: int
    e_tag: str | None
    version: str | None


class Version(TypedDict, total=False):
    """What obstore wants to know of the version to replace."""

    e_tag: str | None
    version: str | None


def etag_of(scheme: str, e_tag: str | None, version: str | None) -> str:
    """Choose what names the version. Raises Unavailable when the store gave no name."""
    name = version if scheme == "gs" else e_tag
    if not name:
        raise Unavailable(f"{scheme} gave an object without a version; nothing can be promised")
    return name.strip('"')


def info_of(scheme: str, meta: Meta) -> ObjectInfo:
    """Describe an object."""
    etag = etag_of(scheme, meta["e_tag"], meta["version"])
    return ObjectInfo(meta["size"], etag, meta["last_modified"].timestamp())


def mode_of(scheme: str, when: Precondition) -> Literal["overwrite", "create"] | Version:
    """Say a precondition as obstore takes it."""
    match when:
        case Always():
            return "overwrite"
        case IfAbsent():
            return "create"
        case IfMatch(etag):
            return {"version": etag} if scheme == "gs" else {"e_tag": f'"{etag}"'}
