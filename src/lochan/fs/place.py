# SPDX-License-Identifier: Apache-2.0
"""Paths of the filesystem, taken apart.

    ""                      the lake; its entries are repositories
    repository              its entries are branches and tags
    repository/ref          the root of the objects there
    repository/ref/a/b      an object, or a folder: what some object's path begins with, and a slash

`lochan://` and `lakefs://` may stand before it, and an authority with a port: that is the server.
"""

import re
from typing import Final, NamedTuple

SCHEMES: Final = ("lochan", "lakefs")
_SCHEME: Final = re.compile(r"(?:lochan|lakefs):/{1,2}")
_SERVER: Final = re.compile(r"((?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):[0-9]{1,5})(?:/|$)")


class Place(NamedTuple):
    """A path in its parts; what is not said is empty."""

    repository: str
    ref: str = ""
    path: str = ""

    @property
    def prefix(self) -> str:
        """Give what all paths of objects in this folder begin with."""
        return f"{self.path}/" if self.path else ""

    def named(self, path: str) -> str:
        """Give the filesystem's name of an object of this reference."""
        return f"{self.repository}/{self.ref}/{path}"


def place_of(stripped: str) -> Place:
    """Take a path apart that has no scheme and no server any more."""
    repository, _, rest = stripped.partition("/")
    ref, _, path = rest.partition("/")
    return Place(repository, ref, path)


def stripped(text: str) -> str:
    """Give a path without scheme, server and slashes around it."""
    found = _SCHEME.match(text)
    if found is None:
        return text.strip("/")
    rest = text[found.end() :]
    server = _SERVER.match(rest)
    return rest[server.end() if server else 0 :].strip("/")


def server_of(text: str) -> str:
    """Give the host and port that a path names; empty where it names none."""
    found = _SCHEME.match(text)
    server = _SERVER.match(text[found.end() :]) if found else None
    return server[1] if server else ""
