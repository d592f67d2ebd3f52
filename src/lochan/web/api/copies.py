# SPDX-License-Identifier: Apache-2.0
"""Objects copied and renamed inside a repository.

A copy is by reference where that is safe, whether `shallow` is asked for or not (see the story). A
rename touches no bytes. It takes from one key and gives to another, so each object that moves needs
the rights to read and delete it there and to write it here (S16).
"""

from lochan.access.actions import DELETE_OBJECT, READ_OBJECT, WRITE_OBJECT
from lochan.access.arn import object_arn
from lochan.access.needed import AllOf, Permission
from lochan.model.ids import valid_object_key
from lochan.operations.copy_object import Source
from lochan.operations.copy_object import copy_object as make_copy
from lochan.operations.rename_object import rename_object
from lochan.operations.rename_prefix import rename_prefix
from lochan.shapes.objects import (
    CopyObjectQuery,
    ObjectCopyCreation,
    ObjectRename,
    ObjectsRenamed,
    ObjectStats,
)
from lochan.web.api.object_stats import object_stats
from lochan.web.call import Call
from lochan.web.needs import Need, each, every
from lochan.web.route import Routes

ROUTES = Routes("objects")

_BRANCH = "/repositories/{repository}/branches/{branch}"
_OBJECT = "arn:lakefs:fs:::repository/{repository}/object/"


@ROUTES.post(
    _BRANCH + "/objects/copy",
    needs=every(
        Need("fs:ReadObject", _OBJECT + "{body.src_path}"),
        Need("fs:WriteObject", _OBJECT + "{dest_path}"),
    ),
    query=CopyObjectQuery,
    body=ObjectCopyCreation,
    answers={201: ObjectStats},
)
def copy_object(call: Call) -> ObjectStats:
    """Copy an object to a path of a branch, from any ref of the repository."""
    path, told = call.asked(CopyObjectQuery).dest_path, call.told(ObjectCopyCreation)
    source = Source(told.src_ref or call.branch, valid_object_key(told.src_path))
    key = valid_object_key(path)
    entry = make_copy(call.lake, call.repository, call.branch, key, source)
    return object_stats(call.repository, path, entry)


@ROUTES.post(
    _BRANCH + "/objects/rename",
    needs=each(
        Need("fs:ReadObject", _OBJECT + "{body.source}"),
        Need("fs:DeleteObject", _OBJECT + "{body.source}"),
        Need("fs:WriteObject", _OBJECT + "{body.destination}"),
    ),
    body=ObjectRename,
    answers={200: ObjectsRenamed},
)
def rename_objects(call: Call) -> ObjectsRenamed:
    """Give an object another path; a source that ends with a slash stands for all below it."""
    told = call.told(ObjectRename)
    source, destination = valid_object_key(told.source), valid_object_key(told.destination)
    call.require(_moving(call, source, destination))
    if not told.source.endswith("/"):
        rename_object(
            call.lake, call.repository, call.branch, source, destination, overwrite=told.overwrite
        )
        return ObjectsRenamed(renamed=1)
    renamed = rename_prefix(
        call.lake,
        call.repository,
        call.branch,
        source,
        destination,
        overwrite=told.overwrite,
        # Each is judged; what is written down is the prefix.
        require=lambda one, other: call.user.require(_moving(call, one, other)),
    )
    return ObjectsRenamed(renamed=renamed)


def _moving(call: Call, source: bytes, destination: bytes) -> AllOf:
    """Say what is needed to take a key away and write it elsewhere."""
    repository = call.path["repository"]
    here = object_arn(repository, source.decode(errors="replace"))
    there = object_arn(repository, destination.decode(errors="replace"))
    return AllOf(
        Permission(READ_OBJECT, here),
        Permission(DELETE_OBJECT, here),
        Permission(WRITE_OBJECT, there),
    )
