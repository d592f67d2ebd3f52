# SPDX-License-Identifier: Apache-2.0
"""The typed tables of the partition `auth`; keys and records as docs/formats/access.md has them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from lochan.kv.read import scan_prefix
from lochan.kv.store import Store
from lochan.kv.table import Table
from lochan.model import access_codec as codec
from lochan.model import keys
from lochan.model.access import (
    Attachment,
    Credential,
    CredentialOwner,
    Group,
    Membership,
    Policy,
    Setup,
    User,
)
from lochan.model.ids import UniqueIdentifier

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Tables:
    """Everything that the partition holds."""

    users: Table[User]
    groups: Table[Group]
    policies: Table[Policy]
    user_groups: Table[Membership]
    group_users: Table[Membership]
    user_policies: Table[Attachment]
    group_policies: Table[Attachment]
    user_credentials: Table[Credential]
    credentials: Table[CredentialOwner]
    setup: Table[Setup]

    @classmethod
    def of(cls, store: Store) -> "Tables":
        """Bind the tables to a store."""
        attachment = codec.encode_attachment, codec.decode_attachment
        membership = codec.encode_membership, codec.decode_membership
        owner = codec.encode_credential_owner, codec.decode_credential_owner
        credential = codec.encode_credential, codec.decode_credential
        auth = keys.AUTH
        return cls(
            Table(store, auth, keys.USERS, codec.encode_user, codec.decode_user),
            Table(store, auth, keys.GROUPS, codec.encode_group, codec.decode_group),
            Table(store, auth, keys.POLICIES, codec.encode_policy, codec.decode_policy),
            Table(store, auth, keys.USER_GROUPS, *membership),
            Table(store, auth, keys.GROUP_USERS, *membership),
            Table(store, auth, keys.USER_POLICIES, *attachment),
            Table(store, auth, keys.GROUP_POLICIES, *attachment),
            Table(store, auth, keys.USER_CREDENTIALS, *credential),
            Table(store, auth, keys.CREDENTIALS, *owner),
            Table(store, auth, keys.SETUP, codec.encode_setup, codec.decode_setup),
        )


def scan_names(table: Table[T], prefix: str = "", after: str = "") -> Iterator[T]:
    """Give the records whose names begin with `prefix` and follow `after`, by name."""
    return _scan(table, table.prefix, prefix, after)


def scan_of(
    table: Table[T], owner: UniqueIdentifier, prefix: str = "", after: str = ""
) -> Iterator[T]:
    """Give what belongs to an owner, by name."""
    return _scan(table, table.prefix + keys.belonging_to(owner), prefix, after)


def _scan(table: Table[T], place: bytes, prefix: str, after: str) -> Iterator[T]:
    # A name that no text has is after or before nothing that is stored: half surrogates may pass.
    wanted = place + prefix.encode(errors="surrogatepass")
    start = place + after.encode(errors="surrogatepass") if after else b""
    for _, value in scan_prefix(table.store, table.partition, wanted, start):
        yield table.decode(value)
