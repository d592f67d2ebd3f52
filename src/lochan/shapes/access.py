# SPDX-License-Identifier: Apache-2.0
"""Access: users, groups, policies and credentials, and how somebody becomes known to the server.

A secret is answered once, when its credentials are made (`CredentialsWithSecret`).
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from lochan.shapes.fields import UnixSeconds
from lochan.shapes.pages import PageQuery, Pagination

Name = Annotated[str, Meta(min_length=1, description="The name that it goes by.")]
AccessKeyId = Annotated[str, Meta(description="The public half of credentials.")]
SecretAccessKey = Annotated[str, Meta(description="The secret half of credentials.")]


class UserCreation(Struct, frozen=True, kw_only=True):
    """A user to be made."""

    id: Name


class User(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A user."""

    id: Annotated[str, Meta(description="The user's name.")]
    creation_date: UnixSeconds
    friendly_name: Annotated[str, Meta(description="How people call the user.")] | None = None
    email: Annotated[str, Meta(description="Where to write to the user.")] | None = None


class CurrentUser(Struct, frozen=True, kw_only=True):
    """Who is asking."""

    user: User


class UserList(Struct, frozen=True, kw_only=True):
    """A page of users, by name."""

    pagination: Pagination
    results: list[User]


class GroupCreation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A group to be made."""

    id: Name
    description: Annotated[str, Meta(description="What the group is for.")] | None = None


class Group(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A group of users."""

    id: Annotated[str, Meta(description="What the group is asked for by.")]
    name: Annotated[str, Meta(description="How people call the group.")] | None = None
    description: Annotated[str, Meta(description="What the group is for.")] | None = None
    creation_date: UnixSeconds


class GroupList(Struct, frozen=True, kw_only=True):
    """A page of groups, by name."""

    pagination: Pagination
    results: list[Group]


class Statement(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Actions on resources that are allowed or denied; * and ? stand for any letters in both."""

    effect: Annotated[
        Literal["allow", "deny"], Meta(description="A denial beats every permission.")
    ]
    resource: Annotated[
        str,
        Meta(
            min_length=1,
            description="What it is about, as an ARN.",
            examples=["arn:lakefs:fs:::repository/*"],
        ),
    ]
    action: Annotated[
        list[str], Meta(min_length=1, description="What is done.", examples=[["fs:Read*"]])
    ]
    condition: (
        Annotated[
            dict[str, dict[str, list[str]]],
            Meta(description="What else must hold: operator, then field, then values."),
        ]
        | None
    ) = None


class Policy(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Statements under a name; who sends one leaves the date out."""

    id: Name
    creation_date: UnixSeconds | None = None
    statement: Annotated[list[Statement], Meta(min_length=1, description="Read together.")]


class PolicyList(Struct, frozen=True, kw_only=True):
    """A page of policies, by name."""

    pagination: Pagination
    results: list[Policy]


class ListUserPoliciesQuery(PageQuery, frozen=True, kw_only=True, omit_defaults=True):
    """A page of a user's policies."""

    effective: Annotated[bool, Meta(description="Give those of the user's groups, too.")] = False


class Credentials(Struct, frozen=True, kw_only=True):
    """Credentials of a user, without their secret."""

    access_key_id: AccessKeyId
    creation_date: UnixSeconds


class CredentialsWithSecret(Struct, frozen=True, kw_only=True):
    """Credentials that were just made; the secret is not told again."""

    access_key_id: AccessKeyId
    secret_access_key: SecretAccessKey
    creation_date: UnixSeconds


class CredentialsList(Struct, frozen=True, kw_only=True):
    """A page of a user's credentials."""

    pagination: Pagination
    results: list[Credentials]


class LoginInformation(Struct, frozen=True, kw_only=True):
    """What somebody logs in with."""

    access_key_id: AccessKeyId
    secret_access_key: SecretAccessKey


class AuthenticationToken(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What stands for the credentials from then on."""

    token: Annotated[str, Meta(description="Goes into the header: Authorization: Bearer ...")]
    token_expiration: (
        Annotated[int, Meta(description="When it stops working, in seconds since 1970.")] | None
    ) = None
