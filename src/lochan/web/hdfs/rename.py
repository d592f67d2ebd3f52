# SPDX-License-Identifier: Apache-2.0
"""RENAME: a file or a whole directory, by metadata alone; no byte is copied.

Two forms, as in Hadoop. The older one answers yes or no, and puts what it is given into a directory
that is there. The other has options, names the destination exactly, and says by an error why not.
Both stay within a branch: what moves between branches is merged.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from lochan.access.actions import DELETE_OBJECT, READ_OBJECT, WRITE_OBJECT
from lochan.access.arn import object_arn
from lochan.access.needed import AllOf, Permission
from lochan.errors import AlreadyExists, InvalidInput, NotFound
from lochan.model.entry import Entry
from lochan.operations.rename_object import rename_object
from lochan.operations.rename_prefix import rename_prefix
from lochan.operations.stage import seen_writable
from lochan.web.call import Call
from lochan.web.hdfs.look import find_file, holds_more, is_directory, nothing
from lochan.web.hdfs.operation import OBJECT, REPOSITORY, Operations, done, told
from lochan.web.hdfs.place import Place, branch_of, place_of, require_either
from lochan.web.needs import Need, each
from lochan.web.reply import Reply

OPERATIONS = Operations()


class RenameQuery(msgspec.Struct, frozen=True):
    """Where to, and how; without `renameoptions` it is the older form."""

    destination: Annotated[str, Meta(extra_json_schema={"examples": ["/lake/main/other"]})]
    renameoptions: str | None = None

    @property
    def overwrites(self) -> bool:
        """Say whether a file or empty directory at the destination is replaced."""
        return "OVERWRITE" in (self.renameoptions or "").upper().split(",")


@OPERATIONS.add(
    "PUT",
    "RENAME",
    needs=each(
        Need("fs:ReadObject", OBJECT),
        Need("fs:DeleteObject", OBJECT),
        Need("fs:WriteObject", REPOSITORY + "/object/{destination}"),
    ),
    query=RenameQuery,
)
def rename(call: Call) -> Reply:
    """Give a file or directory another path of its branch."""
    asked = call.asked(RenameQuery)
    source, other = place_of(call), _destination(asked.destination)
    for action, place in ((READ_OBJECT, source), (DELETE_OBJECT, source), (WRITE_OBJECT, other)):
        require_either(call, action, place)
    branch = branch_of(source)
    if (other.repository, other.ref) != (source.repository, source.ref):
        message = f"{source} cannot be renamed to {other}: a rename stays within one branch"
        raise InvalidInput(message, code="rename-across-branches")
    seen_writable(call.lake, call.repository, branch)
    if asked.renameoptions is None:
        return told({"boolean": _rename_plainly(call, source, other)})
    _rename_exactly(call, source, other, overwrite=asked.overwrites)
    return done()


def _rename_plainly(call: Call, source: Place, other: Place) -> bool:
    entry = find_file(call, source)
    if source.is_root or (entry is None and not is_directory(call, source)):
        return False
    if find_file(call, other) is not None:
        return source == other
    if is_directory(call, other):
        other = other / source.name
    if other == source or other.path.startswith(f"{source.path}/"):
        return False
    try:
        _move(call, source, other, entry)
    except (AlreadyExists, NotFound):
        return False  # somebody came first
    return True


def _rename_exactly(call: Call, source: Place, other: Place, *, overwrite: bool) -> None:
    entry = find_file(call, source)
    if entry is None and (source.is_root or not is_directory(call, source)):
        raise nothing(source)
    if other == source:
        raise AlreadyExists(f"{source} is renamed to itself")
    if other.is_root or other.path.startswith(f"{source.path}/"):
        raise InvalidInput(f"{source} cannot be renamed to {other}, which lies in it or above it")
    is_file = find_file(call, other) is not None
    if is_file or is_directory(call, other):
        if not overwrite:
            raise AlreadyExists(f"{other} already exists; overwrite it or choose another name")
        if is_file != (entry is not None):
            message = f"{source} and {other} are not both files or both directories"
            raise InvalidInput(message, code="rename-of-another-kind")
        if not is_file and holds_more(call, other):
            message = f"{other} is a directory with files in it; delete it first"
            raise AlreadyExists(message, code="directory-not-empty")
    _move(call, source, other, entry, overwrite=overwrite)


def _move(
    call: Call, source: Place, other: Place, entry: Entry | None, *, overwrite: bool = False
) -> None:
    """Move a file, or all that is in a directory; each is judged, and the paths written down."""
    lake, repository, branch = call.lake, call.repository, branch_of(source)
    if entry is not None:
        call.user.require(_moving(source, other))
        rename_object(lake, repository, branch, source.key, other.key, overwrite=overwrite)
        return

    def require(one: bytes, another: bytes) -> None:
        call.user.require(_moving(_at(source, one), _at(other, another)))

    rename_prefix(
        lake,
        repository,
        branch,
        source.prefix,
        other.prefix,
        overwrite=overwrite,
        require=require,
    )


def _at(place: Place, key: bytes) -> Place:
    return Place(place.repository, place.ref, key.decode(errors="replace"))


def _moving(source: Place, other: Place) -> AllOf:
    """Say what is needed to take a path away and write it elsewhere."""
    here = object_arn(source.repository, source.path)
    return AllOf(
        Permission(READ_OBJECT, here),
        Permission(DELETE_OBJECT, here),
        Permission(WRITE_OBJECT, object_arn(other.repository, other.path)),
    )


def _destination(text: str) -> Place:
    if not text.startswith("/"):
        raise InvalidInput(f"the destination {text!r} must begin with a slash")
    return Place.of(text)
