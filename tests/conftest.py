# SPDX-License-Identifier: Apache-2.0
"""Fixtures: those that start real servers each live in a module of their own, tests/servers.

An example of Hypothesis may take as long as it wants: a machine that does something else meanwhile
is no failure.
"""

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

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
