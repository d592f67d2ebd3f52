# SPDX-License-Identifier: Apache-2.0
"""Addresses as people write them.

    lochan://repository                      lochan://host:port/repository
    lochan://repository/ref                  lochan://host:port/repository/ref
    lochan://repository/ref/path/of/object   lochan://host:port/repository/ref/path/of/object

`lakefs://` is read alike. An authority with a port is a server, one without is a repository (no
repository's name has a colon). The path is taken as it stands: nothing is unescaped, a question
mark or a percent sign is part of the key, and so is a trailing slash.
"""

import re
from typing import NoReturn

import msgspec

from lochan.errors import InvalidInput
from lochan.model.ids import Ref, RepositoryId, valid_ref, valid_repository_id

SCHEMES = ("lochan", "lakefs")
_MAX_PORT = 65535
# host:port, with the brackets of an IPv6 address; no user name: secrets do not go into URIs.
_SERVER = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})")


class Uri(msgspec.Struct, frozen=True, kw_only=True):
    """A repository, a ref in it, or an object under a ref; what is not said is empty."""

    repository: RepositoryId
    ref: Ref = Ref("")
    path: str = ""
    server: str = ""  # host:port
    scheme: str = "lochan"

    def __str__(self) -> str:
        places = (self.server, self.repository, self.ref, self.path)
        return f"{self.scheme}://{'/'.join(filter(None, places))}"


def parse_uri(text: str) -> Uri:
    """Read an address. Raises InvalidInput, with the forms that are understood."""
    scheme, separator, rest = text.partition("://")
    if not separator or scheme not in SCHEMES:
        _refuse(text, "it starts with neither lochan:// nor lakefs://")
    server = ""
    authority, _, after = rest.partition("/")
    if ":" in authority:
        server, rest = _valid_server(text, authority), after
    repository, _, rest = rest.partition("/")
    ref, _, path = rest.partition("/")
    if not ref and path:
        _refuse(text, "the ref between repository and path is empty")
    return Uri(
        repository=valid_repository_id(repository),
        ref=valid_ref(ref) if ref else Ref(""),
        path=path,
        server=server,
        scheme=scheme,
    )


def _valid_server(text: str, authority: str) -> str:
    match = _SERVER.fullmatch(authority)
    if not match or not 0 < int(match[1]) <= _MAX_PORT:
        _refuse(text, f"{authority!r} is not host:port")
    return authority


def _refuse(text: str, reason: str) -> NoReturn:
    forms = "lochan://repository/ref/path or lochan://host:port/repository/ref/path"
    raise InvalidInput(f"{text!r}: {reason}; write {forms}", code="invalid-uri", value=text)
