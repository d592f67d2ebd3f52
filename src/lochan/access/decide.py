# SPDX-License-Identifier: Apache-2.0
"""Whether policies allow an action on a resource: explicit deny wins, silence denies.

`*` stands for any letters, also slashes, `?` for any one. `${user}` in a resource is the caller's
name, letter for letter: a user called `*` is not everybody. A resource that begins with `[` is a
JSON list of resources.

A pattern becomes a regular expression of atomic groups, one a star: each piece is taken at the
first place where it fits and never tried again, which for wildcards finds a match if there is one.
So the work is at most (letters of the text) x (letters of the pattern), whatever they hold.

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

    __slots__ = ("_all", "_exact", "_patterns")

    def __init__(self, patterns: Sequence[str], user: str) -> None:
        self._all = ANY in patterns
        plain = {text for text in patterns if not any(mark in text for mark in ("*", "?", USER))}
        self._exact = frozenset(plain)
        rest = [text for text in dict.fromkeys(patterns) if text not in plain and text != ANY]
        self._patterns = tuple(matcher(text, user if USER in text else "") for text in rest)

    def hold(self, resource: str) -> bool:
        if self._all or resource in self._exact:
            return True
        return any(matches(resource) for matches in self._patterns)


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


def resources_of(resource: str) -> list[str]:
    """Give the resources that a statement names: one, or a JSON list of them."""
    if not resource.startswith("["):
        return [resource]
    try:
        return msgspec.json.decode(resource, type=list[str])
    except msgspec.DecodeError as error:
        message = f"the resource {resource[:80]!r} is not a JSON list of resources: {error}"
        raise InvalidInput(message, code="invalid-policy") from error
