# SPDX-License-Identifier: Apache-2.0
"""A transport to a server, as the settings of this process say."""

import ssl
import weakref
from collections.abc import Generator
from typing import Final

import httpx

from lochan import __version__
from lochan.client.in_process import Application, Describe, InProcess
from lochan.client.transport import Transport
from lochan.config.client import ClientSettings
from lochan.config.secret import Secret
from lochan.environment import Environment
from lochan.errors import InvalidInput

USER_AGENT: Final = f"lochan-python/{__version__}"
INSIDE: Final = "http://lake.embedded"  # never looked up
_CONNECT_S: Final = 10.0
_CONNECTIONS: Final = 100


class _Bearer(httpx.Auth):
    """Sends a token with every request."""

    def __init__(self, token: Secret) -> None:
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Put the token into a request."""
        request.headers["Authorization"] = f"Bearer {self._token.reveal()}"
        yield request


def over_http(settings: ClientSettings, environment: Environment) -> Transport:
    """Speak to a server. Raises InvalidInput for settings that cannot work."""
    server, credentials = settings.server, settings.credentials
    auth: httpx.Auth | None = None
    if credentials.token:
        auth = _Bearer(credentials.token)
    elif credentials.access_key_id:
        secret = credentials.secret_access_key.reveal()
        auth = httpx.BasicAuth(credentials.access_key_id, secret)
    if not settings.endpoint.startswith(("http://", "https://")):
        message = f"{server.endpoint_url!r} is no address of a server; write http://host:port"
        raise InvalidInput(message, code="invalid-endpoint")
    verify: ssl.SSLContext | bool = True
    if server.ca_file is not None:
        verify = ssl.create_default_context(cafile=server.ca_file)
    http = httpx.Client(
        base_url=settings.endpoint,
        auth=auth,
        verify=verify,
        headers={"user-agent": USER_AGENT},
        timeout=httpx.Timeout(
            server.timeout_seconds, connect=min(_CONNECT_S, server.timeout_seconds)
        ),
        limits=httpx.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS),
    )
    transport = Transport(
        http, environment, retries=server.retries, budget_s=server.timeout_seconds
    )
    weakref.finalize(transport, http.close)  # nobody closes in a notebook
    return transport


def within_process(
    application: Application, describe: Describe, environment: Environment
) -> Transport:
    """Speak to an application in this process; who can open the lake's files needs no key."""
    http = httpx.Client(
        base_url=INSIDE,
        transport=InProcess(application, describe),
        headers={"user-agent": USER_AGENT},
        timeout=None,  # noqa: S113 - there is no network to wait for
    )
    return Transport(http, environment, retries=4, budget_s=10.0)
