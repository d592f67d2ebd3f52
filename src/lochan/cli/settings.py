# SPDX-License-Identifier: Apache-2.0
"""The settings of commands that serve a lake or work on its stores, and their common options.

Options win over LOCHAN_* variables, and these over the file. A lake in a folder has a secret of its
own (`bootstrap.secret_key`), which is taken where no settings give one.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from lochan.bootstrap.lake import open_lake
from lochan.bootstrap.secret_key import SECRET_FILE
from lochan.config import surroundings
from lochan.config.gather import Gathered
from lochan.config.read import gather_server
from lochan.config.server import Settings
from lochan.environment import RealEnvironment
from lochan.operations.lake import Lake

SECRET = "auth.encrypt.secret_key"  # noqa: S105 - the setting's name

Config = Annotated[
    Path | None,
    typer.Option("--config", "-c", help="File with settings; else LOCHAN_CONFIG, lochan.yaml."),
]
LakeFolder = Annotated[
    Path | None, typer.Option("--lake", help="Folder of the lake; else the setting, ./lake.")
]
Kv = Annotated[
    str | None, typer.Option("--kv", help="Url of the key-value store; else the setting.")
]


def gathered(given: Mapping[str, object], file: Path | None) -> Gathered[Settings]:
    """Join all that is said about a server here, with the lake's own secret."""
    environment = surroundings.variables()
    first = gather_server(environment, given, file=file)
    own = first.settings.lake / SECRET_FILE
    if SECRET in first.origins or not own.is_file():
        return first
    return gather_server(environment, {**given, f"{SECRET}_file": str(own)}, file=file)


def server_settings(given: Mapping[str, object], file: Path | None) -> Settings:
    """Give the settings of a server. Raises InvalidInput."""
    return gathered(given, file).accepted()


def lake_settings(lake: Path | None, kv: str | None, file: Path | None) -> Settings:
    """Give the settings for work on a lake's stores, which needs no secret. Raises InvalidInput."""
    found = gathered({"lake": lake, "kv": kv}, file)
    return found._replace(findings=[one for one in found.findings if one.key != SECRET]).accepted()


def names_stores(lake: Path | None, kv: str | None, file: Path | None) -> bool:
    """Say whether a command shall work on a lake's stores; else it asks the lake's server."""
    around = surroundings.variables()
    said = (lake, kv, file, *map(around.get, ("LOCHAN_LAKE", "LOCHAN_KV", "LOCHAN_CONFIG")))
    return any(one is not None for one in said)


@contextmanager
def opened_lake(settings: Settings) -> Iterator[Lake]:
    """Open the lake that settings name. Raises: InvalidInput, Unavailable."""
    with open_lake(
        settings.kv_url,
        RealEnvironment(),
        readable=settings.blockstore.readable_folders,
        private=settings.private_folders,
    ) as lake:
        yield lake
