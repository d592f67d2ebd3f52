# SPDX-License-Identifier: Apache-2.0
"""Objects taken from a branch, one or many; each of many is judged by itself (GHSA-28q9)."""

from lochan.access.actions import DELETE_OBJECT
from lochan.access.arn import object_arn
from lochan.access.needed import Permission
from lochan.errors import InvalidInput
from lochan.model.ids import ObjectKey, valid_object_key
from lochan.operations.delete_objects import delete_objects as remove_objects
from lochan.operations.stage import seen_writable
from lochan.shapes.objects import (
    DeleteObjectQuery,
    DeleteObjectsQuery,
    ObjectError,
    ObjectErrorList,
    PathList,
)
from lochan.web.call import Call
from lochan.web.needs import Need, each
from lochan.web.route import NOTHING, Routes

ROUTES = Routes("objects")

_BRANCH = "/repositories/{repository}/branches/{branch}"
_REPOSITORY = "arn:lakefs:fs:::repository/{repository}"


@ROUTES.delete(
    _BRANCH + "/objects",
    needs=Need("fs:DeleteObject", _REPOSITORY + "/object/{path}"),
    query=DeleteObjectQuery,
    answers={204: NOTHING},
)
def delete_object(call: Call) -> None:
    """Take an object away; one that is not there is no error."""
    key = valid_object_key(call.asked(DeleteObjectQuery).path)
    remove_objects(call.lake, call.repository, call.branch, [key])


@ROUTES.post(
    _BRANCH + "/objects/delete",
    needs=each(Need("fs:DeleteObject", _REPOSITORY + "/object/{path}")),
    query=DeleteObjectsQuery,
    body=PathList,
    answers={200: ObjectErrorList},
)
def delete_objects(call: Call) -> ObjectErrorList:
    """Take several objects away, and tell which ones were not."""
    keys: list[ObjectKey] = []
    errors: list[ObjectError] = []
    for path in call.told(PathList).paths:
        try:
            key = valid_object_key(path)
        except InvalidInput as error:
            errors.append(ObjectError(status_code=400, message=error.message, path=path))
            continue
        if call.decide(Permission(DELETE_OBJECT, object_arn(call.path["repository"], path))):
            keys.append(key)
        else:
            message = f"you may not delete {path!r}; ask for a policy that allows it"
            errors.append(ObjectError(status_code=403, message=message, path=path))
    if keys:
        seen_writable(call.lake, call.repository, call.branch)
        remove_objects(call.lake, call.repository, call.branch, keys)
    return ObjectErrorList(errors=errors)
