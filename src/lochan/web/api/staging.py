# SPDX-License-Identifier: Apache-2.0
"""Objects that are uploaded past this server: an address to write to, then the link to a path.

An address in the repository's namespace is linked only with the signature that it was given with;
one elsewhere only where that is allowed (`foreign`). `stageObject` is the older way to say so.
"""

from lochan.model.entry import DEFAULT_CONTENT_TYPE
from lochan.model.ids import valid_object_key
from lochan.model.instant import from_seconds
from lochan.objects.foreign import is_full
from lochan.operations.link_object import Uploaded, link_object
from lochan.shapes.objects import ObjectQuery, ObjectStageCreation, ObjectStats
from lochan.shapes.staging import GetPhysicalAddressQuery, StagingLocation, StagingMetadata
from lochan.web.address_signature import find_inside, in_full, new_signed_address, require_given
from lochan.web.api.object_stats import object_stats
from lochan.web.call import Call
from lochan.web.conditions import CONDITION_HEADERS, condition_of
from lochan.web.foreign import require_foreign
from lochan.web.needs import Need
from lochan.web.presign import presign_write
from lochan.web.route import Routes

ROUTES = Routes("staging")

_BRANCH = "/repositories/{repository}/branches/{branch}"
_WRITE = Need("fs:WriteObject", "arn:lakefs:fs:::repository/{repository}/object/{path}")


@ROUTES.get(
    _BRANCH + "/staging/backing",
    needs=_WRITE,
    query=GetPhysicalAddressQuery,
    answers={200: StagingLocation},
)
def get_physical_address(call: Call) -> StagingLocation:
    """Give an address to which the bytes of an object can be written within a day."""
    asked = call.asked(GetPhysicalAddressQuery)
    repository = call.repository
    address = new_signed_address(call, asked.path)
    physical = in_full(repository, address)
    if not asked.presign:
        return StagingLocation(physical_address=physical)
    store = call.lake.storage(repository.storage_namespace).objects
    signed = presign_write(call, store, address)
    return StagingLocation(
        physical_address=physical,
        presigned_url=signed.url,
        presigned_url_expiry=signed.expires,
    )


@ROUTES.put(
    _BRANCH + "/staging/backing",
    needs=_WRITE,
    query=ObjectQuery,
    body=StagingMetadata,
    headers=CONDITION_HEADERS,
    answers={200: ObjectStats},
)
def link_physical_address(call: Call) -> ObjectStats:
    """Make an object of what was written to an address."""
    told = call.told(StagingMetadata)
    uploaded = Uploaded(
        address=told.staging.physical_address,
        size=told.size_bytes,
        e_tag=told.checksum,
        content_type=told.content_type or DEFAULT_CONTENT_TYPE,
        metadata=told.user_metadata,
        last_modified=None if told.mtime is None else from_seconds(told.mtime),
    )
    return link(call, call.asked(ObjectQuery).path, uploaded)


@ROUTES.put(
    _BRANCH + "/objects",
    needs=_WRITE,
    query=ObjectQuery,
    body=ObjectStageCreation,
    answers={201: ObjectStats},
)
def stage_object(call: Call) -> ObjectStats:
    """Make an object of what lies at an address."""
    told = call.told(ObjectStageCreation)
    uploaded = Uploaded(
        address=told.physical_address,
        size=told.size_bytes,
        e_tag=told.checksum,
        content_type=told.content_type or DEFAULT_CONTENT_TYPE,
        metadata=told.metadata,
        last_modified=None if told.mtime is None else from_seconds(told.mtime),
    )
    return link(call, call.asked(ObjectQuery).path, uploaded)


def link(call: Call, path: str, uploaded: Uploaded) -> ObjectStats:
    """Link an object to a path, if its address was given for it or may come from outside."""
    key, condition = valid_object_key(path), condition_of(call.request)
    is_foreign = _is_foreign(call, path, uploaded.address)
    entry = link_object(
        call.lake,
        call.repository,
        call.branch,
        key,
        uploaded,
        condition=condition,
        allow_foreign=is_foreign,
    )
    return object_stats(call.repository, path, entry)


def _is_foreign(call: Call, path: str, address: str) -> bool:
    inside = find_inside(call, address) if is_full(address) else address
    if inside is None:
        require_foreign(call, address)
        return True
    require_given(call, inside, path)
    return False
