# SPDX-License-Identifier: Apache-2.0
"""OPEN: a file's bytes from an offset on, in two steps.

Hadoop's client opens a file, is sent elsewhere (307), and asks there for bytes whenever it seeks.
It never says how many it wants: it gets all to the end, and hangs up when it has enough.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from lochan.access.actions import READ_OBJECT
from lochan.errors import InvalidInput
from lochan.model.entry import Entry
from lochan.objects.store import Span
from lochan.operations.read_entry import read_entry
from lochan.web.call import Call
from lochan.web.hdfs.look import find_file, is_directory, nothing
from lochan.web.hdfs.operation import DISARMED, OBJECT, Operations, done, elsewhere
from lochan.web.hdfs.pin import new_pin, pinned
from lochan.web.hdfs.place import Place, may_list, place_of, require
from lochan.web.needs import Need, each
from lochan.web.object_reply import SMALL_BYTES, Chunks
from lochan.web.reply import Reply

OPERATIONS = Operations()


class OpenQuery(msgspec.Struct, frozen=True):
    """Which bytes, and where the client was sent for them."""

    offset: Annotated[int, Meta(ge=0)] = 0
    length: Annotated[int, Meta(ge=0)] | None = None
    data: bool = False
    pin: str = ""


@OPERATIONS.add("GET", "OPEN", needs=each(Need("fs:ReadObject", OBJECT)), query=OpenQuery)
def open_file(call: Call) -> Reply:
    """Say where a file's bytes are, and give them there."""
    place, asked = place_of(call), call.asked(OpenQuery)
    require(call, READ_OBJECT, place)
    if asked.pin:
        return _bytes(call, asked, pinned(call, place, asked.pin))
    entry = _file(call, place)
    if asked.data:
        return _bytes(call, asked, entry)
    pin = new_pin(call, place, entry)
    return elsewhere(call, "data=true" if pin is None else f"data=true&pin={pin}")


def _file(call: Call, place: Place) -> Entry:
    entry = find_file(call, place)
    if entry is not None:
        return entry
    if not place.ref or (may_list(call, place) and is_directory(call, place)):
        raise InvalidInput(f"{place} is a directory; open a file in it", code="is-a-directory")
    raise nothing(place)


def _bytes(call: Call, asked: OpenQuery, entry: Entry) -> Reply:
    start = asked.offset
    if start > entry.size:
        message = f"the file has {entry.size} bytes; there are none from {start} on"
        raise InvalidInput(message, code="invalid-range")
    stop = entry.size if asked.length is None else min(entry.size, start + asked.length)
    if start == stop:
        return done()
    reading = read_entry(call.lake, call.repository, entry, Span(start, stop))
    if stop - start <= SMALL_BYTES:
        return Reply(reading.read(), 200, DISARMED, "")
    chunks = Chunks(reading, call.services.log)
    return Reply(None, 200, DISARMED, "", chunks=chunks, length=stop - start)
