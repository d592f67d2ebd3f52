# SPDX-License-Identifier: Apache-2.0
"""Fixtures that start real servers; each lives in a module of its own under tests/servers."""

pytest_plugins = [
    "servers.missing",
    "servers.forgetful_fs",
    "servers.postgres",
    "servers.seaweedfs",
    "servers.azurite",
]
