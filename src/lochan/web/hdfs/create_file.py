# SPDX-License-Identifier: Apache-2.0
"""CREATE: a file, in two steps; and why no file grows.

The client says what it will write and is sent elsewhere (307) for it, so that nobody sends bytes
that are refused. It sends them in chunks of unknown number: a body that breaks off, as that of a
task that was killed, stores nothing.
"""

from typing import Final

import msgspec

from lochan.access.actions import WRITE_OBJECT
from lochan.errors import AlreadyExists, InvalidInput
from lochan.operations.conditions import if_absent
from lochan.operations.put_object import put_object
from lochan.operations.stage import seen_writable
from lochan.web.call import Call
from lochan.web.hdfs.look import find_file, holds_more, is_directory
from lochan.web.hdfs.operation import OBJECT, Operations, done, elsewhere
from lochan.web.hdfs.place import Place, branch_of, place_of, require
from lochan.web.needs import Need, each
from lochan.web.reply import Reply
from lochan.web.route import OCTETS
from lochan.web.upload_body import upload_body

OPERATIONS = Operations()

_WRITE: Final = each(Need("fs:WriteObject", OBJECT))
_OVERWRITE: Final = "overwrite"


class CreateQuery(msgspec.Struct, frozen=True):
    """Whether a file that is there is replaced, and whether the bytes come with this request.

    `createflag` is what newer callers say instead of `overwrite`: CREATE, OVERWRITE, or both.
    """

    overwrite: bool = False
    createflag: str = ""
    data: bool = False

    @property
    def replaces(self) -> bool:
        """Say whether a file that is there is replaced."""
        return self.overwrite or _OVERWRITE in self.createflag.lower().split(",")


@OPERATIONS.add("PUT", "CREATE", needs=_WRITE, query=CreateQuery, status=201, body=OCTETS)
def create_file(call: Call) -> Reply:
    """Say where a file is to be written, and store it there."""
    place, asked = place_of(call), call.asked(CreateQuery)
    require(call, WRITE_OBJECT, place)
    branch = branch_of(place)
    if not asked.data:
        seen_writable(call.lake, call.repository, branch)
        _require_free(call, place, replaces=asked.replaces)
        return elsewhere(call, "data=true")
    body = upload_body(call)
    put_object(
        call.lake,
        call.repository,
        branch,
        place.key,
        body.pieces,
        size=body.size,
        condition=None if asked.replaces else if_absent,
    )
    return done()


@OPERATIONS.add("POST", "APPEND", needs=_WRITE)
@OPERATIONS.add("POST", "CONCAT", needs=_WRITE)
@OPERATIONS.add("POST", "TRUNCATE", needs=_WRITE)
def refuse_change(call: Call) -> Reply:
    """Refuse to change a file in its place."""
    place = place_of(call)
    require(call, WRITE_OBJECT, place)
    message = f"{place} cannot be changed in its place, only replaced: write it as a whole"
    raise InvalidInput(message, code="not-implemented")


def _require_free(call: Call, place: Place, *, replaces: bool) -> None:
    if not replaces and find_file(call, place) is not None:
        raise AlreadyExists(f"{place} already exists; overwrite it or choose another name")
    if place.is_root or (is_directory(call, place) and holds_more(call, place)):
        raise AlreadyExists(f"{place} is a directory; choose another name")
