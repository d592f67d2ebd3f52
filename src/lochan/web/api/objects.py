# SPDX-License-Identifier: Apache-2.0
"""Objects: what they are, what there is, and what people say of them.

Where an object lies is told only to who may read it (S16): a listing needs `fs:ListObjects` alone,
and shows no address of an object that the caller may not read.
"""

from functools import partial

import msgspec

from lochan.access.actions import READ_OBJECT
from lochan.access.arn import object_arn
from lochan.access.needed import Permission
from lochan.kernel.records import Record
from lochan.model.codec import decode_entry
from lochan.model.entry import Entry
from lochan.model.ids import valid_object_key
from lochan.model.records import Repository
from lochan.operations.list_objects import Item
from lochan.operations.list_objects import list_objects as page_of_objects
from lochan.operations.read_object import stat_object as entry_of
from lochan.operations.update_user_metadata import update_user_metadata
from lochan.shapes.objects import (
    ListObjectsQuery,
    ObjectQuery,
    ObjectStats,
    ObjectStatsList,
    StatObjectQuery,
    UnderlyingObjectProperties,
    UpdateObjectUserMetadata,
)
from lochan.web.api.object_stats import entry_at_once, object_stats, prefix_stats
from lochan.web.api.pages import amount_of, pagination
from lochan.web.call import Call
from lochan.web.needs import Need
from lochan.web.presign import presign_read
from lochan.web.route import NOTHING, Glance, Routes

ROUTES = Routes("objects")

_REPOSITORY = "arn:lakefs:fs:::repository/{repository}"
_OBJECT = _REPOSITORY + "/object/{path}"


def _stat_at_once(glance: Glance) -> ObjectStats | None:
    asked = glance.query
    assert isinstance(asked, StatObjectQuery)  # noqa: S101 - the declaration says so
    if asked.presign:
        return None
    entry = entry_at_once(glance, asked.path)
    return _stats(glance.repository, asked, entry) if entry is not None else None


@ROUTES.get(
    "/repositories/{repository}/refs/{ref}/objects/stat",
    needs=Need("fs:ReadObject", _OBJECT),
    query=StatObjectQuery,
    answers={200: ObjectStats},
    at_once=_stat_at_once,
)
def stat_object(call: Call) -> ObjectStats:
    """Give what is known of an object, without its bytes."""
    asked = call.asked(StatObjectQuery)
    repository = call.repository
    entry = entry_of(call.lake, repository, call.path["ref"], valid_object_key(asked.path))
    shown = _stats(repository, asked, entry)
    return _signed(call, shown, entry) if asked.presign else shown


@ROUTES.get(
    "/repositories/{repository}/refs/{ref}/objects/ls",
    needs=Need("fs:ListObjects", _REPOSITORY),
    query=ListObjectsQuery,
    answers={200: ObjectStatsList},
)
def list_objects(call: Call) -> ObjectStatsList:
    """Give objects, and prefixes where a delimiter is given, in order of their paths."""
    asked = call.asked(ListObjectsQuery)
    page = page_of_objects(
        call.lake,
        call.repository,
        call.path["ref"],
        _octets(asked.prefix),
        after=_octets(asked.after),
        delimiter=_octets(asked.delimiter),
        amount=amount_of(asked),
    )
    folder = Permission(READ_OBJECT, object_arn(call.path["repository"], "*"), below=True)
    rows = partial(_row, call, asked, reads_all=call.may(folder))
    results = [rows(item) for item in page.items]
    offset = results[-1].path if page.has_more and results else ""
    return ObjectStatsList(pagination=pagination(len(results), offset), results=results)


@ROUTES.put(
    "/repositories/{repository}/branches/{branch}/objects/stat/user_metadata",
    needs=Need("fs:WriteObject", _OBJECT),
    query=ObjectQuery,
    body=UpdateObjectUserMetadata,
    answers={204: NOTHING},
)
def update_object_user_metadata(call: Call) -> None:
    """Give an object other metadata."""
    key = valid_object_key(call.asked(ObjectQuery).path)
    told = call.told(UpdateObjectUserMetadata)
    update_user_metadata(call.lake, call.repository, call.branch, key, told.set)


@ROUTES.get(
    "/repositories/{repository}/refs/{ref}/objects/underlyingProperties",
    needs=Need("fs:ReadObject", _OBJECT),
    query=ObjectQuery,
    answers={200: UnderlyingObjectProperties},
)
def get_underlying_properties(call: Call) -> UnderlyingObjectProperties:
    """Give what the object store says of an object; no store of ours tells a storage class."""
    key = valid_object_key(call.asked(ObjectQuery).path)
    entry_of(call.lake, call.repository, call.path["ref"], key)
    return UnderlyingObjectProperties()


def _row(call: Call, asked: ListObjectsQuery, item: Item, *, reads_all: bool) -> ObjectStats:
    if not isinstance(item, Record):
        return prefix_stats(item.prefix.decode(errors="replace"))
    entry = decode_entry(item.value)
    path = item.key.decode(errors="replace")
    shown = object_stats(call.repository, path, entry, told=asked.user_metadata)
    repository = call.path["repository"]
    if not reads_all and not call.may(Permission(READ_OBJECT, object_arn(repository, path))):
        return msgspec.structs.replace(shown, physical_address="")
    return _signed(call, shown, entry) if asked.presign else shown


def _stats(repository: Repository, asked: StatObjectQuery, entry: Entry) -> ObjectStats:
    shown = object_stats(repository, asked.path, entry)
    return shown if asked.user_metadata else msgspec.structs.replace(shown, metadata=None)


def _signed(call: Call, shown: ObjectStats, entry: Entry) -> ObjectStats:
    """Put a signed URL in place of the address, where one can be had."""
    signed = presign_read(call, entry, shown.path)
    if signed is None:
        return shown
    return msgspec.structs.replace(
        shown, physical_address=signed.url, physical_address_expiry=signed.expires
    )


def _octets(text: str) -> bytes:
    return valid_object_key(text) if text else b""
