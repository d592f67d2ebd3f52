# SPDX-License-Identifier: Apache-2.0
"""`lochan quickstart` in a process of its own, on a free port; stopped at the end of a block."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import httpx

START_S = 60.0
STEP_S = 0.05


@contextmanager
def quickstart(lake: Path) -> Iterator[str]:
    """Serve a lake's folder, and give the address of the server."""
    url, command = _command(lake)
    with (lake.parent / f"{lake.name}.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)  # noqa: S603 - our own command
        try:
            _wait(process, url, Path(log.name))
            yield url
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


def _command(lake: Path) -> tuple[str, list[str]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "lochan", "quickstart", "--lake", str(lake)]
    return f"http://127.0.0.1:{port}", [*command, "--port", str(port)]


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    """Wait until the server serves."""
    pause = Event()
    for _ in range(int(START_S / STEP_S)):
        if process.poll() is not None:
            break
        try:
            if httpx.get(f"{url}/readyz").status_code == httpx.codes.OK:
                return
        except httpx.TransportError:
            pass  # it does not listen yet
        pause.wait(STEP_S)
    raise SystemExit(f"the server did not start; it said: {log.read_text()}")
