# SPDX-License-Identifier: Apache-2.0
"""Fixtures: those that start real servers each live in a module of their own, tests/servers."""

pytest_plugins = [
    "support.tally",
    "support.ledger",
    "support.seldom_collected",
    "servers.missing",
    "servers.forgetful_fs",
    "servers.postgres",
    "servers.seaweedfs",
    "servers.azurite",
]
