# SPDX-License-Identifier: Apache-2.0
"""Servers that start at once: a process that has imported everything forks each of them.

A server is what `lochan serve` runs, in a session of its own so that all of it can be killed
together; only the seconds of importing are saved, which would be most of a test that starts one a
hundred times. `server_process` is the process that forks; one line of JSON asks, one answers.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import IO, Any, cast

import httpx

from support import server_process
from support.ports import free_port
from support.server import KEY_ID, KEY_SECRET, SECRET

START_S = 30.0
END_S = 45.0


class Launched:
    """A server that was started."""

    def __init__(self, launcher: "Launcher", pid: int, url: str, lake: Path) -> None:
        self._launcher = launcher
        self._status: int | None = None
        self.pid = pid
        self.url = url
        self.lake = lake
        self.port = int(url.rpartition(":")[2])
        self.api = f"{url}/api/v1"
        self.auth = (KEY_ID, KEY_SECRET)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the parent alone."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """End all of its processes, as a machine that stops does; nobody is asked."""
        os.killpg(self.pid, signal.SIGKILL)
        self.wait()

    def wait(self, seconds: float = END_S) -> int:
        """Wait for its end, and give its status; minus a signal's number for a signal."""
        if self._status is None:
            self._status = self._launcher.ask(wait=self.pid, seconds=seconds)
        assert self._status is not None, f"the server did not end within {seconds} s"
        return self._status

    def stop(self) -> int:
        """Ask it to end, and give its status."""
        if self._status is None:
            self.signal(signal.SIGTERM)
        return self.wait()

    def workers(self) -> list[int]:
        """Give the process ids of the workers that live."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        return [int(one) for one in children.split()]

    def is_ready(self) -> bool:
        """Say whether it serves."""
        try:
            return httpx.get(f"{self.url}/readyz").status_code == 200
        except httpx.TransportError:
            return False


class Launcher:
    """The process that forks servers."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def ask(self, **what: object) -> Any:  # noqa: ANN401 - JSON
        """Send a line and read one."""
        cast("IO[str]", self._process.stdin).write(json.dumps(what) + "\n")
        cast("IO[str]", self._process.stdin).flush()
        return json.loads(cast("IO[str]", self._process.stdout).readline())

    def start(
        self,
        lake: Path,
        *,
        workers: int = 2,
        port: int = 0,
        settings: Mapping[str, str] | None = None,
    ) -> Launched:
        """Start a server over a lake's folder and wait until it serves."""
        lake.mkdir(exist_ok=True)
        address = f"127.0.0.1:{port or free_port()}"
        told = {
            "LOCHAN_LAKE": str(lake),
            "LOCHAN_LISTEN": address,
            "LOCHAN_WORKERS": str(workers),
            "LOCHAN_AUTH_ENCRYPT_SECRET_KEY": SECRET,
            "LOCHAN_LOGGING_FILE": str(lake / "log"),
            "LOCHAN_LOGGING_LEVEL": "warning",
            "TMPDIR": str(lake),  # what a killed server leaves goes with the test
            **(settings or {}),
        }
        server = Launched(self, self.ask(start=told), f"http://{address}", lake)
        give_up = monotonic() + START_S
        while not server.is_ready():
            if monotonic() > give_up:
                server.kill()
                raise AssertionError(f"the server did not start:\n{(lake / 'log').read_text()}")
            sleep(0.01)
        return server

    @contextmanager
    def running(self, lake: Path, **rest: Any) -> Iterator[Launched]:  # noqa: ANN401 - of `start`
        """Start a server, set it up, and stop it at the end."""
        server = self.start(lake, **rest)
        try:
            set_up(server)
            yield server
        finally:
            server.stop()


def is_alive(pid: int) -> bool:
    """Say whether a process runs; one that nobody has buried does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def set_up(server: Launched) -> None:
    """Make the administrator, unless there is one."""
    key = {"access_key_id": KEY_ID, "secret_access_key": KEY_SECRET}
    answer = httpx.post(f"{server.api}/setup_lakefs", json={"username": "admin", "key": key})
    assert answer.status_code in {200, 409}, answer.text


@contextmanager
def new_launcher() -> Iterator[Launcher]:
    """Start the process that forks, and end it."""
    process = subprocess.Popen(
        [sys.executable, str(Path(server_process.__file__))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"PATH": "/usr/bin:/bin"},
    )
    with process:
        yield Launcher(process)
        cast("IO[str]", process.stdin).close()
        assert process.wait(END_S) == 0
