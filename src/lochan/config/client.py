# SPDX-License-Identifier: Apache-2.0
"""Everything that a client may be told, and what lakectl has been told already.

The names are lakectl's, so that its file can be copied. Of its own file and variables the three
settings below `lakectl` are taken; it has others, which mean nothing here.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from lochan.config.gather import Finding, Gathered, Given, Source, yaml_file
from lochan.config.secret import Secret

LAKECTL = ("server.endpoint_url", "credentials.access_key_id", "credentials.secret_access_key")
LAKECTL_FILE = "LAKECTL_CONFIG_FILE"


class Server(Struct, frozen=True, kw_only=True):
    """Which server is spoken to."""

    endpoint_url: Annotated[
        str, Meta(description="address of the server, with or without /api/v1")
    ] = "http://127.0.0.1:8000"
    timeout_seconds: Annotated[
        float, Meta(gt=0, le=86_400, description="how long an answer may keep a client waiting")
    ] = 60.0
    retries: Annotated[
        int,
        Meta(ge=0, le=100, description="how often a request is repeated that may be repeated"),
    ] = 4
    ca_file: Annotated[
        Path | None, Meta(description="certificates of authorities to trust; none: the system's")
    ] = None


class Credentials(Struct, frozen=True, kw_only=True):
    """As whom."""

    access_key_id: Annotated[str, Meta(description="key id of a user's credentials")] = ""
    secret_access_key: Annotated[Secret, Meta(description="the secret that belongs to it")] = (
        Secret()
    )
    token: Annotated[
        Secret, Meta(description="a token instead of a key, as the driver of a job has one")
    ] = Secret()


class ClientSettings(Struct, frozen=True, kw_only=True):
    """One client's settings."""

    server: Server = Server()
    credentials: Credentials = Credentials()

    @property
    def endpoint(self) -> str:
        """Give the server's address without the path of the API."""
        return self.server.endpoint_url.rstrip("/").removesuffix("/api/v1").rstrip("/")


def lakectl_variables(environment: Mapping[str, str]) -> Source:
    """Take lakectl's variables."""
    names = {key: "LAKECTL_" + key.upper().replace(".", "_") for key in LAKECTL}
    values = {
        key: Given(environment[name], name) for key, name in names.items() if environment.get(name)
    }
    return Source("lakectl's environment", values)


def lakectl_file(path: Path) -> Source:
    """Take lakectl's file, if there is one."""
    source = yaml_file(path, required=False)
    values = {key: source.values[key] for key in LAKECTL if key in source.values}
    return source._replace(values=values)


def torn_pair(gathered: Gathered[ClientSettings]) -> list[Finding]:
    """Find a secret that was written down beside another key id than the one in use."""
    key, secret = LAKECTL[1:]
    origin = gathered.origins.get(secret)
    beside = origin.values.get(key) if origin else None
    wanted = gathered.settings.credentials.access_key_id
    if origin is None or beside is None or beside.value == wanted:
        return []
    where = origin.values[secret].where if secret in origin.values else origin.name
    remedy = f"give the secret of {wanted} too"
    return [Finding(secret, where, f"this secret belongs to {beside.value}", remedy)]
