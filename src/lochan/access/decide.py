# SPDX-License-Identifier: Apache-2.0
"""Whether policies allow an action on a resource: explicit deny wins, silence denies.

`*` stands for any letters, also slashes, `?` for any one. `${user}` in a resource is the caller's
name, letter for letter: a user called `*` is not everybody. A resource that begins with `[` is a
JSON list of resources.

A pattern becomes a regular expression of atomic groups, one a star: each piece is taken at the
first place where it fits and never tried again, which for wildcards finds a match if there is one.
So the work is at most (letters of the text) x (letters of the pattern), whatever they hold.

Who acts on a whole folder at once may not know what lies in it. Then all names that begin like it
are asked about together: something must allow every one of them, and nothing may deny any.

Rules are built once for the statements of a user, and what they say of an action is kept: the set
of actions is small, resources are endless.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final

import msgspec

from lochan.access.arn import ANY
from lochan.errors import InvalidInput
from lochan.model.access import Policy, Statement

ALLOW: Final = "allow"
DENY: Final = "deny"
USER: Final = "${user}"

_KEPT_ACTIONS: Final = 512  # more than there are; a bound in case that somebody asks for others
_KEPT_PATTERNS: Final = 4096
_KEPT_RULES: Final = 1024

Matches = Callable[[str], object]


def decide(policies: Iterable[Policy], action: str, resource: str, user: str) -> bool:
    """Say whether a user with these policies may do this to that."""
    return rules(statements_of(policies), user).allow(action, resource)


def statements_of(policies: Iterable[Policy]) -> tuple[Statement, ...]:
    """Give the statements of policies; their order does not matter to a decision."""
    return tuple(chain.from_iterable(policy.statement for policy in policies))


class _Resources:
    """What the statements of one effect that speak of one action say about resources."""

    __slots__ = ("_all", "_exact", "_patterns", "_texts", "_user")

    def __init__(self, patterns: Sequence[str], user: str) -> None:
        self._texts = tuple(dict.fromkeys(patterns))
        self._user = user
        self._all = ANY in patterns
        plain = {text for text in patterns if not any(mark in text for mark in ("*", "?", USER))}
        self._exact = frozenset(plain)
        rest = [text for text in dict.fromkeys(patterns) if text not in plain and text != ANY]
        self._patterns = tuple(matcher(text, user if USER in text else "") for text in rest)

    def hold(self, resource: str) -> bool:
        if self._all or resource in self._exact:
            return True
        if not self._patterns:
            return False
        return any(matches(resource) for matches in self._patterns)

    def hold_all(self, beginning: str) -> bool:
        """Say whether one of them holds whatever begins so: it ends with a star, and holds that."""
        ours = (text for text in self._texts if text.endswith("*"))
        return any(matcher(text, self._user if USER in text else "")(beginning) for text in ours)

    def hold_any(self, beginning: str) -> bool:
        """Say whether one of them holds anything that begins so."""
        return any(fits_beginning(text, self._user, beginning) for text in self._texts)


class Rules:
    """Statements made ready for the questions of one user."""

    __slots__ = ("_by_action", "_statements", "_user")

    def __init__(self, statements: tuple[Statement, ...], user: str) -> None:
        """Answer for `user`."""
        self._statements = statements
        self._user = user
        self._by_action: dict[str, tuple[_Resources, _Resources]] = {}

    def allow(self, action: str, resource: str) -> bool:
        """Say whether something allows this, and nothing denies it."""
        found = self._by_action.get(action)
        if found is None:
            found = self._speaking_of(action)
        denied, allowed = found
        return allowed.hold(resource) and not denied.hold(resource)

    def allow_below(self, action: str, beginning: str) -> bool:
        """Say whether something allows this on all names that begin so, and nothing denies any."""
        denied, allowed = self._by_action.get(action) or self._speaking_of(action)
        return allowed.hold_all(beginning) and not denied.hold_any(beginning)

    def _speaking_of(self, action: str) -> tuple[_Resources, _Resources]:
        said: dict[str, list[str]] = {ALLOW: [], DENY: []}
        for statement in self._statements:
            if any(matcher(pattern, "")(action) for pattern in statement.action):
                # Whatever is not plainly an allowance denies: damage must not open doors.
                effect = ALLOW if statement.effect == ALLOW else DENY
                said[effect] += resources_of(statement.resource)
        found = _Resources(said[DENY], self._user), _Resources(said[ALLOW], self._user)
        if len(self._by_action) < _KEPT_ACTIONS:
            self._by_action[action] = found
        return found


@lru_cache(_KEPT_RULES)
def rules(statements: tuple[Statement, ...], user: str) -> Rules:
    """Make statements ready for a user; equal ones are made ready once."""
    return Rules(statements, user)


@lru_cache(_KEPT_PATTERNS)
def matcher(pattern: str, user: str) -> Matches:
    """Compile a pattern; `user` is what `${user}` stands for."""
    first, *others = (_piece(piece, user) for piece in pattern.split("*"))
    if not others:
        return re.compile(first, re.DOTALL).fullmatch
    *middle, last = others
    found_once = "".join(f"(?>.*?{piece})" for piece in middle if piece)
    return re.compile(f"{first}{found_once}.*{last}", re.DOTALL).fullmatch


def _piece(text: str, user: str) -> str:
    """Write what lies between two stars as a regular expression."""
    name = re.escape(user)
    return name.join(re.escape(part).replace(r"\?", ".") for part in text.split(USER))


def fits_beginning(pattern: str, user: str, beginning: str) -> bool:
    """Say whether a pattern matches any text that begins so.

    All places of the pattern are kept that reading the beginning can lead to; from each of them the
    rest of the pattern is a text that goes on.
    """
    wanted = _marks(pattern, user)
    places = _on_from(wanted, {0})
    for letter in beginning:
        met = {place for place in places if wanted[place] in {"*", "?", f"={letter}"}}
        stay = {place for place in met if wanted[place] == "*"}
        places = _on_from(wanted, stay | {place + 1 for place in met - stay})
    return bool(places)


def _marks(pattern: str, user: str) -> list[str]:
    """Cut a pattern into wildcards and letters, which have a sign before them; then its end."""
    name = [f"={letter}" for letter in user]
    found: list[str] = []
    for number, part in enumerate(pattern.split(USER)):
        found += name if number else []
        found += [letter if letter in "*?" else f"={letter}" for letter in part]
    return [*found, "end"]


def _on_from(wanted: Sequence[str], places: set[int]) -> set[int]:
    """Add the places that are reached by a star that stands for nothing."""
    found = set(places)
    for place in sorted(places):
        while wanted[place] == "*":
            place += 1  # noqa: PLW2901 - the walk begins there
            found.add(place)
    return found


def resources_of(resource: str) -> list[str]:
    """Give the resources that a statement names: one, or a JSON list of them."""
    if not resource.startswith("["):
        return [resource]
    try:
        return msgspec.json.decode(resource, type=list[str])
    except msgspec.DecodeError as error:
        message = f"the resource {resource[:80]!r} is not a JSON list of resources: {error}"
        raise InvalidInput(message, code="invalid-policy") from error
