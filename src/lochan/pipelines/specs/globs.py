# SPDX-License-Identifier: Apache-2.0
r"""Globs: which files and folders of a tree are parts, and what their names capture.

    /               the whole tree, one part
    /*              everything at the top, files and folders; /*/* one level down
    /*/             folders only
    /**/*.csv       files at any depth; ** as a whole step stands for any number of steps, or none
    ?  [a-z]  [!x]  one character
    {jpg,png}       any of these
    (...)           captures what it matches: $1, $2 ... in join_on and group_by
    \x              the character x itself

No wildcard but ** matches a slash. A folder that is matched is one part, with all that lies below
it. A glob with ** matches files alone, unless it ends with a slash: else folders would be parts
beside their own content.

Names have no empty steps: a/ is the mark of a folder, not a file in it, and a//b is below a/ like
any other, but no part of its own. Names need not be UTF-8: what is not is matched byte by byte, and
shown in captures by replacement characters.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from lochan.errors import InvalidInput

ROOT: Final = b"/"  # the key of the part that is the whole tree
_LONGEST: Final = 1024
_STEP: Final = "[^/]"
_PLAIN_ENDS: Final = frozenset("*?[{(\\")


class Match(NamedTuple):
    """A part: the key of a file, or of a folder with its slash, and what the glob captured."""

    key: bytes
    captures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Glob:
    """A glob that was understood. `depth` is None where parts lie at several; 0 is the root."""

    text: str
    pattern: re.Pattern[str]
    depth: int | None
    prefix: bytes  # all parts begin with it
    files: bool
    folders: bool

    @property
    def captures(self) -> int:
        """Count what it captures."""
        return self.pattern.groups

    def parts_of(self, key: bytes) -> Iterator[Match]:
        """Give the parts that an object belongs to: itself, or folders above it."""
        if self.depth == 0:
            yield Match(ROOT, ())
            return
        for candidate in self._candidates(key):
            found = self.match(candidate)
            if found is not None:
                yield found

    def match(self, part: bytes) -> Match | None:
        """Say what is captured if this, a file or a folder with its slash, is a part."""
        if self.depth == 0:
            return Match(ROOT, ()) if part == ROOT else None
        is_folder = part.endswith(b"/")
        if not (self.folders if is_folder else self.files):
            return None
        name = part[:-1] if is_folder else part
        if not name or name.startswith(b"/") or name.endswith(b"/") or b"//" in name:
            return None
        text = name.decode(errors="surrogateescape")
        found = self.pattern.fullmatch(text)
        if found is None:
            return None
        return Match(part, tuple(map(_shown, found.groups())) if self.captures else ())

    def _candidates(self, key: bytes) -> Iterator[bytes]:
        if self.depth is None:
            if self.folders:
                stop = key.find(b"/")
                while stop >= 0:
                    yield key[: stop + 1]
                    stop = key.find(b"/", stop + 1)
            if self.files and not key.endswith(b"/"):
                yield key
            return
        steps = key.split(b"/", self.depth)
        if len(steps) > self.depth:
            yield key[: len(key) - len(steps[-1])]
        elif len(steps) == self.depth:
            yield key


def parse_glob(text: str) -> Glob:
    """Understand a glob. Raises InvalidInput, code invalid-glob, which says where it fails."""
    if len(text) > _LONGEST:
        raise _refused(text[:40] + "...", f"it has {len(text)} characters; at most {_LONGEST}")
    if "//" in text:
        raise _refused(text, "it has an empty step (//)")
    body = text.removeprefix("/")
    only_folders = body.endswith("/") and not body.endswith("\\/")
    body = body.removesuffix("/") if only_folders else body
    if not body:
        return Glob(text, re.compile(""), 0, b"", files=False, folders=True)
    parsed = _Parser(text, body)
    pattern, slashes = parsed.whole()
    return Glob(
        text=text,
        pattern=re.compile(pattern, re.DOTALL),
        depth=None if slashes is None else slashes + 1,
        prefix=parsed.prefix.encode(),
        files=not only_folders,
        folders=only_folders or not parsed.any_depth,
    )


def substituted(template: str, captures: tuple[str, ...]) -> str:
    """Put captures in the places of $1, $2 ...; $$ is a dollar sign.

    Raises InvalidInput for a number that the glob does not capture.
    """

    def value(found: re.Match[str]) -> str:
        if found[0] == "$$":
            return "$"
        number = int(found[1])
        if not 1 <= number <= len(captures):
            raise InvalidInput(
                f"{template!r} asks for ${number}, and the glob captures {len(captures)}",
                code="invalid-glob",
            )
        return captures[number - 1]

    return re.sub(r"\$\$|\$(\d{1,4})", value, template)


def _shown(captured: str | None) -> str:
    if captured is None:
        return ""
    return captured.encode(errors="surrogateescape").decode(errors="replace")


def _refused(text: str, why: str) -> InvalidInput:
    return InvalidInput(f"glob {text!r} is not valid: {why}", code="invalid-glob", glob=text)


class _Parser:
    """Turns a glob into a regular expression, by descent; counts the slashes on the way."""

    def __init__(self, text: str, body: str) -> None:
        self._text = text
        self._body = body
        self._at = 0
        self.any_depth = False
        self.prefix = self._literal_start()

    def whole(self) -> tuple[str, int | None]:
        """Read everything; None where the slashes cannot be counted."""
        found = self._sequence("")
        if self._at < len(self._body):
            raise self._wrong(f"{self._body[self._at]!r} closes nothing")
        return found[0], None if self.any_depth else found[1]

    def _sequence(self, ends: str) -> tuple[str, int | None]:
        parts: list[str] = []
        slashes: int | None = 0
        while self._at < len(self._body) and self._body[self._at] not in (ends or ")}"):
            pattern, more = self._item()
            parts.append(pattern)
            slashes = None if slashes is None or more is None else slashes + more
        return "".join(parts), slashes

    def _item(self) -> tuple[str, int | None]:
        start = self._at
        character = self._body[start]
        self._at += 1
        match character:
            case "*":
                return self._stars(start)
            case "{":
                return self._alternatives(start)
            case "(":
                inner, slashes = self._sequence(")")
                self._close(")", start)
                return f"({inner})", slashes
            case "?" | "[":
                return _STEP if character == "?" else self._choice(start), 0
            case "\\":
                character = self._body[self._at : self._at + 1]
                if not character:
                    raise self._wrong("it ends with a backslash")
                self._at += 1
        return re.escape(character), int(character == "/")

    def _stars(self, start: int) -> tuple[str, int | None]:
        while self._body[self._at : self._at + 1] == "*":
            self._at += 1
        if self._at - start == 1:
            return f"{_STEP}*", 0
        self.any_depth = True
        at_step = start == 0 or self._body[start - 1] == "/"
        if at_step and self._body[self._at : self._at + 1] == "/":
            self._at += 1
            return "(?:.*/)?", 0
        return ".*", 0

    def _choice(self, start: int) -> str:
        stop = self._body.find("]", self._at + 1 + (self._body[self._at : self._at + 1] in "!^"))
        if stop < 0:
            raise self._wrong("[ has no ]", start)
        inner = self._body[self._at : stop]
        self._at = stop + 1
        sign, inner = ("^/", inner[1:]) if inner[:1] in ("!", "^") else ("", inner)
        # A slash may stand in a set, or inside of a range, and is still matched by no wildcard.
        return f"(?!/)[{sign}{self._members(inner, start)}]"

    def _members(self, inner: str, start: int) -> str:
        found = ""
        while inner:
            first, last = inner[0], inner[2:3] if inner[1:2] == "-" else ""
            if last and last < first:
                raise self._wrong(f"{inner[:3]} is no range of characters", start)
            found += re.escape(first) + (f"-{re.escape(last)}" if last else "")
            inner = inner[3 if last else 1 :]
        return found

    def _alternatives(self, start: int) -> tuple[str, int | None]:
        found: list[tuple[str, int | None]] = []
        while True:
            found.append(self._sequence(",}"))
            if self._body[self._at : self._at + 1] != ",":
                break
            self._at += 1
        self._close("}", start)
        counts = {slashes for _, slashes in found}
        pattern = "|".join(pattern for pattern, _ in found)
        return f"(?:{pattern})", counts.pop() if len(counts) == 1 else None

    def _close(self, bracket: str, start: int) -> None:
        if self._body[self._at : self._at + 1] != bracket:
            raise self._wrong(f"{self._body[start]} has no {bracket}", start)
        self._at += 1

    def _literal_start(self) -> str:
        for place, character in enumerate(self._body):
            if character in _PLAIN_ENDS:
                return self._body[:place]
        return self._body

    def _wrong(self, why: str, at: int | None = None) -> InvalidInput:
        place = (self._at if at is None else at) + len(self._text) - len(self._text.lstrip("/"))
        return _refused(self._text, f"{why}, at character {place + 1}")
