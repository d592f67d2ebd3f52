# SPDX-License-Identifier: Apache-2.0
"""Set-up, once, and logging in and out."""

from lochan.access import setup as first
from lochan.access.login import Login, verify_login
from lochan.access.login import login as log_in
from lochan.model.instant import to_seconds
from lochan.shapes.access import AuthenticationToken, CredentialsWithSecret, LoginInformation
from lochan.shapes.setup import AuthCapabilities, LoginConfig, Setup, SetupState
from lochan.web.api.shown_access import addressable
from lochan.web.authenticate import COOKIE
from lochan.web.call import Call
from lochan.web.needs import ANYBODY
from lochan.web.reply import Reply
from lochan.web.route import NOTHING, Routes

ROUTES = Routes("auth")


@ROUTES.get("/setup_lakefs", needs=ANYBODY, answers={200: SetupState})
def get_setup_state(call: Call) -> SetupState:
    """Say whether there is a first user."""
    done = first.is_set_up(call.services.access)
    return SetupState(
        state="initialized" if done else "not_initialized",
        comm_prefs_missing=False,
        login_config=LoginConfig(
            login_url="/auth/login", login_cookie_names=[COOKIE], logout_url="/logout"
        ),
    )


@ROUTES.post("/setup_lakefs", needs=ANYBODY, body=Setup, answers={200: CredentialsWithSecret})
def setup(call: Call) -> CredentialsWithSecret:
    """Make the first user, who may do everything; this works once."""
    told = call.told(Setup)
    issued = first.setup(
        call.services.access,
        addressable("user", told.username),
        access_key_id=told.key.access_key_id if told.key else "",
        secret_access_key=told.key.secret_access_key if told.key else "",
    )
    call.services.audit.record(told.username, "setup", "*", "allowed", address=call.address)
    return CredentialsWithSecret(
        access_key_id=issued.access_key_id,
        secret_access_key=issued.secret_access_key,
        creation_date=to_seconds(issued.creation_date),
    )


@ROUTES.post(
    "/auth/login", needs=ANYBODY, body=LoginInformation, answers={200: AuthenticationToken}
)
def login(call: Call) -> Reply:
    """Give a token for an access key and its secret; browsers get it as a cookie, too."""
    told = call.told(LoginInformation)
    lasts_s = int(call.services.settings.auth.login_seconds)
    issued = log_in(
        call.services.access, told.access_key_id, told.secret_access_key, lasts_s=lasts_s
    )
    who = verify_login(call.services.access, issued.token).user
    call.services.audit.record(who, "login", told.access_key_id, "allowed", address=call.address)
    shape = AuthenticationToken(token=issued.token, token_expiration=issued.token_expiration)
    return Reply(shape, headers={"set-cookie": _cookie(call, issued, lasts_s)})


@ROUTES.get("/auth/capabilities", needs=ANYBODY, answers={200: AuthCapabilities})
def get_auth_capabilities(_: Call) -> AuthCapabilities:
    """Say what can be done about users by e-mail: nothing."""
    return AuthCapabilities(invite_user=False, forgot_password=False)


@ROUTES.get("/healthcheck", needs=ANYBODY, answers={204: NOTHING})
def health_check(_: Call) -> None:
    """Say that the server runs."""


def _cookie(call: Call, issued: Login, lasts_s: int) -> str:
    said = call.services.settings.auth.cookie
    parts = [
        f"{COOKIE}={issued.token}",
        f"Max-Age={lasts_s}",
        "Path=/",
        "HttpOnly",
        f"SameSite={said.same_site}",
    ]
    if said.secure == "always" or (said.secure == "auto" and call.request.scheme == "https"):
        parts.append("Secure")
    if said.domain:
        parts.append(f"Domain={said.domain}")
    return "; ".join(parts)
