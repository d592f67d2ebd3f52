# SPDX-License-Identifier: Apache-2.0
"""`lochan serve`: settings are checked and the store is asked before the port is opened."""

import errno
import socket
from pathlib import Path
from typing import Annotated

import typer

from lochan.bootstrap.process import serve as serve_processes
from lochan.cli.settings import Config, Kv, LakeFolder, opened_lake, server_settings
from lochan.cli.show import Show
from lochan.cli.verb import new_app, verb
from lochan.config.server import Settings
from lochan.config.values import Address
from lochan.errors import Conflict, InvalidInput
from lochan.kv.read import find
from lochan.model.keys import GRAVELER

app = new_app()


@verb(app, "serve")
def serve(
    show: Show,
    config: Config = None,
    lake: LakeFolder = None,
    kv: Kv = None,
    listen: Annotated[
        str | None, typer.Option("--listen", help="Where to serve, as 127.0.0.1:8000.")
    ] = None,
    workers: Annotated[int | None, typer.Option("--workers", help="Processes that serve.")] = None,
    log_level: Annotated[
        str | None, typer.Option("--log-level", help="debug, info, warning or error.")
    ] = None,
) -> None:
    """Serve a lake until SIGTERM or Ctrl-C; requests under way are finished first."""
    given = {
        "lake": lake,
        "kv": kv,
        "listen": listen,
        "workers": workers,
        "logging.level": log_level,
    }
    settings = server_settings(given, config)
    ready_to_serve(settings)
    show.note(f"serving {url_of(settings)}")
    serve_processes(settings)


def ready_to_serve(settings: Settings) -> None:
    """See to it that workers will start. Raises: InvalidInput, Conflict, Unavailable."""
    if settings.kv_url.startswith("sqlite://"):
        make_folder(settings.lake)
    with opened_lake(settings) as lake:
        find(lake.store, GRAVELER, b"readiness")  # does the store answer?
    check_free(settings.listen)
    beside = {"webhdfs.listen": settings.webhdfs.listen, "metrics.listen": settings.metrics.listen}
    for key, address in beside.items():
        if address is not None:
            check_free(address, key)


def make_folder(folder: Path) -> None:
    """Make the lake's folder. Raises InvalidInput where that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"lake: {folder} cannot be made: {error.strerror}; name another folder"
        raise InvalidInput(message, code="invalid-config", key="lake") from error


def check_free(address: Address, key: str = "listen") -> None:
    """Look whether an address can be listened on. Raises: Conflict, InvalidInput.

    Somebody may still be faster between this look and the server's own; that ends the server, too,
    only less clearly.
    """
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
        family, kind, protocol, _, place = found[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)
            probe.listen(1)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            message = f"{address} is in use; stop what listens there, or choose another port"
            raise Conflict(message, code="address-in-use") from error
        message = f"{key}: nobody can listen on {address}: {error.strerror}; write another address"
        raise InvalidInput(message, code="invalid-config", key=key) from error


def url_of(settings: Settings) -> str:
    """Say how a person on this machine reaches the server."""
    scheme = "https" if settings.tls.cert_file else "http"
    host = "127.0.0.1" if settings.listen.host in {"0.0.0.0", "::"} else settings.listen.host  # noqa: S104 - a name to connect to, not to listen on
    return settings.public_url or f"{scheme}://{Address(host, settings.listen.port)}"
