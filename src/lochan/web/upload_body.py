# SPDX-License-Identifier: Apache-2.0
"""The bytes of an object on their way in: raw, or in a form's part named `content`.

They pass through in pieces and are never held. What must be true of the whole is checked before the
last piece is handed on: the largest size, the MD5 that the client told, the form's end. So a body
that breaks one of these rules, or breaks off, stores nothing.
"""

import base64
import binascii
import hashlib
from collections.abc import Iterator
from typing import Final, NamedTuple, Protocol

import falcon
from falcon.media.multipart import MultipartForm, MultipartParseError, MultipartParseOptions
from falcon.util import BufferedReader
from falcon.util.mediatypes import parse_header

from lochan.errors import InvalidInput
from lochan.model.entry import DEFAULT_CONTENT_TYPE
from lochan.web.call import Call

_CHUNK: Final = 1 << 20
_FORM_ROOM: Final = 1 << 20  # what a form may hold besides the object
_FORM: Final = "multipart/form-data"
_MD5_BYTES: Final = 16
_MAX_BOUNDARY: Final = 70  # RFC 2046


class _Stream(Protocol):
    """What bytes are read from, no more at a time than is asked for."""

    def read(self, size: int = -1, /) -> bytes:
        """Give the next bytes; none at the end."""


class UploadBody(NamedTuple):
    """An object that comes in: its pieces, how many bytes if that was said, and its type."""

    pieces: Iterator[bytes]
    size: int | None
    content_type: str


def upload_body(call: Call) -> UploadBody:
    """Take the object from a request.

    Raises: InvalidInput, code body-too-large, bad-digest or bad-form; some while it is read.
    """
    request, most = call.request, int(call.services.settings.limits.upload)
    content_type = request.content_type or DEFAULT_CONTENT_TYPE
    if content_type.partition(";")[0].strip().lower() == _FORM:
        if (request.content_length or 0) > most + _FORM_ROOM:
            raise _too_large(most)
        pieces, content_type = _form_part(call.stream, content_type, most)
        return UploadBody(_checked(request, pieces), None, content_type)
    size = request.content_length
    if size is not None and size > most:
        raise _too_large(most)
    return UploadBody(_checked(request, _pieces(call.stream, most)), size, content_type)


def _pieces(stream: _Stream, most: int) -> Iterator[bytes]:
    count = 0
    while piece := stream.read(_CHUNK):
        count += len(piece)
        if count > most:
            raise _too_large(most)
        yield piece


def _checked(request: falcon.Request, pieces: Iterator[bytes]) -> Iterator[bytes]:
    told = request.get_header("Content-MD5")
    return pieces if told is None else _digested(pieces, _md5(told))


def _digested(pieces: Iterator[bytes], expected: bytes) -> Iterator[bytes]:
    digest = hashlib.md5(usedforsecurity=False)
    for piece in pieces:
        digest.update(piece)
        yield piece
    if digest.digest() != expected:
        message = "the body's MD5 is not what Content-MD5 says; nothing was stored, send it again"
        raise InvalidInput(message, code="bad-digest")


def _md5(told: str) -> bytes:
    try:
        found = base64.b64decode(told, validate=True)
    except (binascii.Error, ValueError):
        found = b""
    if len(found) != _MD5_BYTES:
        raise InvalidInput("Content-MD5 is the base64 of 16 bytes", code="bad-digest")
    return found


def _form_part(stream: _Stream, content_type: str, most: int) -> tuple[Iterator[bytes], str]:
    """Find the part named `content`; give its pieces, and its own type."""
    boundary = parse_header(content_type)[1].get("boundary", "")
    if not 0 < len(boundary) <= _MAX_BOUNDARY or not boundary.isascii():
        raise _bad_form("its Content-Type names no boundary")
    reader = BufferedReader(stream.read, most + _FORM_ROOM)
    form = iter(MultipartForm(reader, boundary.encode(), None, MultipartParseOptions()))
    try:
        for part in form:
            if part.name == "content":
                return _form_pieces(part.stream, form, most), part.content_type
    except (MultipartParseError, UnicodeDecodeError) as error:
        raise _bad_form("it cannot be read") from error
    raise _bad_form("it has no part named content")


def _form_pieces(stream: _Stream, form: Iterator[object], most: int) -> Iterator[bytes]:
    yield from _pieces(stream, most)
    try:
        for _ in form:  # the part has ended only if a boundary follows, and the form likewise
            pass
    except MultipartParseError as error:
        raise _bad_form("it ends before it is complete") from error


def _too_large(most: int) -> InvalidInput:
    return InvalidInput(f"an object in one upload has at most {most} bytes", code="body-too-large")


def _bad_form(reason: str) -> InvalidInput:
    message = f"the form cannot be taken: {reason}; send a part named content, or the bytes alone"
    return InvalidInput(message, code="bad-form")
