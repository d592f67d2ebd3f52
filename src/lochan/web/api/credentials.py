# SPDX-License-Identifier: Apache-2.0
"""Access keys of a user: list, make, look at, delete. A secret is told once, when it is made."""

from lochan.access import credentials
from lochan.model.access import Credential
from lochan.model.instant import to_seconds
from lochan.shapes.access import Credentials, CredentialsList, CredentialsWithSecret
from lochan.shapes.pages import PageQuery
from lochan.web.api.pages import amount_of, pagination
from lochan.web.api.shown_access import USER
from lochan.web.call import Call
from lochan.web.needs import Need
from lochan.web.route import NOTHING, Routes

ROUTES = Routes("auth")

_KEYS = "/auth/users/{userId}/credentials"
_KEY = _KEYS + "/{accessKeyId}"


@ROUTES.get(
    _KEYS,
    needs=Need("auth:ListCredentials", USER),
    query=PageQuery,
    answers={200: CredentialsList},
)
def list_user_credentials(call: Call) -> CredentialsList:
    """Give a user's access keys by id."""
    asked = call.asked(PageQuery)
    page = credentials.list_user_credentials(
        call.services.access, call.path["userId"], asked.prefix, asked.after, amount_of(asked)
    )
    return CredentialsList(
        pagination=pagination(len(page.results), page.next_offset),
        results=[_shown(credential) for credential in page.results],
    )


@ROUTES.post(
    _KEYS, needs=Need("auth:CreateCredentials", USER), answers={201: CredentialsWithSecret}
)
def create_credentials(call: Call) -> CredentialsWithSecret:
    """Make an access key for a user; nobody is told its secret again."""
    issued = credentials.create_credentials(call.services.access, call.path["userId"])
    return CredentialsWithSecret(
        access_key_id=issued.access_key_id,
        secret_access_key=issued.secret_access_key,
        creation_date=to_seconds(issued.creation_date),
    )


@ROUTES.get(_KEY, needs=Need("auth:ReadCredentials", USER), answers={200: Credentials})
def get_credentials(call: Call) -> Credentials:
    """Give an access key, without its secret."""
    found = credentials.get_credentials(
        call.services.access, call.path["userId"], call.path["accessKeyId"]
    )
    return _shown(found)


@ROUTES.delete(_KEY, needs=Need("auth:DeleteCredentials", USER), answers={204: NOTHING})
def delete_credentials(call: Call) -> None:
    """Delete an access key; the user's logins end with it."""
    credentials.delete_credentials(
        call.services.access, call.path["userId"], call.path["accessKeyId"]
    )


def _shown(credential: Credential) -> Credentials:
    return Credentials(
        access_key_id=credential.access_key_id, creation_date=to_seconds(credential.creation_date)
    )
