# SPDX-License-Identifier: Apache-2.0
"""The claims of a token that one of our keys signed: what logins and jobs' tokens share (S14).

The algorithm is ours to choose, never the token's; the header only names the key; every claim that
a kind of token has is required. Times are left to the caller: they are compared with the
Environment's clock, so the library's own checks of them are off.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import jwt

from lochan.access.access import Access

ALGORITHM: Final = "HS256"
ISSUER: Final = "auth"


def signed_claims(
    access: Access, token: str, *, audience: str, required: Sequence[str]
) -> Mapping[str, Any] | None:
    """Give the claims of a token for this audience; None for one that does not count."""
    try:
        key = access.keys.verifying_key(str(jwt.get_unverified_header(token).get("kid", "")))
        if key is None:
            return None
        found: Mapping[str, Any] = jwt.decode(
            token,
            key,
            algorithms=[ALGORITHM],
            audience=audience,
            issuer=ISSUER,
            options={"require": list(required), "verify_exp": False, "verify_iat": False},
        )
    except (jwt.InvalidTokenError, ValueError, TypeError):
        return None
    return found
