# SPDX-License-Identifier: Apache-2.0
"""Storage namespaces: where a repository's objects lie, and what a physical address names.

    namespace          scheme://authority/path     s3://bucket/prefix   local:///folder   mem://name
    physical address   namespace/address           s3://bucket/prefix/data/...

A namespace has no query, no `.` or `..`, no empty segment, and no trailing slash; there is one
spelling for each place, so that equality and overlap of namespaces are decided by their text.
Addresses inside the namespace are stored relative, all others in full; see
docs/formats/object-layout.md.

A *location* is a namespace with options of the driver behind a question mark. It is what people
configure and may carry secrets; it is never stored, and never quoted in an error.
"""

from urllib.parse import parse_qsl

import msgspec

from lochan.errors import InvalidInput

_NO_AUTHORITY = frozenset({"local", "file"})  # the path alone says where


class Namespace(msgspec.Struct, frozen=True):
    """A place for objects: scheme, authority (bucket or name), path without slashes around."""

    scheme: str
    authority: str
    path: str

    @classmethod
    def parse(cls, text: str) -> "Namespace":
        """Read a namespace. Raises InvalidInput; only a last slash is forgiven."""
        scheme, found, rest = text.partition("://")
        authority, slash, path = rest.partition("/")
        path = path.removesuffix("/")
        if not found or not scheme.isascii() or not scheme.isalnum() or scheme != scheme.lower():
            raise InvalidInput(f"{text!r} is no storage namespace; write scheme://bucket/prefix")
        if any(mark in rest for mark in "?#\0"):
            raise InvalidInput(f"a storage namespace of {scheme} has no query, fragment or NUL")
        if (authority == "") != (scheme in _NO_AUTHORITY) or (not authority and not slash):
            form = f"{scheme}:///folder" if scheme in _NO_AUTHORITY else f"{scheme}://name/prefix"
            raise InvalidInput(f"{text!r} is no storage namespace; write {form}")
        if path and any(part in {"", ".", ".."} for part in path.split("/")):
            raise InvalidInput(f"{text!r} has an empty, '.' or '..' segment; leave it out")
        return cls(scheme, authority, path)

    def __str__(self) -> str:
        """Give the one spelling."""
        path = f"/{self.path}" if self.path or not self.authority else ""
        return f"{self.scheme}://{self.authority}{path}"

    def physical(self, address: str) -> str:
        """Give the full name of an address in here."""
        return f"{str(self).removesuffix('/')}/{address}"

    def find_address(self, physical: str) -> str | None:
        """Give the address of a full name, or None when it lies elsewhere.

        A sibling whose name begins with ours (`s3://bucket/lake2`) lies elsewhere.
        """
        inside = self.physical("")
        return physical[len(inside) :] or None if physical.startswith(inside) else None

    def overlaps(self, other: "Namespace") -> bool:
        """Say whether one of the two lies in the other, or they are the same."""
        mine, theirs = self.physical(""), other.physical("")
        return mine.startswith(theirs) or theirs.startswith(mine)


def split_location(location: str) -> tuple[Namespace, dict[str, str]]:
    """Part a location into its namespace and the driver's options.

    Raises: InvalidInput; the message shows no option's value.
    """
    text, _, query = location.partition("?")
    pairs = parse_qsl(query, keep_blank_values=True)
    options = dict(pairs)
    if len(options) != len(pairs):
        raise InvalidInput(f"an option is given twice for {text}; give it once")
    return Namespace.parse(text), options


def refuse_options(namespace: Namespace, options: dict[str, str], known: frozenset[str]) -> None:
    """Refuse options that a driver does not know, naming them but not their values."""
    if unknown := sorted(options.keys() - known):
        takes = ", ".join(sorted(known)) or "none"
        raise InvalidInput(f"{namespace} has options {', '.join(unknown)}; it takes {takes}")
