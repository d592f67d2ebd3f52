# SPDX-License-Identifier: Apache-2.0
"""Policies: made, read, changed, listed, deleted; and the rules for what one may say.

A policy that nobody could have meant is refused when it is stored, so that a decision never meets
one: an unknown effect or service, a resource that is neither `*` nor a lakeFS resource name.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from lochan.access import kinds
from lochan.access.access import Access
from lochan.access.actions import is_action_pattern
from lochan.access.arn import ANY, PREFIX
from lochan.access.decide import ALLOW, DENY, resources_of
from lochan.access.entities import (
    create_entity,
    delete_entity,
    get_entity,
    list_entities,
    update_entity,
)
from lochan.access.paging import DEFAULT_AMOUNT, Page, page_of
from lochan.errors import InvalidInput
from lochan.model.access import Policy, Statement, valid_name
from lochan.model.ids import UniqueIdentifier
from lochan.model.instant import from_seconds

MOST_STATEMENTS: Final = 100
MOST_PATTERNS: Final = 200  # actions, or resources, of one statement
LONGEST_PATTERN: Final = 2048


def create_policy(access: Access, name: str, statement: Sequence[Statement]) -> Policy:
    """Make a policy. Raises: NotUnique, InvalidInput, Unavailable, UnknownOutcome."""
    wanted = Policy(
        name=valid_name("policy", name),
        unique_identifier=UniqueIdentifier(access.environment.new_id()),
        creation_date=from_seconds(access.environment.now()),
        statement=valid_statements(statement),
    )
    with access.changing():
        return create_entity(kinds.policies(access), wanted)


def get_policy(access: Access, name: str) -> Policy:
    """Read a policy. Raises NotFound."""
    return get_entity(kinds.policies(access), name)


def update_policy(access: Access, name: str, statement: Sequence[Statement]) -> Policy:
    """Replace what a policy says; it stays attached where it is.

    Raises: NotFound, InvalidInput, Conflict, Unavailable, UnknownOutcome.
    """
    kind = kinds.policies(access)
    said = valid_statements(statement)
    known = get_entity(kind, name)

    def changed(policy: Policy) -> Policy:
        return msgspec.structs.replace(policy, statement=said)

    with access.changing():
        return update_entity(kind, known, changed, access.environment)


def list_policies(
    access: Access, prefix: str = "", after: str = "", amount: int = DEFAULT_AMOUNT
) -> Page[Policy]:
    """Give a page of policies by name."""
    found = list_entities(kinds.policies(access), prefix, after)
    return page_of(found, amount, lambda policy: policy.name)


def delete_policy(access: Access, name: str) -> None:
    """Delete a policy, wherever it is attached.

    After an error it may be repeated. Raises: NotFound, Unavailable when nothing was changed,
    UnknownOutcome.
    """
    with access.changing():
        delete_entity(kinds.policies(access), name)


def valid_statements(statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """Accept what a policy says. Raises InvalidInput, naming the statement by its number."""
    if not 1 <= len(statements) <= MOST_STATEMENTS:
        _refuse(f"it has {len(statements)} statements, not 1 to {MOST_STATEMENTS}")
    for number, statement in enumerate(statements, 1):
        _check(statement, f"statement {number}")
    return tuple(statements)


def _check(statement: Statement, which: str) -> None:
    if statement.effect not in {ALLOW, DENY}:
        _refuse(f"{which} has effect {statement.effect!r}, not allow or deny")
    resources = resources_of(statement.resource)
    for kind, texts in (("actions", statement.action), ("resources", resources)):
        if not 1 <= len(texts) <= MOST_PATTERNS:
            _refuse(f"{which} has {len(texts)} {kind}, not 1 to {MOST_PATTERNS}")
        if any(len(text) > LONGEST_PATTERN for text in texts):
            _refuse(f"{which} has one of its {kind} longer than {LONGEST_PATTERN} characters")
    for action in statement.action:
        if not is_action_pattern(action):
            _refuse(f"{which} has action {action[:80]!r}; it takes service:Verb, or wildcards")
    for resource in resources:
        if resource != ANY and not resource.startswith(PREFIX):
            _refuse(f"{which} has resource {resource[:80]!r}; it takes * or arn:lakefs:...")


def _refuse(reason: str) -> None:
    raise InvalidInput(f"the policy is not valid: {reason}", code="invalid-policy")
