# SPDX-License-Identifier: Apache-2.0
"""Access keys of users: several each, shown once, sealed at rest.

made      1. iam/credentials/<key>        whose it is; set_if, so that a key has one owner
          2. iam/user_credentials/...     the sealed secret; from now on the key works
deleted   1. iam/user_credentials/... goes, and the key is dead
          2. the user's credentials epoch moves, and its logins are void
          3. iam/credentials/<key> goes; while it is there, a repeated call has work to do
"""

import base64
import re
from dataclasses import dataclass, field
from typing import Final

import msgspec

from lochan.access import kinds
from lochan.access.access import Access
from lochan.access.entities import check_entity, get_entity, update_entity
from lochan.access.keyring import NONCE_BYTES
from lochan.access.paging import DEFAULT_AMOUNT, Page, page_of
from lochan.access.rows import put_row, remove_row
from lochan.access.tables import scan_of
from lochan.errors import InvalidInput, NotFound, NotUnique
from lochan.kv.outcomes import begun, surely
from lochan.model.access import Credential, CredentialOwner, EntityState, User
from lochan.model.instant import Instant, from_seconds
from lochan.model.keys import belonging_to

_KEY_ID: Final = re.compile(r"[A-Za-z0-9_.-]{3,128}", re.ASCII)
_SECRET: Final = re.compile(r"[!-~]{8,128}", re.ASCII)


@dataclass(frozen=True, slots=True)
class IssuedCredential:
    """An access key with its secret, for the one who asked for it and nobody after."""

    access_key_id: str
    secret_access_key: str = field(repr=False)
    creation_date: Instant


def create_credentials(
    access: Access, user_name: str, *, access_key_id: str = "", secret_access_key: str = ""
) -> IssuedCredential:
    """Make an access key for a user; both halves may be given, else they are drawn.

    Raises: NotFound, NotUnique when the key is taken, InvalidInput, Conflict, Unavailable,
    UnknownOutcome.
    """
    user = get_entity(kinds.users(access), user_name)
    issued = draw_credential(access, access_key_id, secret_access_key)
    with access.changing():
        store_credential(access, user, sealed(access, issued))
    return issued


def draw_credential(
    access: Access, access_key_id: str = "", secret_access_key: str = ""
) -> IssuedCredential:
    """Draw an access key and its secret, or accept given ones. Raises InvalidInput."""
    if bool(access_key_id) != bool(secret_access_key):
        raise InvalidInput("give an access key id and its secret, or neither", code="invalid-key")
    random = access.environment.random_bytes
    key_id = access_key_id or "AKIA" + base64.b32encode(random(10)).decode()
    secret = secret_access_key or base64.b64encode(random(30)).decode()
    if not _KEY_ID.fullmatch(key_id):
        rule = "3 to 128 letters, digits, dots, hyphens and underscores"
        raise InvalidInput(f"this is not a valid access key id: {rule}", code="invalid-key")
    if not _SECRET.fullmatch(secret):
        rule = "8 to 128 printable ASCII characters without spaces"
        raise InvalidInput(f"this is not a valid secret access key: {rule}", code="invalid-key")
    return IssuedCredential(key_id, secret, from_seconds(access.environment.now()))


def sealed(access: Access, issued: IssuedCredential) -> Credential:
    """Make the record of an access key."""
    nonce = access.environment.random_bytes(NONCE_BYTES)
    return access.keys.seal(
        issued.access_key_id, issued.secret_access_key, nonce, issued.creation_date
    )


def store_credential(access: Access, user: User, credential: Credential) -> None:
    """Store a sealed credential; an equal one that is there already is fine.

    Raises: NotFound, NotUnique, Conflict, Unavailable, UnknownOutcome.
    """
    tables = access.tables
    key_id = credential.access_key_id
    owner = CredentialOwner(user.name, user.unique_identifier)
    place = belonging_to(user.unique_identifier, key_id)

    def check() -> None:
        check_entity(kinds.users(access), user)
        _check_free(access, key_id, owner, credential)

    put_row(tables.credentials, key_id.encode(), owner, check)
    with begun(f"creating access key {key_id!r}"):
        try:
            put_row(tables.user_credentials, place, credential, check)
        except NotFound:
            remove_row(tables.credentials, key_id.encode(), owner)
            raise


