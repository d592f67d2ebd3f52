# SPDX-License-Identifier: Apache-2.0
"""YAML with places: every value knows its line, so that a mistake can be pointed at.

Only data is read: mappings with text as keys, lists, and scalars. A plain scalar is null, true,
false or a number as JSON writes them, and text otherwise; a date is text, and so is `on`. Tags are
refused, all of them: none can make an object. Anchors may be used, but not inside themselves, and
not to blow a text up.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, ClassVar, Final

import yaml

from lochan.config.values import Size
from lochan.errors import InvalidInput

Steps = tuple[str | int, ...]

_MOST_BYTES: Final = 1 << 20
_MOST_VALUES: Final = 50_000
_DEEPEST: Final = 50
_WORDS: Final = {"null": None, "~": None, "": None, "true": True, "false": False}
_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,300}")
_NUMBER: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_DURATION: Final = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+|\d+(?:\.\d+)?")
_SECONDS: Final = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "": 1}
_PLAIN_TAGS: Final = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map"))


class _Loader(yaml.SafeLoader):
    """Takes every scalar for text: what it means is decided here."""

    yaml_implicit_resolvers: ClassVar[dict[Any, Any]] = {}  # type: ignore[misc] # as it is meant


@dataclass(frozen=True, slots=True)
class Value:
    """A value in a file: data that may hold values, and where it begins."""

    file: str
    line: int
    column: int
    data: "dict[str, Value] | list[Value] | str | int | float | None"

    def wrong(self, message: str) -> InvalidInput:
        """Make the error for a mistake that begins here."""
        place = f"{self.file}:{self.line}:{self.column}"
        code = "invalid-pipeline"
        return InvalidInput(f"{place}: {message}", code=code, line=self.line, column=self.column)

    def fields(self, *known: str) -> "dict[str, Value]":
        """Give a mapping's fields. Raises InvalidInput for one that is not known."""
        if not isinstance(self.data, dict):
            raise self.wrong(f"expected a mapping with {_listed(known)}, not {self.shown}")
        for name, value in self.data.items():
            if name not in known:
                near = get_close_matches(name, known, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"there are {_listed(known)}"
                raise value.wrong(f"there is no field {name!r}; {hint}")
        return self.data

    def items(self) -> "list[Value]":
        """Give a list's values; of anything else, itself alone."""
        return self.data if isinstance(self.data, list) else [self]

    def text(self) -> str:
        """Give a text. A number or a word is none; it must be quoted."""
        if not isinstance(self.data, str):
            raise self.wrong(f"expected text, not {self.shown}; put it in quotes")
        return self.data

    def choice(self, *among: str) -> str:
        """Give a text that is one of some."""
        if not isinstance(self.data, str) or self.data not in among:
            raise self.wrong(f"expected {_listed(among, 'or')}, not {self.shown}")
        return self.data

    def flag(self) -> bool:
        """Give true or false."""
        if not isinstance(self.data, bool):
            raise self.wrong(f"expected true or false, not {self.shown}")
        return self.data

    def whole(self) -> int:
        """Give a whole number."""
        if not isinstance(self.data, int) or isinstance(self.data, bool):
            raise self.wrong(f"expected a whole number, not {self.shown}")
        return self.data

    def strings(self) -> dict[str, str]:
        """Give a mapping to texts; numbers and words become what was written, nearly."""
        if not isinstance(self.data, dict):
            raise self.wrong(f"expected a mapping, not {self.shown}")
        return {name: value.scalar() for name, value in self.data.items()}

    def scalar(self) -> str:
        """Give a text, number or word as text."""
        if isinstance(self.data, dict | list) or self.data is None:
            raise self.wrong(f"expected text, not {self.shown}")
        return str(self.data).lower() if isinstance(self.data, bool) else str(self.data)

    def plain(self) -> Any:  # noqa: ANN401 - whatever its author wrote
        """Give the data without places."""
        if isinstance(self.data, dict):
            return {name: value.plain() for name, value in self.data.items()}
        if isinstance(self.data, list):
            return [value.plain() for value in self.data]
        return self.data

    def at(self, steps: Steps) -> "Value":
        """Go down to a value, or as far as there are values on the way."""
        found = self
        for step in steps:
            inner = found.data
            if isinstance(step, str):
                inside = inner.get(step) if isinstance(inner, dict) else None
            else:  # one may stand for a list of one
                inside = dict(enumerate(found.items())).get(step)
            if inside is None:
                break
            found = inside
        return found

    @property
    def shown(self) -> str:
        """Give it as messages do."""
        if isinstance(self.data, dict | list):
            return "a mapping" if isinstance(self.data, dict) else "a list"
        return "nothing" if self.data is None else repr(self.data)


def seconds_of(value: Value) -> float:
    """Give how long something takes: a number of seconds, or 250ms, 5m, 1h30m, 2d."""
    said = "" if isinstance(value.data, bool) else str(value.data)
    if not _DURATION.fullmatch(said):
        raise value.wrong(f"expected a time such as 30s, 5m or 1h30m, not {value.shown}")
    parts = re.findall(r"(\d+(?:\.\d+)?)([a-z]*)", said)
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def size_of(value: Value) -> int:
    """Give a count of bytes: a number, or 256MB, 1GiB; units are powers of 1,024."""
    if not isinstance(value.data, str | int):
        raise value.wrong(f"expected a size such as 256MB, not {value.shown}")
    try:
        return int(Size.parse(value.data))
    except ValueError as error:
        raise value.wrong(f"{error}, not {value.shown}") from error


def read_yaml(text: str, *, file: str) -> Iterator[Value]:
    """Give the documents of a text that are not empty. Raises InvalidInput with the place."""
    if len(text) > _MOST_BYTES:
        raise InvalidInput(f"{file} is longer than {_MOST_BYTES} characters", code="invalid-yaml")
    reader = _Reader(file)
    try:
        for node in yaml.compose_all(text, Loader=_Loader):
            document = reader.read(node)
            if document.data is not None:
                yield document
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{file}:{mark.line + 1}:{mark.column + 1}" if mark else file
        said = " ".join(str(error.problem or error.context).split())
        raise InvalidInput(f"{place}: {said}", code="invalid-yaml") from error
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        place = f"{file}:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"
        raise InvalidInput(f"{place}: no text has this character", code="invalid-yaml") from error
    except (yaml.YAMLError, RecursionError) as error:
        said = " ".join(str(error).split())
        raise InvalidInput(f"{file}: this is no YAML: {said}", code="invalid-yaml") from error


class _Reader:
    """Turns nodes into values, within bounds."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._count = 0

    def read(self, node: yaml.Node, depth: int = 0) -> Value:
        mark = node.start_mark
        here = Value(self._file, mark.line + 1, mark.column + 1, None)
        self._count += 1
        if depth > _DEEPEST or self._count > _MOST_VALUES:
            raise here.wrong("too much, or nested too deeply, for a pipeline")
        if node.tag not in _PLAIN_TAGS:
            raise here.wrong(f"tags such as {node.tag!r} are not read; write plain values")
        if isinstance(node, yaml.MappingNode):
            data: Any = self._fields(node, depth)
        elif isinstance(node, yaml.SequenceNode):
            data = [self.read(item, depth + 1) for item in node.value]
        else:
            quoted = isinstance(node, yaml.ScalarNode) and node.style is not None
            text = self._text(here, node.value)
            data = text if quoted else _plain(text)
        return Value(here.file, here.line, here.column, data)

    def _fields(self, node: yaml.MappingNode, depth: int) -> dict[str, Value]:
        found: dict[str, Value] = {}
        for key, value in node.value:
            name = self.read(key, depth + 1)
            if not isinstance(key, yaml.ScalarNode):
                raise name.wrong("the name of a field is text")
            word = self._text(name, key.value)
            if word in found:
                raise name.wrong(f"field {word!r} is there twice")
            inner = self.read(value, depth + 1)
            # A mistake in a field's name or type is pointed at where the field begins.
            found[word] = Value(self._file, name.line, name.column, inner.data)
        return found

    def _text(self, here: Value, text: str) -> str:
        """Put halves of characters together, as JSON inside YAML writes them."""
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError as error:
            raise here.wrong("this text holds half of a character") from error


def _plain(text: str) -> str | int | float | None:
    """Say what a scalar without quotes means."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text


def _listed(names: tuple[str, ...], word: str = "and") -> str:
    return f" {word} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
