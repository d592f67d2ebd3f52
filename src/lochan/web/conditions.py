# SPDX-License-Identifier: Apache-2.0
"""What `If-Match` and `If-None-Match` of a write demand of the object that is there."""

from typing import Final

import falcon

from lochan.errors import InvalidInput
from lochan.kernel.records import Record
from lochan.operations.conditions import Condition, if_absent, if_match, if_present

CONDITION_HEADERS: Final = {
    "If-None-Match": "Only * : write only where no object is.",
    "If-Match": "An entity tag, or * : write only over the object that has it, or over any.",
}
_ANY: Final = "*"


def condition_of(request: falcon.Request) -> Condition | None:
    """Give the condition of a write; None where it is made whatever is there.

    Raises: InvalidInput, code not-implemented, for If-None-Match with anything but a star.
    """
    absent, match = request.get_header("If-None-Match"), request.get_header("If-Match")
    if absent is not None and absent.strip() != _ANY:
        message = "a write takes If-None-Match with * alone; use If-Match to replace a version"
        raise InvalidInput(message, code="not-implemented")
    if match is None:
        return None if absent is None else if_absent
    present = _any_of(match)
    return present if absent is None else _both(if_absent, present)


def _any_of(header: str) -> Condition:
    tags = [tag.strip() for tag in header.split(",")]
    if _ANY in tags:
        return if_present
    wanted = [if_match(tag.strip('"')) for tag in tags]
    return lambda shown: any(met(shown) for met in wanted)


def _both(one: Condition, other: Condition) -> Condition:
    def met(shown: Record | None) -> bool:
        return one(shown) and other(shown)

    return met
