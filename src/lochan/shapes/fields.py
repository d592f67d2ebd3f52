# SPDX-License-Identifier: Apache-2.0
"""The kinds of value that several shapes hold, each with its limits and its description.

Patterns spell out ASCII classes and use no look-around, so that they mean the same to Python and to
readers of JSON Schema.
"""

from datetime import datetime
from typing import Annotated, Final, Literal

from msgspec import Meta

MAX_SIZE: Final = 2**63 - 1
# The years 1 to 9999, what a stored time can be.
EARLIEST_SECOND: Final = -62_135_596_800
LATEST_SECOND: Final = 253_402_300_799

RepositoryName = Annotated[
    str,
    Meta(
        pattern="^[a-z0-9][a-z0-9-]{2,62}$",
        min_length=3,
        max_length=63,
        description="Name of a repository: lower-case letters, digits and hyphens.",
        examples=["my-lake"],
    ),
]
BranchName = Annotated[
    str,
    Meta(
        pattern="^[A-Za-z0-9_][A-Za-z0-9_-]*$",
        min_length=1,
        description="Name of a branch: letters, digits, underscores and hyphens.",
        examples=["main"],
    ),
]
TagName = Annotated[
    str,
    Meta(
        pattern=r"^[^\x00-\x20\x7f^:?*\[\\/]+$",
        min_length=1,
        description="Name of a tag; nearly git's rules, without slashes.",
        examples=["v1.0"],
    ),
]
RefExpression = Annotated[
    str,
    Meta(
        pattern=r"^[^ \t\n\r\f\v]+$",
        min_length=1,
        description="A branch, tag or commit, with modifiers: main, main~2, v1.0, main@.",
        examples=["main"],
    ),
]
ObjectPath = Annotated[
    str,
    Meta(min_length=1, max_length=1024, description="Path of an object, 1 to 1024 bytes of UTF-8."),
]
PathType = Annotated[
    Literal["object", "common_prefix"],
    Meta(description="Whether a path is an object, or stands for all that begins with it."),
]
Metadata = Annotated[
    dict[str, str], Meta(description="Keys and values that people attach; ours begin with a dot.")
]
UnixSeconds = Annotated[
    int,
    Meta(
        ge=EARLIEST_SECOND,
        le=LATEST_SECOND,
        description="Time in whole seconds since 1970-01-01T00:00:00Z.",
    ),
]
Timestamp = Annotated[datetime, Meta(tz=True, description="Time in RFC 3339 form, with its zone.")]
ByteCount = Annotated[int, Meta(ge=0, le=MAX_SIZE, description="Number of bytes.")]
Checksum = Annotated[
    str, Meta(description="Hash of the content as its store tells it; MD5 of what we stored.")
]
ContentType = Annotated[str, Meta(description="MIME type of the content.")]
PhysicalAddress = Annotated[
    str, Meta(min_length=1, description="Where the bytes lie: a full address in an object store.")
]
Force = Annotated[bool, Meta(description="Write even though the repository is read-only.")]
Presign = Annotated[
    bool, Meta(description="Give a signed URL, which needs no credentials until it expires.")
]
WithUserMetadata = Annotated[bool, Meta(description="Whether to tell the objects' metadata.")]
