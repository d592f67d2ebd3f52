# SPDX-License-Identifier: Apache-2.0
"""Ports for servers that tests start."""

import socket


def free_port() -> int:
    """Give a port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
