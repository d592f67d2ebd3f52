# SPDX-License-Identifier: Apache-2.0
"""MKDIRS: a directory that is there before anything is in it, held by its marker.

Only the last directory of a path gets a marker: those above it are there because it is. The marker
is an object, and who makes a directory needs the right to write that one.
"""

from typing import Final

from lochan.access.actions import WRITE_OBJECT
from lochan.errors import AlreadyExists
from lochan.model.ids import ObjectKey
from lochan.operations.put_object import put_object
from lochan.operations.stage import seen_writable
from lochan.web.call import Call
from lochan.web.hdfs.look import find_file, is_directory
from lochan.web.hdfs.operation import OBJECT, Operations, told
from lochan.web.hdfs.place import Place, branch_of, place_of, require
from lochan.web.needs import Need, each
from lochan.web.reply import Reply

OPERATIONS = Operations()

DIRECTORY_TYPE: Final = "application/x-directory"  # as S3's own tools have it


@OPERATIONS.add("PUT", "MKDIRS", needs=each(Need("fs:WriteObject", OBJECT)))
def make_directories(call: Call) -> Reply:
    """Make a directory and those above it, where they are not there yet."""
    place = place_of(call)
    require(call, WRITE_OBJECT, Place(place.repository, place.ref, f"{place.path}/"))
    branch = branch_of(place)
    seen_writable(call.lake, call.repository, branch)
    if find_file(call, place) is not None:
        raise AlreadyExists(f"{place} is a file; choose another name for the directory")
    if not is_directory(call, place):
        put_object(
            call.lake,
            call.repository,
            branch,
            ObjectKey(place.prefix),
            b"",
            size=0,
            content_type=DIRECTORY_TYPE,
        )
    return told({"boolean": True})
