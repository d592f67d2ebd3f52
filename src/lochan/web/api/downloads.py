# SPDX-License-Identifier: Apache-2.0
"""Objects out: whole or a range, streamed, or a signed URL to fetch them from."""

from collections.abc import Callable
from typing import Final

from lochan.model.entry import Entry
from lochan.model.ids import valid_object_key
from lochan.operations.read_entry import read_entry
from lochan.operations.read_object import stat_object
from lochan.shapes.errors import Error
from lochan.shapes.objects import GetObjectQuery
from lochan.web.api.object_stats import entry_at_once
from lochan.web.call import Call
from lochan.web.needs import Need
from lochan.web.object_reply import SMALL_BYTES, Shown, object_headers, object_reply
from lochan.web.presign import presign_read
from lochan.web.reply import Reply
from lochan.web.route import NOTHING, OCTETS, Glance, Routes

ROUTES = Routes("objects")

_PATH = "/repositories/{repository}/refs/{ref}/objects"
_READ = Need("fs:ReadObject", "arn:lakefs:fs:::repository/{repository}/object/{path}")
_CONDITIONS: Final = frozenset({"if-none-match", "if-range", "range"})
_HEADERS = {
    "Range": "Which bytes, as in bytes=0-99; one range, else all are sent.",
    "If-None-Match": "An entity tag; an object that has it still is answered with 304.",
}


def _get_at_once(glance: Glance) -> Callable[[], Reply] | None:
    asked = glance.query
    assert isinstance(asked, GetObjectQuery)  # noqa: S101 - the declaration says so
    if asked.presign or not _CONDITIONS.isdisjoint(glance.headers):
        return None
    entry = entry_at_once(glance, asked.path)
    if entry is None or entry.size > SMALL_BYTES:
        return None

    def read() -> Reply:
        content = read_entry(glance.lake, glance.repository, entry).read()
        return Reply(content, headers=object_headers(_shown(asked.path, entry)))

    return read


@ROUTES.get(
    _PATH,
    needs=_READ,
    query=GetObjectQuery,
    headers=_HEADERS,
    answers={200: OCTETS, 206: OCTETS, 302: NOTHING, 304: NOTHING, 416: Error},
    at_once=_get_at_once,
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
    return object_reply(
        call.request,
        _shown(path, entry),
        lambda extent: read_entry(call.lake, call.repository, entry, extent),
        call.services.log,
    )


def _shown(path: str, entry: Entry) -> Shown:
    name = path.rpartition("/")[2]
    return Shown(name, entry.size, entry.e_tag, entry.content_type, entry.last_modified)
