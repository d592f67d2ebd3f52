# SPDX-License-Identifier: Apache-2.0
"""Many objects that a job's own writer put below a folder's address, linked in one request.

Each path is judged by itself: who may write to one of two paths links neither.
"""

from lochan.access.actions import WRITE_OBJECT
from lochan.access.arn import object_arn
from lochan.access.needed import Permission
from lochan.errors import InvalidInput
from lochan.model.entry import DEFAULT_CONTENT_TYPE
from lochan.model.ids import valid_object_key
from lochan.model.instant import from_seconds
from lochan.objects.foreign import is_full
from lochan.operations.link_object import Uploaded
from lochan.operations.link_objects import Link
from lochan.operations.link_objects import link_objects as link_many
from lochan.shapes.staging import ObjectLinks, ObjectsLinked, WrittenObject
from lochan.web.address_signature import find_inside, require_given_below
from lochan.web.call import Call
from lochan.web.needs import Need, each
from lochan.web.route import Routes

ROUTES = Routes("staging")


@ROUTES.post(
    "/repositories/{repository}/branches/{branch}/objects/link",
    needs=each(Need("fs:WriteObject", "arn:lakefs:fs:::repository/{repository}/object/{path}")),
    body=ObjectLinks,
    answers={200: ObjectsLinked},
)
def link_objects(call: Call) -> ObjectsLinked:
    """Make objects of what was written below a folder's address: all of them, or none."""
    told = call.told(ObjectLinks)
    for one in told.objects:
        call.require(Permission(WRITE_OBJECT, object_arn(call.path["repository"], one.path)))
    links = [_link(call, told.folder, one) for one in told.objects]
    link_many(call.lake, call.repository, call.branch, links)
    return ObjectsLinked(linked=len(links))


def _link(call: Call, folder: str, one: WrittenObject) -> Link:
    address = one.physical_address
    inside = find_inside(call, address) if is_full(address) else address
    if inside is None:
        message = f"{address!r} lies outside of the repository's namespace; import it instead"
        raise InvalidInput(message, code="link-invalid")
    require_given_below(call, inside, folder, one.path)
    uploaded = Uploaded(
        address=inside,
        size=one.size_bytes,
        e_tag=one.checksum,
        content_type=one.content_type or DEFAULT_CONTENT_TYPE,
        metadata=one.user_metadata,
        last_modified=None if one.mtime is None else from_seconds(one.mtime),
    )
    return Link(valid_object_key(one.path), uploaded)
