# SPDX-License-Identifier: Apache-2.0
"""What the key-value store holds about users, groups, policies and credentials (seed 004, IAM).

A name is a label that people choose; what a thing *is* is its `unique_identifier`, drawn anew each
time. Whatever refers to another thing holds both, and counts only while the thing of that name has
that identifier: a user who is deleted and made again inherits nothing (reliability S33).

`unknown` keeps the fields of a newer program, as in `records`.
"""

from enum import IntEnum
from typing import NamedTuple

import msgspec

from lochan.errors import InvalidInput
from lochan.model.ids import UniqueIdentifier
from lochan.model.instant import EPOCH, Instant

MAX_NAME_BYTES = 512
_FIRST_PRINTABLE = " "
_DELETE = "\x7f"


class EntityState(IntEnum):
    """What is being deleted grants nothing, and nobody sees it."""

    ACTIVE = 0
    DELETING = 1


class SetupState(IntEnum):
    """A set-up is decided when it starts; what it makes is there when it is finished."""

    STARTED = 0
    FINISHED = 1


class Entity(msgspec.Struct, frozen=True, kw_only=True):
    """What users, groups and policies have in common."""

    name: str
    unique_identifier: UniqueIdentifier
    creation_date: Instant = EPOCH
    state: EntityState = EntityState.ACTIVE
    unknown: bytes = b""


class User(Entity, frozen=True, kw_only=True):
    """Somebody who may have credentials; tokens of an earlier `credentials_epoch` are void."""

    friendly_name: str = ""
    email: str = ""
    credentials_epoch: int = 0


class Group(Entity, frozen=True, kw_only=True):
    """Users who have policies in common."""

    description: str = ""


class Statement(msgspec.Struct, frozen=True):
    """Actions allowed or denied on a resource; `*` and `?` stand for any letters, or for one."""

    effect: str
    action: tuple[str, ...]
    resource: str


class Policy(Entity, frozen=True, kw_only=True):
    """Statements under one name, to be attached to users and groups."""

    statement: tuple[Statement, ...] = ()


class Credential(msgspec.Struct, frozen=True, kw_only=True):
    """An access key, its secret sealed with the master key that `master_key` names."""

    access_key_id: str
    sealed_secret: bytes
    nonce: bytes
    master_key: str
    creation_date: Instant = EPOCH
    unknown: bytes = b""

    def __repr__(self) -> str:
        """Show the key's name alone: sealed bytes have no place in logs either."""
        return f"Credential(access_key_id={self.access_key_id!r})"


class CredentialOwner(NamedTuple):
    """Whose an access key is."""

    user: str
    user_unique_identifier: UniqueIdentifier


class Membership(NamedTuple):
    """A user's place in a group; the same in both directions."""

    user: str
    user_unique_identifier: UniqueIdentifier
    group: str
    group_unique_identifier: UniqueIdentifier


class Attachment(NamedTuple):
    """A policy of a user or of a group; the key says whose."""

    policy: str
    policy_unique_identifier: UniqueIdentifier


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """Who set the lake up; `credential` is there until the set-up is finished."""

    user: str
    user_unique_identifier: UniqueIdentifier
    creation_date: Instant = EPOCH
    state: SetupState = SetupState.STARTED
    credential: Credential | None = None
    unknown: bytes = b""


def valid_name(kind: str, text: str) -> str:
    """Accept the name of a user, group or policy: printable text of 1 to 512 bytes.

    A slash is allowed: a name is always the last part of a key.
    """
    rule = f"1 to {MAX_NAME_BYTES} bytes of printable text, no white space at either end"
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        message = f"the {kind} name holds half of a surrogate pair at character {error.start}"
        raise InvalidInput(message, code=f"invalid-{kind}-name") from error
    controls = any(letter < _FIRST_PRINTABLE or letter == _DELETE for letter in text)
    if not 1 <= size <= MAX_NAME_BYTES or controls or text != text.strip():
        message = f"{text[:80]!r} is not a valid {kind} name: {rule}"
        raise InvalidInput(message, code=f"invalid-{kind}-name")
    return text
