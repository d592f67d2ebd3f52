# SPDX-License-Identifier: Apache-2.0
"""Pages of a listing on S3, by one request each, through boto3.

obstore's listing takes whole segments for prefixes, has no start with a delimiter, and gives up for
one key that it cannot address; S3's own has none of these limits, so any key of a bucket is shown.
"""

from datetime import datetime
from typing import TypedDict

from lochan.objects.drivers.cloud.clients import Clients
from lochan.objects.drivers.cloud.failures import Attempt, told
from lochan.objects.namespace import Namespace
from lochan.objects.store import PAGE, Listed, ObjectInfo, Page

_LAST_CHARACTER = "\U0010ffff"


class _Item(TypedDict):
    Key: str
    Size: int
    ETag: str
    LastModified: datetime


class _Prefix(TypedDict):
    Prefix: str


class _Answer(TypedDict, total=False):
    Contents: list[_Item]
    CommonPrefixes: list[_Prefix]
    IsTruncated: bool
    NextContinuationToken: str


class S3Pages:
    """The listing of one namespace."""

    def __init__(self, clients: Clients, namespace: Namespace) -> None:
        """List below the namespace's prefix."""
        self._clients = clients
        self._bucket = namespace.authority
        self._root = f"{namespace.path}/" if namespace.path else ""

    def page(self, prefix: str, delimiter: str, start_after: str, limit: int) -> Page:
        """Ask for one page; again only when S3 sends one that shows nothing yet."""
        ask: dict[str, object] = {
            "Bucket": self._bucket,
            "Prefix": self._root + prefix,
            "MaxKeys": min(limit, PAGE),
        }
        if delimiter:
            ask["Delimiter"] = delimiter
        if start_after:
            ask["StartAfter"] = self._root + _skipping(prefix, delimiter, start_after)
        while True:
            with told(Attempt(f"the listing of {prefix!r}")):
                answer: _Answer = self._clients.boto_steady.list_objects_v2(**ask)
            entries, prefixes = self._read(answer, start_after)
            if not answer["IsTruncated"]:
                return Page(entries, prefixes, "")
            if entries or prefixes:
                last = max(entries[-1].address if entries else "", "".join(prefixes[-1:]))
                return Page(entries, prefixes, last)
            ask["ContinuationToken"] = answer["NextContinuationToken"]

    def _read(
        self, answer: _Answer, start_after: str
    ) -> tuple[tuple[Listed, ...], tuple[str, ...]]:
        begin = len(self._root)
        entries = [(item["Key"][begin:], item) for item in answer.get("Contents", [])]
        prefixes = (item["Prefix"][begin:] for item in answer.get("CommonPrefixes", []))
        return (
            tuple(Listed(name, _info(item)) for name, item in entries if name > start_after),
            tuple(sorted(name for name in prefixes if name > start_after)),
        )


def _skipping(prefix: str, delimiter: str, start_after: str) -> str:
    """Move a start that lies inside or at a common prefix behind all that it stands for."""
    if not delimiter or not start_after.startswith(prefix):
        return start_after
    before, found, _ = start_after[len(prefix) :].partition(delimiter)
    return f"{prefix}{before}{found}{_LAST_CHARACTER}" if found else start_after


def _info(item: _Item) -> ObjectInfo:
    etag = item["ETag"].strip('"')
    return ObjectInfo(item["Size"], etag, item["LastModified"].timestamp())
