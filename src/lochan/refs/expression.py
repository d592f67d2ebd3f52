# SPDX-License-Identifier: Apache-2.0
"""How people name a commit: a base, and steps from it. Pure text; `resolve` finds the commit.

    expression = base modifier*
    base       = one or more characters, none of ~ ^ @ $ nor white space: a branch, a tag, a commit
                 id or its beginning, or the seed's commit number branch/n or branch.n
    modifier   = "~" [n]    n steps to the first parent; ~ is ~1, ~0 the commit itself
               | "^" [n]    to the n-th parent; ^ is ^1, ^0 the commit itself
               | "@"        of a branch: what is committed
               | "$"        of a branch: what is staged over it
    n          = decimal digits

`@` and `$` stand alone and take no number; that their base is a branch is seen when it is resolved.
These are lakeFS's rules. A slash is in no name, so it can only be the one of branch/n; a dot may be
in a tag (v1.2), so a base of the form branch.n is a number only where no tag has that name.
"""

import re
from enum import StrEnum
from typing import NamedTuple, NoReturn

from lochan.errors import InvalidInput
from lochan.model.ids import BranchName

# A longer walk than any history has; it also keeps numbers within what a record can hold.
MAX_STEPS = 2**31 - 1
_MAX_DIGITS = 10

_BASE = re.compile(r"[^~^@$\s]+", re.ASCII)
_MODIFIER = re.compile(r"([~^@$])([^~^@$]*)")
_DIGITS = re.compile(r"[0-9]+")
_SPACE = re.compile(r"\s", re.ASCII)
# A number has one spelling, so that a commit has one name of each form.
_NUMBERED = re.compile(r"(\w[-\w]*)[/.](0|[1-9][0-9]*)", re.ASCII)
_SHOWN = 80


class Sign(StrEnum):
    """What a modifier asks for."""

    ANCESTOR = "~"
    PARENT = "^"
    COMMITTED = "@"
    STAGED = "$"


VIEWS = frozenset({Sign.COMMITTED, Sign.STAGED})


class Modifier(NamedTuple):
    """One step; `number` means nothing for @ and $, and is 1 there."""

    sign: Sign
    number: int = 1

    def __str__(self) -> str:
        return self.sign if self.sign in VIEWS else f"{self.sign}{self.number}"


class Numbered(NamedTuple):
    """A commit by its branch and number there, counted from 0."""

    branch: BranchName
    number: int


class Expression(NamedTuple):
    """A parsed ref."""

    base: str
    modifiers: tuple[Modifier, ...] = ()

    def __str__(self) -> str:
        return self.base + "".join(map(str, self.modifiers))

    @property
    def view(self) -> Sign | None:
        """Give @ or $ if the expression ends in it."""
        last = self.modifiers[-1].sign if self.modifiers else None
        return last if last in VIEWS else None

    @property
    def numbered(self) -> Numbered | None:
        """Read the base as branch/n or branch.n, or give None if it has neither form."""
        match = _NUMBERED.fullmatch(self.base)
        if match is None or len(match[2]) > _MAX_DIGITS:
            return None
        return Numbered(BranchName(match[1]), int(match[2]))


def parse_expression(text: str) -> Expression:
    """Read a ref. Raises InvalidInput, which says at which character it goes wrong."""
    _check_characters(text)
    base = _BASE.match(text)
    if base is None:
        _refuse(text, 0, "it must begin with a branch, a tag or a commit")
    expression = Expression(
        base[0], tuple(_modifier(text, step) for step in _MODIFIER.finditer(text, base.end()))
    )
    slash = expression.base.find("/")
    if slash >= 0 and expression.numbered is None:
        _refuse(text, slash, "a slash stands between a branch and the number of a commit: main/7")
    if len(expression.modifiers) > 1:
        place = next((index for index, mark in enumerate(text) if mark in VIEWS), None)
        if place is not None:
            _refuse(text, place, f"{text[place]} goes with no other modifier")
    return expression


def _check_characters(text: str) -> None:
    if space := _SPACE.search(text):
        _refuse(text, space.start(), "white space is not allowed")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        _refuse(text, error.start, "half of a surrogate pair is not a character")


def _modifier(text: str, step: re.Match[str]) -> Modifier:
    sign, digits = Sign(step[1]), step[2]
    if not digits:
        return Modifier(sign)
    if sign in VIEWS:
        _refuse(text, step.start(2), f"{sign} takes no number")
    if not _DIGITS.fullmatch(digits):
        _refuse(text, step.start(2), f"{sign} is followed by a number or by nothing")
    if len(digits) > _MAX_DIGITS or int(digits) > MAX_STEPS:
        _refuse(text, step.start(2), f"at most {MAX_STEPS} steps")
    return Modifier(sign, int(digits))


def _refuse(text: str, position: int, rule: str) -> NoReturn:
    shown = repr(text[:_SHOWN]) + "..." * (len(text) > _SHOWN)
    message = f"{shown} is not a valid ref, at character {position}: {rule}"
    raise InvalidInput(message, code="invalid-ref", value=text, position=position)
