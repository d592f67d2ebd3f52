# SPDX-License-Identifier: Apache-2.0
"""An Azurite server for tests, as the real Azure Blob Storage, where it is installed.

Azurite is an npm package: `npm install --prefix .cache/npm azurite` puts it where this looks, and
any way that puts azurite-blob on the PATH will do. The tests do not fetch it: that takes a minute.
"""

import base64
import hashlib
import hmac
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

import pytest

from servers.missing import skip_without

_START_S = 30
# Azurite's account and key are the same everywhere, and published with it.
_ACCOUNT = "devstoreaccount1"
_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
_VERSION = "2021-12-02"


class AzureServer:
    """One server with one container; each test takes a prefix of its own."""

    container = "lochan-tests"

    def __init__(self, program: str, folder: Path) -> None:
        self._program = program
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])

    def location(self, prefix: str, **options: object) -> str:
        """Name a namespace of the container, with all that a client must know."""
        endpoint = f"http://127.0.0.1:{self.port}/{_ACCOUNT}"
        known = {"endpoint": endpoint, "account_name": _ACCOUNT, "account_key": _KEY, **options}
        return f"az://{self.container}/{prefix}?{urlencode(known)}"

    def start(self) -> None:
        command = [self._program, "--location", f"{self._folder}", "--blobPort", f"{self.port}"]
        command += ["--blobHost", "127.0.0.1", "--skipApiVersionCheck", "--disableTelemetry"]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=self._folder, start_new_session=True
            )
        for _ in range(_START_S * 10):
            assert self._process.poll() is None, (self._folder / "log").read_text()
            try:
                assert self._create_container() == 201
            except ConnectionRefusedError:
                signal.sigtimedwait([], 0.1)  # a pause between two tries, no proof of anything
            else:
                return
        raise AssertionError((self._folder / "log").read_text())

    def _create_container(self) -> int:
        date = datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
        path = f"/{_ACCOUNT}/{self.container}"
        signed = f"x-ms-date:{date}\nx-ms-version:{_VERSION}\n/{_ACCOUNT}{path}\nrestype:container"
        text = "PUT" + "\n" * 12 + signed
        digest = hmac.digest(base64.b64decode(_KEY), text.encode(), hashlib.sha256)
        headers = {
            "x-ms-date": date,
            "x-ms-version": _VERSION,
            "Authorization": f"SharedKey {_ACCOUNT}:{base64.b64encode(digest).decode()}",
        }
        connection = HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request("PUT", f"{path}?restype=container", headers=headers)
        status = connection.getresponse().status
        connection.close()
        return status

    def stop(self) -> None:
        if self._process:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=1)
            self._process.kill()
            self._process.wait()


def program() -> str | None:
    """Find azurite-blob: in this checkout's cache, or on the PATH."""
    cached = Path(__file__).parents[2] / ".cache/npm/node_modules/.bin/azurite-blob"
    return str(cached) if cached.exists() else shutil.which("azurite-blob")


@pytest.fixture(scope="session")
def azurite() -> Iterator[AzureServer]:
    """An Azurite server that runs for the whole session."""
    found = program()
    if found is None:
        skip_without("Azurite", "no azurite-blob found; npm install --prefix .cache/npm azurite")
    with tempfile.TemporaryDirectory(prefix="lochan-azurite-") as name:
        server = AzureServer(found, Path(name))
        try:
            server.start()
            yield server
        finally:
            server.stop()
