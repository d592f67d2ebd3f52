# SPDX-License-Identifier: Apache-2.0
"""A lake behind a server: `lochan.connect("http://127.0.0.1:8000", ...)`."""

from pathlib import Path

from lochan.client.connect import over_http
from lochan.client.lake import Lake
from lochan.config.read import client_settings
from lochan.environment import Environment, RealEnvironment


def connect(
    url: str | None = None,
    *,
    access_key_id: str | None = None,
    secret_access_key: str | None = None,
    timeout_seconds: float | None = None,
    retries: int | None = None,
    ca_file: Path | str | None = None,
    environment: Environment | None = None,
) -> Lake:
    """Give the lake of a server; nothing is asked of it yet.

    What is not given is taken from LOCHAN_*, ~/.lochan.yaml, and what lakectl was told (`config`).
    Raises InvalidInput.
    """
    given = {
        "server.endpoint_url": url,
        "server.timeout_seconds": timeout_seconds,
        "server.retries": retries,
        "server.ca_file": None if ca_file is None else str(ca_file),
        "credentials.access_key_id": access_key_id,
        "credentials.secret_access_key": secret_access_key,
    }
    said = {key: value for key, value in given.items() if value is not None}
    settings = client_settings(said)
    transport = over_http(settings, environment or RealEnvironment())
    return Lake(transport, name=transport.endpoint, credentials=settings.credentials)
