# SPDX-License-Identifier: Apache-2.0
"""Who asks: by a login's or a job's token, by an access key, or by the cookie of a browser.

    Authorization: Bearer <token>
    Authorization: Basic <access key id:secret>
    Cookie: internal_auth_session=<token>

The first that is there counts; a wrong one is refused, never passed over for the next. A browser
sends its cookie whoever made it ask, so a request by cookie that changes something must come from
our own pages: its Origin is this server (S13).

An embedded lake's transport says by itself who asks, under PRINCIPAL: no header of a request can
get there.
"""

from base64 import b64decode
from functools import lru_cache
from typing import Final

import falcon

from lochan.access.authenticate import authenticate
from lochan.access.job_token import is_job_token
from lochan.access.login import verify_login
from lochan.access.principal import Principal
from lochan.errors import PermissionDenied, Unauthenticated
from lochan.web.job_principal import job_principal
from lochan.web.services import Services

COOKIE: Final = "internal_auth_session"
PRINCIPAL: Final = "lochan.principal"
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})


def authenticated(services: Services, request: falcon.Request) -> Principal | None:
    """Give who asks; None for somebody who shows nothing.

    Raises: Unauthenticated for credentials that are wrong, PermissionDenied for a request that
    another site made a browser send.
    """
    said = request.env.get("HTTP_AUTHORIZATION")
    if said is not None:
        return _authorized(services, said)
    inside: Principal | None = request.env.get(PRINCIPAL)
    if inside is not None:
        return inside
    if "HTTP_COOKIE" not in request.env:
        return None
    cookie = request.cookies.get(COOKIE)
    if not cookie:
        return None
    principal = verify_login(services.access, cookie)
    if request.method not in _SAFE:
        _require_own_origin(services, request)
    return principal


def _authorized(services: Services, said: str) -> Principal:
    scheme, _, value = said.partition(" ")
    match scheme.lower():
        case "basic":
            return authenticate(services.access, *_pair(value))
        case "bearer":
            token = value.strip()
            if is_job_token(token):
                return job_principal(services, token)
            return verify_login(services.access, token)
    raise Unauthenticated(f"the Authorization scheme {scheme[:20]!r} is not known here")


def key_and_secret(authorization: str | None) -> tuple[str, str] | None:
    """Read a Basic header; None for any other, or none. Raises Unauthenticated."""
    if authorization is None or authorization[:6].lower() != "basic ":
        return None
    return _pair(authorization[6:])


@lru_cache(1024)  # a client sends the same header again and again
def _pair(value: str) -> tuple[str, str]:
    try:
        key, colon, secret = b64decode(value, validate=True).decode().partition(":")
    except ValueError as error:
        raise Unauthenticated("the Authorization header is no Basic one") from error
    if not colon:
        raise Unauthenticated("the Authorization header has no colon between key and secret")
    return key, secret


def _require_own_origin(services: Services, request: falcon.Request) -> None:
    origin = request.get_header("origin")
    own = services.settings.public_url or f"{request.scheme}://{request.netloc}"
    if origin is None or origin.rstrip("/") != own.rstrip("/"):
        raise PermissionDenied(
            "a request with a cookie must come from this server's own pages; send an access key",
            code="foreign-origin",
        )
