# SPDX-License-Identifier: Apache-2.0
"""Open the object store of a location: find the driver by its scheme, hand it the rest."""

from typing import Protocol, cast

from lochan.environment import Environment
from lochan.objects.namespace import split_location
from lochan.objects.store import ObjectStore
from lochan.plugins import OBJECTS, load

# A scheme is its driver's name, but for this abbreviation.
_DRIVERS = {"mem": "memory"}


class Driver(Protocol):
    """What an entry point of `lochan.objects` names."""

    def open(self, location: str, environment: Environment) -> ObjectStore:
        """Open the store of a location. Raises: InvalidInput, Unavailable."""


def open_objects(location: str, environment: Environment) -> ObjectStore:
    """Open a store: `s3://bucket/prefix?region=eu-west-1`, `local:///folder`, `mem://name`.

    Raises: InvalidInput for an unknown scheme or option; Unavailable when a package is missing.
    """
    namespace, _ = split_location(location)
    driver = load(OBJECTS, _DRIVERS.get(namespace.scheme, namespace.scheme))
    return cast("Driver", driver).open(location, environment)  # the entry point promises it
