# SPDX-License-Identifier: Apache-2.0
"""An object's bytes as an answer: ranges, validators, and headers that disarm it (S17).

What people store is shown to others from the server's own address, so no browser may run it: no
sniffing, no scripts, no frames, and whatever is not a plain picture, text or sound is a download.
Nothing that people wrote reaches a header as it is (S11): types and checksums are checked, names
are escaped.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.utils import format_datetime
from functools import lru_cache
from typing import Final
from urllib.parse import quote

import falcon

from lochan.errors import LochanError
from lochan.logs import Log
from lochan.model.entry import DEFAULT_CONTENT_TYPE
from lochan.model.instant import NANOSECONDS, Instant, to_datetime
from lochan.objects.store import WHOLE, Extent, Reading, Span
from lochan.shapes.errors import Error
from lochan.web.reply import Reply

SMALL_BYTES: Final = 64 << 10  # answered in one piece
_TYPE: Final = re.compile(r"[!-~]+/[!-~]+(?:;[ -~]*)?")
_RANGE: Final = re.compile(r"bytes=\s*([0-9]{0,19})-([0-9]{0,19})\s*", re.IGNORECASE)
_TAG_LETTERS: Final = "!#$&'()*+,/:;<=>?@[]^`{|}~"
# What a browser shows without running anything; SVG and PDF can hold scripts.
_INLINE: Final = frozenset(
    {
        "application/json",
        "audio/aac",
        "audio/flac",
        "audio/mpeg",
        "audio/ogg",
        "audio/wav",
        "audio/webm",
        "image/apng",
        "image/avif",
        "image/bmp",
        "image/gif",
        "image/jpeg",
        "image/png",
        "image/webp",
        "text/csv",
        "text/markdown",
        "text/plain",
        "text/tab-separated-values",
        "video/mp4",
        "video/ogg",
        "video/webm",
    }
)
_DISARMED: Final = {
    "accept-ranges": "bytes",
    "cache-control": "no-store, must-revalidate",
    "content-security-policy": "default-src 'none'; sandbox",
    "expires": "0",
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """What the headers of an object tell."""

    name: str
    size: int
    e_tag: str
    content_type: str
    modified: Instant


class Unsatisfiable(Exception):
    """A range that holds no byte of the object."""


def object_reply(
    request: falcon.Request, shown: Shown, open_: Callable[[Extent], Reading], log: Log
) -> Reply:
    """Answer a GET or HEAD for an object; `open_` is called only where bytes are sent."""
    headers = object_headers(shown)
    if _is_known(request.get_header("If-None-Match"), headers["etag"]):
        del headers["content-type"]  # what is not sent has none
        return Reply(None, 304, headers)
    try:
        span = _span(request, shown.size, headers["etag"])
    except Unsatisfiable:
        return _unsatisfiable(shown)
    if span is None:
        status, length = 200, shown.size
    else:
        status, length = 206, span.stop - span.start
        headers["content-range"] = f"bytes {span.start}-{span.stop - 1}/{shown.size}"
    content_type = headers["content-type"]
    if request.method == "HEAD":
        headers["content-length"] = str(length)
        return Reply(None, status, headers, content_type)
    reading = open_(span or WHOLE)
    if length <= SMALL_BYTES:
        return Reply(reading.read(), status, headers, content_type)
    chunks = Chunks(reading, log)
    return Reply(None, status, headers, content_type, chunks=chunks, length=length)


def object_headers(shown: Shown) -> dict[str, str]:
    """Describe an object to a client that must not trust it."""
    content_type, place = _typed(shown.content_type)
    name = quote(shown.name, safe="", errors="replace")
    return {
        **_DISARMED,
        "content-disposition": f"{place}; filename*=UTF-8''{name}" if name else place,
        "content-type": content_type,
        "etag": quoted(shown.e_tag),
        "last-modified": _date(shown.modified // NANOSECONDS),
    }


@lru_cache(1000)
def _typed(content_type: str) -> tuple[str, str]:
    """Give a type as it may stand in a header, that of plain bytes if it may not; and its place."""
    safe = content_type if _TYPE.fullmatch(content_type) else DEFAULT_CONTENT_TYPE
    kind = safe.partition(";")[0].strip().lower()
    return safe, "inline" if kind in _INLINE else "attachment"


@lru_cache(1000)
def _date(seconds: int) -> str:
    return format_datetime(to_datetime(Instant(seconds * NANOSECONDS)), usegmt=True)


def quoted(e_tag: str) -> str:
    """Give a checksum as an entity tag."""
    if e_tag.isascii() and e_tag.isalnum():  # as nearly all are
        return f'"{e_tag}"'
    return f'"{quote(e_tag, safe=_TAG_LETTERS)}"'


class Chunks:
    """The bytes of a reading; where it fails the answer ends early, which its length shows."""

    def __init__(self, reading: Reading, log: Log) -> None:
        self._reading = reading
        self._log = log

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._reading
        except LochanError as error:
            self._log.warning("an object broke off while it was sent", error=error.message)

    @property
    def file(self) -> tuple[int, int, int] | None:
        """An open file that has these bytes, from where on and up to where; see `adapter`."""
        reading = self._reading
        return None if reading.file is None else (reading.file, reading.start, reading.stop)

    def close(self) -> None:
        """Free the file or connection of a reading that was not read to its end."""
        self._reading.close()


def _is_known(if_none_match: str | None, etag: str) -> bool:
    """Say whether a client has this version already."""
    if if_none_match is None:
        return False
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return if_none_match == etag or etag in tags or "*" in tags


def _span(request: falcon.Request, size: int, etag: str) -> Span | None:
    """Read a range; what is no single range of bytes is not heeded, as RFC 9110 has it."""
    text = request.get_header("Range")
    if text is None or request.get_header("If-Range") not in {None, etag}:
        return None
    found = _RANGE.fullmatch(text)
    if found is None or found[1] == found[2] == "":
        return None
    if not found[1]:
        start, stop = max(0, size - int(found[2])), size
    else:
        start, last = int(found[1]), int(found[2] or size)
        if found[2] and last < start:
            return None
        stop = min(last + 1, size)
    if start >= stop:
        raise Unsatisfiable
    return Span(start, stop)


def _unsatisfiable(shown: Shown) -> Reply:
    message = f"the object has {shown.size} bytes, and the range holds none of them"
    headers = {"content-range": f"bytes */{shown.size}", "accept-ranges": "bytes"}
    return Reply(Error(message=message, code="invalid-range"), 416, headers)
