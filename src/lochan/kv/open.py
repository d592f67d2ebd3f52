# SPDX-License-Identifier: Apache-2.0
"""An address becomes a store.

    memory://                                    this process, until it ends
    sqlite:///var/lake/kv.db                     a file by its absolute path
    sqlite://lake/kv.db                          a file below the current folder
    postgres://user@host/db?schema=s&table=t     a table; libpq's other parameters follow the same ?

The word before the colon is the name of an entry point in the group `lochan.kv`, so other people's
drivers are opened the same way.
"""

from typing import Protocol, cast

from lochan import plugins
from lochan.environment import Environment
from lochan.errors import InvalidInput
from lochan.kv.store import Store


class Driver(Protocol):
    """What an entry point of the group `lochan.kv` names: a class that opens stores."""

    def open(self, url: str, environment: Environment) -> Store:
        """Open the store at `url`, making it where there is none.

        Raises: InvalidInput for an address of the wrong form, Refused for a place that is not ours
        to use, Unavailable.
        """


def open_store(url: str, environment: Environment) -> Store:
    """Open the store at an address, by the driver that its first word names."""
    scheme, colon, _ = url.partition(":")
    if not colon or not scheme:
        known = ", ".join(f"{name}://" for name in plugins.installed(plugins.KV))
        # The address itself may hold a password, so it is not repeated.
        raise InvalidInput(f"a KV address begins with one of {known}", code="invalid-kv-address")
    # An entry point is untyped by nature; the conformance suite is what checks a driver.
    driver = cast("Driver", plugins.load(plugins.KV, scheme))
    return driver.open(url, environment)
