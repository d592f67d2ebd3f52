# SPDX-License-Identifier: Apache-2.0
"""One setting: its key, its variable, its type, its default and its meaning.

They are read off the types of `server` and `client`, so that the reader, the checker and
`docs/configuration.md` know the same ones.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Annotated, Literal, NamedTuple, Protocol, TypeVar, get_args, get_origin

import msgspec
from msgspec.structs import FieldInfo, fields

from lochan.config.secret import Secret
from lochan.config.values import Address, Location, Network, Size

T = TypeVar("T", bound=msgspec.Struct)

PREFIX = "LOCHAN_"
_WORDS: dict[object, str] = {
    Address: "host:port",
    Location: "a url",
    Network: "an IP network",
    Path: "a path",
    Secret: "a secret",
    Size: "a size",
    bool: "true or false",
    float: "a number",
    int: "a whole number",
    str: "a text",
}


class _Parsed(Protocol):
    """A type of `values`."""

    def parse(self, value: object) -> object:
        """Read it from what a source says. Raises ValueError."""


class Leaf(NamedTuple):
    """One setting that has no others below it."""

    key: str
    kind: object  # an annotation as msgspec takes them
    default: object
    meaning: str

    @property
    def variable(self) -> str:
        """Name the environment variable."""
        return variable_of(self.key)

    @property
    def is_secret(self) -> bool:
        """Say whether it may be kept in a file of its own, named by the key with _file behind."""
        return _bare(self.kind) is Secret

    @property
    def expects(self) -> str:
        """Say in words what it takes."""
        return _described(self.kind)

    def convert(self, value: object) -> object:
        """Make what a source says into a value of the type. Raises ValueError."""
        return _converted(value, self.kind)


def variable_of(key: str) -> str:
    """Name the environment variable of a key."""
    return PREFIX + key.upper().replace(".", "_")


def leaves(kind: type[msgspec.Struct], above: str = "") -> Iterator[Leaf]:
    """Give every setting of a type, in the order of its fields."""
    for field in fields(kind):
        key = f"{above}{field.name}"
        if (section := _section(field)) is not None:
            yield from leaves(section, f"{key}.")
        else:
            yield Leaf(key, field.type, field.default, _meaning(field.type))


def build(kind: type[T], values: Mapping[str, object], above: str = "") -> T:
    """Make settings of values by key; what is not among them has its default."""
    given: dict[str, object] = {}
    for field in fields(kind):
        key = f"{above}{field.name}"
        if (section := _section(field)) is not None:
            given[field.name] = build(section, values, f"{key}.")
        elif key in values:
            given[field.name] = values[key]
    return kind(**given)


def _section(field: FieldInfo) -> type[msgspec.Struct] | None:
    kind = field.type
    return kind if isinstance(kind, type) and issubclass(kind, msgspec.Struct) else None


def _bare(kind: object) -> object:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _metas(kind: object) -> list[msgspec.Meta]:
    return [meta for meta in get_args(kind)[1:] if isinstance(meta, msgspec.Meta)]


def _meaning(kind: object) -> str:
    return next((meta.description for meta in _metas(kind) if meta.description), "")


def _converted(value: object, kind: object) -> object:
    """Convert by our own types where they are meant, else as msgspec does.

    A text stands for a number or a truth value too, since variables are texts; a list is a text
    with commas there.
    """
    bare = _bare(kind)
    arguments = get_args(bare)
    if get_origin(bare) is UnionType:  # of a type and None
        return None if value is None else _converted(value, arguments[0])
    if get_origin(bare) is tuple:
        items = value.split(",") if isinstance(value, str) else value
        if not isinstance(items, list | tuple):
            raise ValueError("expected a list")
        return tuple(_converted(_stripped(item), arguments[0]) for item in items)
    if bare is Path:
        if not isinstance(value, str | Path) or not str(value):
            raise ValueError("expected a path")
        return Path(value).expanduser()
    if hasattr(bare, "parse"):
        return _parse(bare, value)
    try:
        return msgspec.convert(value, kind, strict=not isinstance(value, str))
    except msgspec.ValidationError as error:
        raise ValueError(f"it does not take {value!r:.100}") from error


def _parse(kind: _Parsed, value: object) -> object:
    return value if isinstance(kind, type) and isinstance(value, kind) else kind.parse(value)


def _stripped(item: object) -> object:
    return item.strip() if isinstance(item, str) else item


def _described(kind: object) -> str:
    bare = _bare(kind)
    arguments = get_args(bare)
    if get_origin(bare) is Literal:
        return "one of " + ", ".join(map(str, arguments))
    if get_origin(bare) is tuple:
        return f"a list, each {_described(arguments[0])}"
    if get_origin(bare) is UnionType:
        return _described(arguments[0])
    return _WORDS[bare] + "".join(_bounds(kind))


def _bounds(kind: object) -> Iterator[str]:
    for meta in _metas(kind):
        if meta.gt is not None:
            yield f", more than {meta.gt}"
        if meta.ge is not None:
            yield f", {meta.ge} or more"
        if meta.le is not None:
            yield f", at most {meta.le:,.0f}"
