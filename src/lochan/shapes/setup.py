# SPDX-License-Identifier: Apache-2.0
"""Set-up: the first user of a new lake is made, once, by whoever comes first.

The questions about a person and a company are lakeFS's; they are read, and nothing is done with
them.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

_Ignored = Annotated[str, Meta(description="Read for lakeFS's clients, and not kept.")]
_Wish = Annotated[bool, Meta(description="Read for lakeFS's clients, and not kept.")]


class AccessKeyCredentials(Struct, frozen=True, kw_only=True):
    """Credentials that somebody brings along."""

    access_key_id: Annotated[str, Meta(min_length=1, description="The public half.")]
    secret_access_key: Annotated[str, Meta(min_length=1, description="The secret half.")]


class Setup(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The first user, who may do everything; answered with `access.CredentialsWithSecret`."""

    username: Annotated[str, Meta(min_length=1, description="The first user's name.")]
    key: AccessKeyCredentials | None = None
    first_name: _Ignored | None = field(default=None, name="firstName")
    last_name: _Ignored | None = field(default=None, name="lastName")
    email: _Ignored | None = None
    company_name: _Ignored | None = field(default=None, name="companyName")
    country: _Ignored | None = None
    feature_updates: _Wish | None = field(default=None, name="featureUpdates")
    security_updates: _Wish | None = field(default=None, name="securityUpdates")


class CommPrefsInput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How somebody wants to be written to."""

    first_name: _Ignored | None = field(default=None, name="firstName")
    last_name: _Ignored | None = field(default=None, name="lastName")
    email: _Ignored | None = None
    company_name: _Ignored | None = field(default=None, name="companyName")
    country: _Ignored | None = None
    feature_updates: _Wish = field(name="featureUpdates")
    security_updates: _Wish = field(name="securityUpdates")


class LoginConfig(Struct, frozen=True, kw_only=True):
    """How somebody logs in who has a browser."""

    rbac: Annotated[
        Literal["none", "simplified", "external", "internal"],
        Meta(description="Who keeps users and policies; internal: this server."),
    ] = field(default="internal", name="RBAC")
    login_url: Annotated[str, Meta(description="The page to log in on.")] = ""
    login_failed_message: Annotated[
        str, Meta(description="What to say to somebody who is not known.")
    ] = ""
    login_cookie_names: Annotated[list[str], Meta(description="Cookies that hold a session.")] = []
    logout_url: Annotated[str, Meta(description="The page that ends a session.")] = ""


class SetupState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whether there is a first user."""

    state: Annotated[
        Literal["initialized", "not_initialized"],
        Meta(description="Set-up works once, while this is not_initialized."),
    ]
    comm_prefs_missing: Annotated[
        bool, Meta(description="Whether somebody should be asked how to be written to.")
    ]
    login_config: LoginConfig | None = None


class AuthCapabilities(Struct, frozen=True, kw_only=True):
    """What can be done about users by e-mail."""

    invite_user: Annotated[bool, Meta(description="Whether users can be invited.")]
    forgot_password: Annotated[bool, Meta(description="Whether passwords can be reset.")]
