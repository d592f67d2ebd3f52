# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server to measure on: the tests know how to find and start one; here it syncs."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))

from servers.postgres import binaries, new_server


@contextmanager
def postgres() -> Iterator[str]:
    """Run a server that is as durable as a deployed one; gives its address, or "" without any."""
    if binaries() is None:
        yield ""
        return
    with new_server(fsync=True) as server:
        yield server.url
