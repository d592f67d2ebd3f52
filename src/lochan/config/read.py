# SPDX-License-Identifier: Apache-2.0
"""The settings of this process: of a server and of a client.

    server    arguments > LOCHAN_* > the file that --config or LOCHAN_CONFIG names, else lochan.yaml
    client    arguments > LOCHAN_* > ~/.lochan.yaml > LAKECTL_* > ~/.lakectl.yaml

Both kinds of variables may be set at once, so each reader knows the names of the other.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from lochan.config import check, client, surroundings
from lochan.config.client import ClientSettings
from lochan.config.gather import Finding, Gathered, Source, arguments, gather, variables, yaml_file
from lochan.config.leaf import leaves, variable_of
from lochan.config.server import Settings

CONFIG = "LOCHAN_CONFIG"
SERVER_FILE = Path("lochan.yaml")
CLIENT_FILE = ".lochan.yaml"
LAKECTL_FILE = ".lakectl.yaml"
# Kubernetes sets these in every container beside a service that is called lochan; the last are
# those of tests.
_FOREIGN = re.compile(r"LOCHAN_(SERVICE_HOST|SERVICE_PORT\w*|PORT|PORT_\d+_\w+|TEST_\w+)")


def server_settings(
    given: Mapping[str, object] | None = None, *, file: Path | None = None
) -> Settings:
    """Give the settings of the server that this process is to be.

    `given` are arguments by key. Raises: InvalidInput, with the key, what is wrong with it and what
    to write.
    """
    return gather_server(surroundings.variables(), given, file=file).accepted()


def client_settings(
    given: Mapping[str, object] | None = None, *, file: Path | None = None
) -> ClientSettings:
    """Give the settings of a client in this process. Raises: InvalidInput."""
    gathered = gather_client(surroundings.variables(), surroundings.home(), given, file=file)
    return gathered.accepted()


def check_server(file: Path | None = None) -> list[Finding]:
    """Find all that is wrong with the server's settings here; it opens and changes nothing."""
    return gather_server(surroundings.variables(), file=file).findings


def gather_server(
    environment: Mapping[str, str],
    given: Mapping[str, object] | None = None,
    *,
    file: Path | None = None,
) -> Gathered[Settings]:
    """Join the sources of a server's settings, and look at the whole."""
    sources = [
        arguments(given or {}),
        variables(environment, _keys(Settings), _others(environment, ClientSettings)),
        _named_file(environment, file, SERVER_FILE),
    ]
    gathered = gather(Settings, sources)
    return gathered._replace(findings=[*gathered.findings, *check.findings(gathered)])


def gather_client(
    environment: Mapping[str, str],
    home: Path,
    given: Mapping[str, object] | None = None,
    *,
    file: Path | None = None,
) -> Gathered[ClientSettings]:
    """Join the sources of a client's settings; ours win over lakectl's."""
    lakectl = Path(environment.get(client.LAKECTL_FILE) or home / LAKECTL_FILE)
    sources = [
        arguments(given or {}),
        variables(environment, _keys(ClientSettings), _others(environment, Settings)),
        yaml_file(file or home / CLIENT_FILE, required=file is not None),
        client.lakectl_variables(environment),
        client.lakectl_file(lakectl),
    ]
    gathered = gather(ClientSettings, sources)
    return gathered._replace(findings=[*gathered.findings, *client.torn_pair(gathered)])


def _named_file(environment: Mapping[str, str], file: Path | None, default: Path) -> Source:
    named = file or (Path(environment[CONFIG]) if environment.get(CONFIG) else None)
    return yaml_file(named or default, required=named is not None)


def _keys(kind: type[Settings | ClientSettings]) -> Iterator[str]:
    for leaf in leaves(kind):
        yield leaf.key
        if leaf.is_secret:
            yield f"{leaf.key}_file"


def _others(environment: Mapping[str, str], kind: type[Settings | ClientSettings]) -> Iterator[str]:
    """Name the variables that mean something to somebody else."""
    yield from (CONFIG, "LOCHAN_KERNEL", "LOCHAN_DEBUG")
    yield from map(variable_of, _keys(kind))
    yield from filter(_FOREIGN.fullmatch, environment)