def get_credentials(access: Access, user_name: str, access_key_id: str) -> Credential:
    """Read an access key of a user. Raises NotFound."""
    user = get_entity(kinds.users(access), user_name)
    found = None
    if _is_key_id(access_key_id):
        place = belonging_to(user.unique_identifier, access_key_id)
        found = access.tables.user_credentials.find(place)
    if found is None:
        raise _not_found(user_name, access_key_id)
    return found.record


def list_user_credentials(
    access: Access,
    user_name: str,
    prefix: str = "",
    after: str = "",
    amount: int = DEFAULT_AMOUNT,
) -> Page[Credential]:
    """Give a page of a user's access keys by id. Raises NotFound."""
    user = get_entity(kinds.users(access), user_name)
    found = scan_of(access.tables.user_credentials, user.unique_identifier, prefix, after)
    return page_of(found, amount, lambda credential: credential.access_key_id)


def delete_credentials(access: Access, user_name: str, access_key_id: str) -> None:
    """Delete an access key; the user's logins end with it.

    After an error it may be repeated. Raises: NotFound, Conflict, Unavailable when nothing was
    changed, UnknownOutcome.
    """
    user = get_entity(kinds.users(access), user_name)
    owner = CredentialOwner(user.name, user.unique_identifier)
    name = access_key_id.encode(errors="replace")
    tables = access.tables
    found = tables.credentials.find(name) if _is_key_id(access_key_id) else None
    if found is None or found.record != owner:
        raise _not_found(user_name, access_key_id)
    place = belonging_to(user.unique_identifier, access_key_id)
    with access.changing():
        surely(lambda: tables.user_credentials.delete(place))
        with begun(f"deleting access key {access_key_id!r}"):
            _void_logins(access, user)
            remove_row(tables.credentials, name, owner)


def void_logins(access: Access, user_name: str) -> None:
    """End every login of a user; access keys stay.

    Raises: NotFound, Conflict, Unavailable, UnknownOutcome.
    """
    user = get_entity(kinds.users(access), user_name)
    with access.changing():
        _void_logins(access, user)


def _void_logins(access: Access, user: User) -> None:
    # A repeat after a lost answer may move it twice: all that counts is that it has moved.
    def moved(found: User) -> User:
        return msgspec.structs.replace(found, credentials_epoch=found.credentials_epoch + 1)

    update_entity(kinds.users(access), user, moved, access.environment)


def _check_free(
    access: Access, key_id: str, owner: CredentialOwner, credential: Credential
) -> None:
    """Refuse a key that somebody else has, or that this user has with another secret."""
    tables = access.tables
    found = tables.credentials.find(key_id.encode())
    if found is not None and found.record != owner:
        holder = tables.users.find(found.record.user.encode())
        alive = (
            holder is not None
            and holder.record.unique_identifier == found.record.user_unique_identifier
            and holder.record.state is EntityState.ACTIVE
        )
        if alive:
            raise _taken(key_id)
    stored = tables.user_credentials.find(belonging_to(owner.user_unique_identifier, key_id))
    if stored is not None and stored.record != credential:
        raise _taken(key_id)


def _taken(key_id: str) -> NotUnique:
    message = f"there is an access key {key_id!r} already; choose another or have one drawn"
    return NotUnique(message, code="access-key-already-exists")


def _is_key_id(text: str) -> bool:
    return _KEY_ID.fullmatch(text) is not None


def _not_found(user_name: str, access_key_id: str) -> NotFound:
    message = f"user {user_name!r} has no access key {access_key_id[:80]!r}"
    return NotFound(message, code="credentials-not-found")
