# SPDX-License-Identifier: Apache-2.0
"""Who has this access key and secret.

An unknown key, a key whose user is gone and a wrong secret give one error (S7). They also do the
same work: three reads, one secret opened, one comparison in constant time; where there is nothing
to read or open, a decoy takes its place. What was read is remembered for a second, of unknown keys
too. Policies are read only for who has shown the right secret.
"""

import hmac
from typing import Final

from lochan.access.access import Access, KnownKey
from lochan.access.effective import find_principal
from lochan.access.principal import Principal
from lochan.errors import Unauthenticated
from lochan.model.access import CredentialOwner, EntityState
from lochan.model.ids import UniqueIdentifier
from lochan.model.keys import belonging_to

LONGEST_KEY_ID: Final = 128
_NOBODY: Final = CredentialOwner("\0", UniqueIdentifier("0" * 32))  # no name holds a control letter


def authenticate(access: Access, access_key_id: str, secret_access_key: str) -> Principal:
    """Give the user of an access key, if the secret is the right one.

    Raises: Unauthenticated, Unavailable.
    """
    known = known_key(access, access_key_id)
    given = secret_access_key.encode(errors="surrogatepass")
    right = hmac.compare_digest(known.secret, given)
    if not right or known.unique_identifier is None:
        raise unauthenticated()
    principal = find_principal(access, (known.user, known.unique_identifier))
    if principal is None:
        raise unauthenticated()
    return principal


def recall_user(access: Access, access_key_id: str, secret_access_key: str) -> Principal | None:
    """Give what `authenticate` would, if it is remembered; None says nothing, and nothing waits."""
    known = access.known_keys.recall(access_key_id)
    if known is None or known.unique_identifier is None:
        return None
    given = secret_access_key.encode(errors="surrogatepass")
    if not hmac.compare_digest(known.secret, given):
        return None
    return access.principals.recall((known.user, known.unique_identifier))


def known_key(access: Access, access_key_id: str) -> KnownKey:
    """Give a key's secret and whose it is, for who verifies a signature; nobody's gets a decoy."""
    if len(access_key_id) > LONGEST_KEY_ID or not access_key_id.isascii():
        access_key_id = "-"  # no key is called so, and it is looked for like any other
    return access.known_keys.get(access_key_id, lambda asked: _read(access, asked))


def unauthenticated() -> Unauthenticated:
    """Make the one error for whoever cannot show who they are."""
    return Unauthenticated("the access key or its secret is not valid; check both, or log in again")


def _read(access: Access, access_key_id: str) -> KnownKey:
    tables = access.tables
    owner = tables.credentials.find(access_key_id.encode())
    name, unique_identifier = owner.record if owner else _NOBODY
    user = tables.users.find(name.encode())
    credential = tables.user_credentials.find(belonging_to(unique_identifier, access_key_id))
    secret = access.keys.unseal(credential.record if credential else access.decoy).encode()
    if (
        owner is None
        or credential is None
        or user is None
        or user.record.unique_identifier != unique_identifier
        or user.record.state is not EntityState.ACTIVE
    ):
        return KnownKey(secret, "", None)
    return KnownKey(secret, name, unique_identifier)
