# SPDX-License-Identifier: Apache-2.0
"""~/.lochan.yaml: the server and the key that this machine asks with.

The file is replaced as a whole and is readable for its owner alone, from the moment it is there.
Settings in it that are not written here are kept.
"""

import os
import sys
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
import yaml

from lochan.config import surroundings
from lochan.config.gather import yaml_file
from lochan.config.read import CLIENT_FILE
from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput

EndpointUrl = Annotated[str, typer.Option("--endpoint-url", help="Address of the server.")]
AccessKeyId = Annotated[str, typer.Option("--access-key-id", help="Key id of the credentials.")]
_DEFAULT_URL = "http://127.0.0.1:8000"


class Told(NamedTuple):
    """What the file holds."""

    endpoint_url: str
    access_key_id: str
    secret_access_key: str


def asked(endpoint_url: str, access_key_id: str) -> Told:
    """Ask for what is not given; where nobody can be asked, the secret is a line of stdin."""
    if not sys.stdin.isatty():
        if not access_key_id:
            raise InvalidInput(
                "nobody can be asked here; give --access-key-id, the secret on stdin"
            )
        secret = sys.stdin.readline().strip()
        if not secret:
            raise InvalidInput("stdin holds no secret; write it there, as one line")
        return Told(endpoint_url or _DEFAULT_URL, access_key_id, secret)
    url = endpoint_url or typer.prompt("Address of the server", _DEFAULT_URL, err=True)
    key = access_key_id or typer.prompt("Access key id", err=True)
    return Told(url, key, typer.prompt("Secret access key", hide_input=True, err=True))


def client_file() -> Path:
    """Give the place of the file."""
    return surroundings.home() / CLIENT_FILE


def write_client_file(file: Path, told: Told) -> None:
    """Write server and key, beside the other settings of the file. Raises InvalidInput."""
    found = yaml_file(file, required=False)
    if found.findings:
        raise InvalidInput(str(found.findings[0]), code="invalid-config")
    values: dict[str, object] = {key: given.value for key, given in found.values.items()}
    values |= {
        "server.endpoint_url": told.endpoint_url,
        "credentials.access_key_id": told.access_key_id,
        "credentials.secret_access_key": told.secret_access_key,
    }
    values.pop("credentials.secret_access_key_file", None)
    fresh = file.with_name(f"{file.name}.{RealEnvironment().new_id()}")
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
            yaml.safe_dump(_tree(values), opened, sort_keys=True)
            opened.flush()
            os.fsync(opened.fileno())
        fresh.replace(file)
    finally:
        fresh.unlink(missing_ok=True)


def _tree(values: dict[str, object]) -> dict[str, object]:
    tree: dict[str, object] = {}
    for key, value in values.items():
        *folders, name = key.split(".")
        at = tree
        for folder in folders:
            at = at.setdefault(folder, {})  # type: ignore[assignment]  # no value is a folder, too
        at[name] = value
    return tree
