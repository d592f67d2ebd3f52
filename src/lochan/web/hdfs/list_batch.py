# SPDX-License-Identifier: Apache-2.0
"""LISTSTATUS_BATCH: a page of what a directory holds.

A client asks for the next page by the last name that it got. Names are in the order of keys, in
which a directory's has a slash at its end; and a file and a directory may have one name. So a page
ends with no directory of which there is a file, too: a name at the end of a page stands for the
file where there is one, and else for the directory.
"""

import msgspec

from lochan.committed.listing import Prefix
from lochan.operations.list_objects import ListingPage
from lochan.web.call import Call
from lochan.web.hdfs.above import names_in
from lochan.web.hdfs.file_status import FileStatus, directory_status
from lochan.web.hdfs.listed import LIST, page_of, statuses, without_children
from lochan.web.hdfs.look import find_file, is_directory
from lochan.web.hdfs.operation import Operations, told
from lochan.web.hdfs.place import Place, place_of, require_list
from lochan.web.reply import Reply

OPERATIONS = Operations()


class BatchQuery(msgspec.Struct, frozen=True):
    """Behind which name the listing goes on."""

    startafter: str = ""


@OPERATIONS.add("GET", "LISTSTATUS_BATCH", needs=LIST, query=BatchQuery)
def list_status_batch(call: Call) -> Reply:
    """List a page of a directory; a file holds itself."""
    place, after = place_of(call), call.asked(BatchQuery).startafter
    if not place.ref:
        names = [name for name in names_in(call, place) if name > after]
        return _batch([directory_status(name) for name in names], has_more=False)
    require_list(call, place)
    page = _unambiguous(call, place, page_of(call, place, _behind(call, place, after)))
    if page.items or after:
        return _batch(statuses(page, place), has_more=page.has_more)
    return _batch(without_children(call, place), has_more=False)


def _behind(call: Call, place: Place, name: str) -> bytes:
    if not name:
        return b""
    child = place / name
    if find_file(call, child) is None and is_directory(call, child):
        return child.prefix
    return child.key


def _unambiguous(call: Call, place: Place, page: ListingPage) -> ListingPage:
    if not page.has_more:
        return page
    last = page.items[-1]
    if isinstance(last, Prefix) and len(page.items) > 1:
        name = last.prefix[len(place.prefix) : -1].decode(errors="replace")
        if not name or find_file(call, place / name) is not None:
            return _unambiguous(call, place, ListingPage(page.items[:-1], has_more=True))
    return page


def _batch(rows: list[FileStatus], *, has_more: bool) -> Reply:
    listing = {
        "partialListing": {"FileStatuses": {"FileStatus": rows}},
        "remainingEntries": int(has_more),
    }
    return told({"DirectoryListing": listing})
