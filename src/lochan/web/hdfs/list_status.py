# SPDX-License-Identifier: Apache-2.0
"""LISTSTATUS: all that a directory holds.

A directory of one page is answered at once. A larger one is written while it is read, so that no
listing lies in memory as a whole. Where a page cannot be read the answer breaks off, which is no
JSON any more: a part is never taken for the whole (H9).
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from lochan.errors import LochanError
from lochan.kernel.records import Record
from lochan.operations.list_objects import Item, ListingPage
from lochan.web.call import Call
from lochan.web.hdfs.above import names_in
from lochan.web.hdfs.file_status import directory_status
from lochan.web.hdfs.listed import LIST, page_of, statuses, without_children
from lochan.web.hdfs.operation import DISARMED, Operations, told
from lochan.web.hdfs.place import Place, place_of, require_list
from lochan.web.reply import Reply

OPERATIONS = Operations()

_BEFORE: Final = b'{"FileStatuses":{"FileStatus":['
_AFTER: Final = b"]}}"
_encode: Final = msgspec.json.Encoder().encode


@OPERATIONS.add("GET", "LISTSTATUS", needs=LIST)
def list_status(call: Call) -> Reply:
    """List a directory, whole; a file holds itself."""
    place = place_of(call)
    if not place.ref:
        rows = [directory_status(name) for name in names_in(call, place)]
    else:
        require_list(call, place)
        page = page_of(call, place)
        if page.has_more:
            return Reply(None, 200, DISARMED, "", chunks=_pages(call, place, page))
        rows = statuses(page, place) if page.items else without_children(call, place)
    return told({"FileStatuses": {"FileStatus": rows}})


def _pages(call: Call, place: Place, page: ListingPage) -> Iterator[bytes]:
    yield _BEFORE
    is_first = True
    while True:
        rows = _encode(statuses(page, place))[1:-1]
        if rows:
            yield rows if is_first else b"," + rows
            is_first = False
        if not page.has_more:
            break
        try:
            page = page_of(call, place, end_of(page.items[-1]))
        except LochanError as error:
            call.services.log.warning("a listing broke off", path=str(place), error=error.message)
            return
    yield _AFTER


def end_of(item: Item) -> bytes:
    """Give what the next page begins behind."""
    return item.key if isinstance(item, Record) else item.prefix
