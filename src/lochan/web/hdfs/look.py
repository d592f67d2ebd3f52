# SPDX-License-Identifier: Apache-2.0
"""What is at a path: a file, a directory, or nothing. Where there are both, the file counts."""

from lochan.errors import NotFound
from lochan.model.entry import Entry
from lochan.operations.list_objects import list_objects
from lochan.operations.read_object import stat_object
from lochan.web.call import Call
from lochan.web.hdfs.place import Place


def find_file(call: Call, place: Place) -> Entry | None:
    """Give the file at a path, if there is one. Raises NotFound for the ref."""
    if place.is_root:
        return None
    try:
        return stat_object(call.lake, call.repository, place.ref, place.key)
    except NotFound as error:
        if error.code != "object-not-found":
            raise
        return None


def is_directory(call: Call, place: Place) -> bool:
    """Say whether there is a directory at a path. Raises NotFound for the ref."""
    found = list_objects(call.lake, call.repository, place.ref, place.prefix, amount=1)
    return place.is_root or bool(found.items)


def holds_more(call: Call, place: Place) -> bool:
    """Say whether a directory holds anything but its own marker."""
    page = list_objects(
        call.lake, call.repository, place.ref, place.prefix, after=place.prefix, amount=1
    )
    return bool(page.items)


def nothing(place: Place) -> NotFound:
    """Say that nothing is there."""
    return NotFound(f"File does not exist: {place}", code="object-not-found")
