# SPDX-License-Identifier: Apache-2.0
"""Pages of a directory, in the order of keys, and what a page without items stands for."""

from typing import Final

from lochan.operations.list_objects import ListingPage, list_objects
from lochan.web.call import Call
from lochan.web.hdfs.file_status import FileStatus, child_status, file_status
from lochan.web.hdfs.look import find_file, is_directory, nothing
from lochan.web.hdfs.operation import REPOSITORY
from lochan.web.hdfs.place import Place
from lochan.web.needs import Need, each

PAGE: Final = 5000  # items; about a megabyte of answer
LIST: Final = each(Need("fs:ListObjects", REPOSITORY), Need("fs:ListBranches", REPOSITORY))


def page_of(call: Call, place: Place, after: bytes = b"") -> ListingPage:
    """Read the page of a directory behind a key or common prefix. Raises NotFound for the ref."""
    return list_objects(
        call.lake,
        call.repository,
        place.ref,
        place.prefix,
        after=after,
        delimiter=b"/",
        amount=PAGE,
    )


def statuses(page: ListingPage, place: Place) -> list[FileStatus]:
    """Describe what a page shows."""
    prefix = place.prefix
    found = (child_status(item, prefix) for item in page.items)
    return [status for status in found if status is not None]


def without_children(call: Call, place: Place) -> list[FileStatus]:
    """List what has no children: a file holds itself, the root of a ref may be empty.

    Raises NotFound for what is neither.
    """
    entry = find_file(call, place)
    if entry is not None:
        return [file_status(entry)]
    if is_directory(call, place):
        return []
    raise nothing(place)
