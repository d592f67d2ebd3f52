# SPDX-License-Identifier: Apache-2.0
"""Objects in: their bytes through this server, as they come.

x-lakefs-meta-<key>        metadata of the object, key in lower case
x-lakefs-internal-<key>    likewise under ::lakefs::<key>, for clients' own use
"""

from typing import Final

from lochan.model.ids import valid_object_key
from lochan.operations.put_object import put_object
from lochan.operations.stage import seen_writable
from lochan.shapes.objects import ObjectQuery, ObjectStats, UploadObjectQuery
from lochan.web.api.object_stats import object_stats
from lochan.web.call import Call
from lochan.web.conditions import CONDITION_HEADERS, condition_of
from lochan.web.environ import Headers
from lochan.web.needs import Need
from lochan.web.route import NOTHING, OCTETS, Routes
from lochan.web.upload_body import upload_body

ROUTES = Routes("objects")

_BRANCH = "/repositories/{repository}/branches/{branch}"
_WRITE = Need("fs:WriteObject", "arn:lakefs:fs:::repository/{repository}/object/{path}")
_META: Final = "x-lakefs-meta-"
_INTERNAL: Final = "x-lakefs-internal-"


@ROUTES.post(
    _BRANCH + "/objects",
    needs=_WRITE,
    query=UploadObjectQuery,
    body=OCTETS,
    headers={**CONDITION_HEADERS, "Content-MD5": "MD5 of the bytes, in base64."},
    answers={201: ObjectStats},
)
def upload_object(call: Call) -> ObjectStats:
    """Store an object on a branch."""
    path = call.asked(UploadObjectQuery).path
    key, condition, metadata = valid_object_key(path), condition_of(call.request), _metadata(call)
    body = upload_body(call)
    entry = put_object(
        call.lake,
        call.repository,
        call.branch,
        key,
        body.pieces,
        size=body.size,
        content_type=body.content_type,
        metadata=metadata,
        condition=condition,
    )
    return object_stats(call.repository, path, entry)


@ROUTES.get(
    _BRANCH + "/objects/stage_allowed",
    needs=_WRITE,
    query=ObjectQuery,
    answers={204: NOTHING},
)
def upload_object_preflight(call: Call) -> None:
    """Say whether an upload to a path would be let through."""
    valid_object_key(call.asked(ObjectQuery).path)
    seen_writable(call.lake, call.repository, call.branch)


def _metadata(call: Call) -> dict[str, str]:
    return metadata_of(call.headers)


def metadata_of(headers: Headers) -> dict[str, str]:
    """Gather an object's metadata from headers as they came: my_key is not my-key."""
    found: dict[str, str] = {}
    for name, value in headers:
        if name.startswith(_META):
            found[name.removeprefix(_META)] = value
        elif name.startswith(_INTERNAL):
            found[f"::lakefs::{name.removeprefix(_INTERNAL)}"] = value
    return found
