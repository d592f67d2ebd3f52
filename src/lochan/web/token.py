# SPDX-License-Identifier: Apache-2.0
"""OAuth 2's client credentials (RFC 6749, 4.4): a token for an access key, as in a login.

    POST /oauth2/token    grant_type=client_credentials&client_id=<key>&client_secret=<secret>

The form's client is an access key, its secret that key's. So clients that know nothing of Lochan,
such as Hadoop's, get the lake's own tokens and send them as Bearer. Errors have the RFC's form.
"""

from typing import Final

import falcon
from falcon.util.uri import parse_query_string

from lochan.access.login import login, verify_login
from lochan.errors import InvalidInput, Unauthenticated
from lochan.web.body import read_whole
from lochan.web.call import Call
from lochan.web.errors import failure, status_of
from lochan.web.needs import ANYBODY
from lochan.web.reply import Reply
from lochan.web.route import OCTETS, Routes
from lochan.web.services import Services

ROUTES = Routes("auth")

_MOST: Final = 4096  # bytes of a form
_PRIVATE: Final = {"cache-control": "no-store", "pragma": "no-cache"}


@ROUTES.post("/oauth2/token", needs=ANYBODY, body=OCTETS, answers={200: OCTETS})
def issue_token(call: Call) -> Reply:
    """Give a token for an access key and its secret."""
    form = _form(call)
    if form.get("grant_type") != "client_credentials":
        message = "the grant_type here is client_credentials; send client_id and client_secret"
        raise InvalidInput(message, code="unsupported_grant_type")
    key, secret = form.get("client_id", ""), form.get("client_secret", "")
    if not key or not secret:
        raise InvalidInput("client_id and client_secret are needed", code="invalid_request")
    lasts_s = int(call.services.settings.auth.login_seconds)
    issued = login(call.services.access, key, secret, lasts_s=lasts_s)
    who = verify_login(call.services.access, issued.token).user
    call.services.audit.record(who, "login", key, "allowed", address=call.address)
    told = {"access_token": issued.token, "token_type": "Bearer", "expires_in": lasts_s}
    return Reply(told, headers=_PRIVATE)


def token_failure(services: Services, request: falcon.Request, error: Exception) -> Reply:
    """Answer for what went wrong, in the form of RFC 6749, 5.2."""
    if not isinstance(error, InvalidInput | Unauthenticated):
        return failure(services, request, error)
    name = "invalid_client" if isinstance(error, Unauthenticated) else error.code
    told = {"error": name, "error_description": error.message}
    return Reply(told, status_of(error), _PRIVATE)


def _form(call: Call) -> dict[str, str]:
    services = call.services
    limit_s = services.settings.limits.body_seconds
    data = read_whole(call.stream, _MOST, limit_s, services.lake.environment.monotonic)
    try:
        text = data.decode() if len(data) <= _MOST else ""
    except UnicodeDecodeError as error:
        raise InvalidInput("the form is no UTF-8", code="invalid_request") from error
    found = parse_query_string(text, csv=False)
    return {name: value for name, value in found.items() if isinstance(value, str)}
