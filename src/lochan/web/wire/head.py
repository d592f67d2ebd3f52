# SPDX-License-Identifier: Apache-2.0
"""A request's first lines, read so strictly that nobody can take them for something else (S11).

What is refused here is answered with 400 and the end of the connection: what follows in it might
be a body or a next request, and nobody should have to guess.
"""

import re
from dataclasses import dataclass
from typing import Final

from lochan.web.environ import Headers, decoded_path

HEAD_BYTES: Final = 16 << 10
_LINE: Final = re.compile(rb"([A-Z]{1,16}) (/[!-~]*) HTTP/1\.([01])")
# No blanks around the value here: three parts that all match them would be tried in every way.
_HEADER: Final = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t -~\x80-\xff]*)")
_LENGTH: Final = re.compile(r"[0-9]{1,18}")
_SINGLE: Final = frozenset({"content-length", "transfer-encoding", "host", "authorization"})


class Refused(Exception):
    """What no request may look like; the text says what is wrong."""


@dataclass(frozen=True, slots=True)
class Head:
    """What a request says before its body. `length` is None where that comes in chunks."""

    method: str
    path: str
    query: str
    headers: Headers
    length: int | None
    stays: bool  # whether the connection may serve another request
    expects: bool  # whether the client waits to be told to send its body


def head_of(raw: bytes) -> Head:
    """Read the lines of a head. Raises Refused."""
    first, *lines = raw.split(b"\r\n")
    found = _LINE.fullmatch(first)
    if found is None:
        raise Refused("the first line is no request of HTTP/1.1")
    headers = [_header(line) for line in lines]
    given = dict(headers)
    for name in _SINGLE & given.keys():
        if sum(other == name for other, _ in headers) > 1:
            raise Refused(f"there is more than one {name}")
    is_new = found[3] == b"1"
    if is_new and "host" not in given:
        raise Refused("there is no host")
    path, _, query = found[2].decode("ascii").partition("?")
    return Head(
        found[1].decode("ascii"),
        _path(path),
        query,
        headers,
        _length(given, is_new=is_new),
        is_new and "close" not in given.get("connection", "").lower(),
        is_new and given.get("expect", "").lower() == "100-continue",
    )


def _path(raw: str) -> str:
    path = decoded_path(raw)
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise Refused("the path is not UTF-8") from error
    return path


def _header(line: bytes) -> tuple[str, str]:
    found = _HEADER.fullmatch(line)
    if found is None:
        raise Refused("a line is no header")
    return found[1].decode("ascii").lower(), found[2].strip(b" \t").decode("latin-1")


def _length(given: dict[str, str], *, is_new: bool) -> int | None:
    coding, said = given.get("transfer-encoding"), given.get("content-length")
    if coding is None:
        if said is not None and not _LENGTH.fullmatch(said):
            raise Refused("content-length is no number")
        return int(said or 0)
    if said is not None or not is_new:
        raise Refused("the body's length is said in two ways")
    if coding.lower() != "chunked":
        raise Refused("the transfer-encoding is not chunked")
    return None
