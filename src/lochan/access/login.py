# SPDX-License-Identifier: Apache-2.0
"""Logins: an access key and its secret, once, for a token that stands for them a while (S12, S14).

A token is a JWT (`signed_claims`). It is void when it has expired, when its user is gone, and when
the user's credentials epoch has moved since.
"""

from dataclasses import dataclass, field
from typing import Final

import jwt

from lochan.access.access import Access, KnownLogin
from lochan.access.authenticate import authenticate
from lochan.access.effective import find_principal
from lochan.access.principal import Principal
from lochan.access.signed_claims import ALGORITHM, ISSUER, signed_claims
from lochan.errors import InvalidInput, Unauthenticated
from lochan.model.ids import UniqueIdentifier

AUDIENCE: Final = "login"
LASTS_S: Final = 7 * 24 * 3600
LONGEST_S: Final = 14 * 24 * 3600
_CLOCKS_DIFFER_S: Final = 60  # another server's clock may be ahead of ours
_LONGEST_TOKEN: Final = 4096
_REQUIRED: Final = ("jti", "iss", "aud", "sub", "uid", "epoch", "iat", "exp")


@dataclass(frozen=True, slots=True)
class Login:
    """A token, and when it expires, in seconds since 1970."""

    token: str = field(repr=False)
    token_expiration: int


def login(
    access: Access, access_key_id: str, secret_access_key: str, *, lasts_s: int = LASTS_S
) -> Login:
    """Log in by an access key and its secret.

    Raises: Unauthenticated, Throttled, Unavailable.
    """
    access.limit.take(access_key_id[:256])
    principal = authenticate(access, access_key_id, secret_access_key)
    access.limit.give_back(access_key_id[:256])
    return issue_login(access, principal, lasts_s=lasts_s)


def issue_login(access: Access, principal: Principal, *, lasts_s: int = LASTS_S) -> Login:
    """Make a token for somebody who has shown who they are."""
    if not 0 < lasts_s <= LONGEST_S:
        raise InvalidInput(f"a login lasts up to {LONGEST_S} s, not {lasts_s}")
    issued = int(access.environment.now())
    claims = {
        "jti": access.environment.new_id(),
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": principal.user,
        "uid": principal.unique_identifier,
        "epoch": principal.credentials_epoch,
        "iat": issued,
        "exp": issued + lasts_s,
    }
    headers = {"kid": access.keys.current}
    token = jwt.encode(claims, access.keys.signing_key(), algorithm=ALGORITHM, headers=headers)
    return Login(token, issued + lasts_s)


def verify_login(access: Access, token: str) -> Principal:
    """Give the user whose login this is.

    Raises: Unauthenticated, Unavailable.
    """
    if len(token) > _LONGEST_TOKEN:
        raise _void()
    known = access.known_logins.get(token, lambda asked: _checked(access, asked))
    now = access.environment.now()
    if not known.issued - _CLOCKS_DIFFER_S <= now < known.expires:
        raise _void()
    principal = find_principal(access, (known.user, known.unique_identifier))
    if principal is None or principal.credentials_epoch != known.credentials_epoch:
        raise _void()
    return principal


def _checked(access: Access, token: str) -> KnownLogin:
    """Check what can never change about a token: its signature and its claims."""
    claims = signed_claims(access, token, audience=AUDIENCE, required=_REQUIRED)
    if claims is None:
        raise _void()
    try:
        known = KnownLogin(
            claims["sub"],
            UniqueIdentifier(str(claims["uid"])),
            int(claims["epoch"]),
            float(claims["iat"]),
            float(claims["exp"]),
        )
    except (ValueError, TypeError) as error:
        raise _void() from error
    if known.expires - known.issued > LONGEST_S:
        raise _void()
    return known


def _void() -> Unauthenticated:
    return Unauthenticated("the login is not valid any more; log in again", code="login-not-valid")
