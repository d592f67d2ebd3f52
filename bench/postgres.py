# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server to measure on: the tests know how to find and start one; here it syncs."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))

from servers.postgres import binaries, new_server

# As an operator would set a server of this size, beside the tests' smallest. With the least of logs
# a new server makes and syncs a file of 16 MB every time that one is full, while all writers wait.
_DEPLOYED = {"shared_buffers": "1GB", "min_wal_size": "2GB", "max_wal_size": "4GB"}


@contextmanager
def postgres() -> Iterator[str]:
    """Run a server that is as durable as a deployed one; gives its address, or "" without any."""
    if binaries() is None:
        yield ""
        return
    with new_server(fsync="on", **_DEPLOYED) as server:
        yield server.url
