# SPDX-License-Identifier: Apache-2.0
"""A real server in processes of its own, for tests that speak to it over HTTP."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

import httpx

from support.ports import free_port

SECRET = "0123456789abcdef" * 4
KEY_ID, KEY_SECRET = "AKIAIOSFOLQUICKSTART", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
START_S = 30.0


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs."""

    process: subprocess.Popen[bytes]
    url: str
    lake: Path

    @property
    def api(self) -> str:
        """Give where the API is."""
        return f"{self.url}/api/v1"

    @property
    def auth(self) -> tuple[str, str]:
        """Give the administrator's key."""
        return KEY_ID, KEY_SECRET

    def log(self) -> str:
        """Give what the server has written."""
        return (self.lake / "log").read_text()

    def stop(self) -> int:
        """Ask it to end, and give its status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


@contextmanager
def running_server(
    lake: Path, *, workers: int = 2, kv: str = "", settings: Mapping[str, str] | None = None
) -> Iterator[Server]:
    """Start a server over a lake's folder, set it up if nobody has, and stop it at the end."""
    lake.mkdir(exist_ok=True)
    server = start_server(lake, workers=workers, kv=kv, settings=settings)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()


def start_server(
    lake: Path, *, workers: int = 2, kv: str = "", settings: Mapping[str, str] | None = None
) -> Server:
    """Start a server and wait until it serves; who calls this stops it."""
    port = free_port()
    told = {
        "LOCHAN_LAKE": str(lake),
        "LOCHAN_LISTEN": f"127.0.0.1:{port}",
        "LOCHAN_WORKERS": str(workers),
        "LOCHAN_AUTH_ENCRYPT_SECRET_KEY": SECRET,
        "LOCHAN_LOGGING_FILE": str(lake / "log"),
        **({"LOCHAN_KV": kv} if kv else {}),
        **(settings or {}),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "lochan", "serve"],
        env={"PATH": "/usr/bin:/bin", "HOME": str(lake), **told},
    )
    server = Server(process, f"http://127.0.0.1:{port}", lake)
    try:
        _wait_until_ready(server, port)
        _set_up(server)
    except BaseException:
        process.kill()
        process.wait()
        raise
    return server


def _wait_until_ready(server: Server, port: int) -> None:
    give_up = monotonic() + START_S
    while monotonic() < give_up:
        if server.process.poll() is not None:
            raise AssertionError(f"the server ended with {server.process.returncode}")
        with socket.socket() as probe:
            is_open = probe.connect_ex(("127.0.0.1", port)) == 0
        if is_open and httpx.get(f"{server.url}/readyz").status_code == 200:
            return
        sleep(0.05)
    raise AssertionError("the server did not start")


def _set_up(server: Server) -> None:
    key = {"access_key_id": KEY_ID, "secret_access_key": KEY_SECRET}
    answer = httpx.post(f"{server.api}/setup_lakefs", json={"username": "admin", "key": key})
    assert answer.status_code in {200, 409}, answer.text
