# SPDX-License-Identifier: Apache-2.0
"""What a server looks at before it starts: every route asks for something that can be asked (S16).

A misspelt action would refuse everybody, a misspelt name in a resource would break every request,
and no permission at all would let everybody in who signs in. None of them is served.
"""

import re
from collections.abc import Iterable
from string import Formatter
from typing import Final

import msgspec

from lochan.access.actions import ACTIONS
from lochan.errors import Internal
from lochan.web.needs import Each, Every, Need, Open, names_of
from lochan.web.route import Content, Route

_FIELD: Final = re.compile(r"\{\w+\}")


def check_routes(routes: Iterable[Route]) -> None:
    """Refuse routes whose permission is missing or cannot be asked for. Raises Internal."""
    seen: set[tuple[str, str]] = set()
    for route in routes:
        where = f"{route.method} {route.path}"
        address = route.method, _FIELD.sub("{}", route.path)
        if address in seen:
            raise Internal(f"two routes for {where}")
        seen.add(address)
        if not isinstance(route.needs, Open | Need | Every | Each):
            raise Internal(f"{where} declares no permission")
        if not isinstance(route.needs, Open) and not names_of(route.needs):
            raise Internal(f"{where} declares an empty list of permissions")
        for action, resource in names_of(route.needs):
            if action not in ACTIONS:
                raise Internal(f"{where} asks for {action!r}, which no policy can name")
            if not isinstance(route.needs, Each) and (unknown := _names(resource) - _known(route)):
                raise Internal(f"{where} has no {sorted(unknown)} for {resource}")


def _names(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


def _known(route: Route) -> set[str]:
    found = _names(route.path)
    if route.query is not None:
        found.update(route.query.__struct_fields__)
    if not isinstance(route.body, Content) and issubclass(route.body, msgspec.Struct):
        found.update(f"body.{name}" for name in route.body.__struct_fields__)
    return found
