# SPDX-License-Identifier: Apache-2.0
"""The command `lochan` in a process of its own, as a person or a script runs it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

LOCHAN = [sys.executable, "-W", "error", "-m", "lochan"]
STARTS_WITHIN_S = 60.0


def surroundings(folder: Path, **variables: str) -> dict[str, str]:
    """Give the environment of a person who has no settings but these."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("LOCHAN_")}
    return {**kept, "HOME": str(folder), **variables}


def lochan(folder: Path, *args: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [*LOCHAN, *args],
        cwd=folder,
        env=surroundings(folder, **variables),
        capture_output=True,
        text=True,
        check=False,
    )


@contextmanager
def running(
    folder: Path, *args: str, port: int, **variables: str
) -> Iterator[subprocess.Popen[str]]:
    """Run a server beside the block, from when it answers; it is asked to end afterwards."""
    with subprocess.Popen(
        [*LOCHAN, *args],
        cwd=folder,
        env=surroundings(folder, **variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            await_answer(server, f"http://127.0.0.1:{port}/livez")
            yield server
        finally:
            server.send_signal(signal.SIGTERM)


def await_answer(server: subprocess.Popen[str], url: str) -> None:
    """Return when a server answers; fail when it ends before."""
    late = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < late:
        assert server.poll() is None, server.communicate()
        with suppress(URLError, ConnectionError), urlopen(url) as answer:
            assert answer.status == 200
            return
        time.sleep(0.05)
    raise AssertionError(f"no answer from {url} within {STARTS_WITHIN_S} s")
