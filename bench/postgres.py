# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server to measure on: the tests know how to find and start one; here it syncs."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))

from servers.postgres import binaries, new_server

# As an operator would set a server of this size, beside the tests' smallest.
_DEPLOYED = {"shared_buffers": "1GB", "min_wal_size": "2GB", "max_wal_size": "4GB"}
_LOG_FILES = 100  # of 16 MB each


@contextmanager
def postgres() -> Iterator[str]:
    """Run a server that is as durable as a deployed one; gives its address, or "" without any."""
    if binaries() is None:
        yield ""
        return
    with new_server(fsync="on", **_DEPLOYED) as server:
        _fill_logs(server.url)
        yield server.url


def settle(url: str) -> None:
    """Have the server write down what it still holds, so that it does not do so later."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")


def _fill_logs(url: str) -> None:
    """Give a new server the log files of one that has run for a while.

    Without them it makes and syncs a file every time that one is full, while all writers wait; once
    they are there it uses them again and again.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        for _ in range(_LOG_FILES):
            connection.execute("SELECT pg_logical_emit_message(true, 'bench', ''), pg_switch_wal()")
    settle(url)
