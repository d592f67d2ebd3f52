# SPDX-License-Identifier: Apache-2.0
"""Objects out: whole or a range, streamed, or a signed URL to fetch them from."""

from lochan.model.entry import Entry
from lochan.model.ids import valid_object_key
from lochan.operations.read_entry import read_entry
from lochan.operations.read_object import stat_object
from lochan.shapes.errors import Error
from lochan.shapes.objects import GetObjectQuery
from lochan.web.call import Call
from lochan.web.needs import Need
from lochan.web.object_reply import Shown, object_reply
from lochan.web.presign import presign_read
from lochan.web.reply import Reply
from lochan.web.route import NOTHING, OCTETS, Routes

ROUTES = Routes("objects")

_PATH = "/repositories/{repository}/refs/{ref}/objects"
_READ = Need("fs:ReadObject", "arn:lakefs:fs:::repository/{repository}/object/{path}")
_HEADERS = {
    "Range": "Which bytes, as in bytes=0-99; one range, else all are sent.",
    "If-None-Match": "An entity tag; an object that has it still is answered with 304.",
}


@ROUTES.get(
    _PATH,
    needs=_READ,
    query=GetObjectQuery,
    headers=_HEADERS,
    answers={200: OCTETS, 206: OCTETS, 302: NOTHING, 304: NOTHING, 416: Error},
)
def get_object(call: Call) -> Reply:
    """Give an object's bytes."""
    asked = call.asked(GetObjectQuery)
    entry = _entry(call, asked)
    signed = presign_read(call, entry, asked.path) if asked.presign else None
    if signed is not None:
        return Reply(None, 302, {"location": signed.url, "cache-control": "no-store"})
    return _reply(call, asked.path, entry)


@ROUTES.add(
    "HEAD",
    _PATH,
    needs=_READ,
    query=GetObjectQuery,
    headers=_HEADERS,
    answers={200: NOTHING, 206: NOTHING, 304: NOTHING, 416: NOTHING},
)
def head_object(call: Call) -> Reply:
    """Give what GET would say, without the bytes."""
    asked = call.asked(GetObjectQuery)
    return _reply(call, asked.path, _entry(call, asked))


def _entry(call: Call, asked: GetObjectQuery) -> Entry:
    return stat_object(call.lake, call.repository, call.path["ref"], valid_object_key(asked.path))


def _reply(call: Call, path: str, entry: Entry) -> Reply:
    name = path.rpartition("/")[2]
    shown = Shown(name, entry.size, entry.e_tag, entry.content_type, entry.last_modified)
    return object_reply(
        call.request,
        shown,
        lambda extent: read_entry(call.lake, call.repository, entry, extent),
        call.services.log,
    )
