# SPDX-License-Identifier: Apache-2.0
"""Find drivers by entry point: ours and other people's alike.

A driver package says, for instance,

    [project.entry-points."lochan.kv"]
    mystore = "mypackage.store:MyStore"

and `mystore://...` works everywhere a KV address is accepted. Nothing registers by being imported.
"""

import sys
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from lochan.errors import InvalidInput, Unavailable

KV = "lochan.kv"
OBJECTS = "lochan.objects"


def installed(group: str) -> list[str]:
    """Name the drivers of one group that this environment has, sorted."""
    return sorted({point.name for point in entry_points(group=group)})


def load(group: str, name: str) -> object:
    """Import the driver called `name` of `group`.

    Raises: InvalidInput for an unknown name; Unavailable when its package lacks a dependency.
    """
    point = _points(group, tuple(sys.path)).get(name)
    if point is None:  # unless it was installed meanwhile
        _points.cache_clear()
        point = _points(group, tuple(sys.path)).get(name)
    if point is None:
        known = ", ".join(installed(group)) or "none"
        message = f"no driver {name!r} in {group}; installed: {known}"
        raise InvalidInput(message, code="unknown-driver", group=group, name=name)
    try:
        return point.load()
    except ImportError as error:
        wanted = _requirement(point)
        message = f"driver {name!r} needs a package that is missing ({error}); install {wanted}"
        raise Unavailable(message, code="driver-not-installed", name=name) from error


@cache
def _points(group: str, _path: tuple[str, ...]) -> dict[str, EntryPoint]:
    """Give the entry points of a group; finding them reads a file of every installed package."""
    # Of two with one name the first is taken.
    return {point.name: point for point in reversed(tuple(entry_points(group=group)))}


def _requirement(point: EntryPoint) -> str:
    """Say what to install for a driver: its package, with the extra of the driver's name if any."""
    if point.dist is None:
        return point.module
    extras = point.dist.metadata.get_all("Provides-Extra") or []
    return f"{point.dist.name}[{point.name}]" if point.name in extras else point.dist.name
