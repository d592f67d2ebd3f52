# SPDX-License-Identifier: Apache-2.0
"""DELETE: a file, or a directory with all that is in it.

A directory that loses its last file is gone, unless it has a marker: nothing is left behind of a
job that was given up.
"""

import msgspec

from lochan.access.actions import DELETE_OBJECT
from lochan.access.arn import object_arn
from lochan.access.needed import Permission
from lochan.errors import AlreadyExists
from lochan.operations.delete_objects import delete_objects, delete_prefix
from lochan.operations.stage import seen_writable
from lochan.web.call import Call
from lochan.web.hdfs.look import find_file, holds_more, is_directory
from lochan.web.hdfs.operation import OBJECT, Operations, told
from lochan.web.hdfs.place import Place, branch_of, place_of, require_either
from lochan.web.needs import Need, each
from lochan.web.reply import Reply

OPERATIONS = Operations()


class DeleteQuery(msgspec.Struct, frozen=True):
    """Whether a directory goes with what is in it."""

    recursive: bool = False


@OPERATIONS.add("DELETE", "DELETE", needs=each(Need("fs:DeleteObject", OBJECT)), query=DeleteQuery)
def delete(call: Call) -> Reply:
    """Delete what is at a path, and say whether anything was."""
    place = place_of(call)
    require_either(call, DELETE_OBJECT, place)
    branch = branch_of(place)
    seen_writable(call.lake, call.repository, branch)
    if find_file(call, place) is not None:
        _judge(call, place, place.key)
        delete_objects(call.lake, call.repository, branch, [place.key])
        return told({"boolean": True})
    if not is_directory(call, place):
        return told({"boolean": False})
    return told({"boolean": _delete_directory(call, place)})


def _delete_directory(call: Call, place: Place) -> bool:
    if not call.asked(DeleteQuery).recursive and holds_more(call, place):
        message = f"{place} is a directory with files in it; delete it recursively"
        raise AlreadyExists(message, code="directory-not-empty")

    branch = branch_of(place)

    def judge(key: bytes) -> None:
        _judge(call, place, key)

    return bool(delete_prefix(call.lake, call.repository, branch, place.prefix, require=judge))


def _judge(call: Call, place: Place, key: bytes) -> None:
    """Refuse a caller that may not delete a key; what is written down is the path."""
    path = key.decode(errors="replace")
    call.user.require(Permission(DELETE_OBJECT, object_arn(place.repository, path)))
