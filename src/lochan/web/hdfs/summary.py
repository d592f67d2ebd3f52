# SPDX-License-Identifier: Apache-2.0
"""GETCONTENTSUMMARY: how many files, directories and bytes lie below a path."""

from lochan.kernel.records import Record
from lochan.model.codec import decode_entry
from lochan.operations.list_objects import list_objects
from lochan.web.call import Call
from lochan.web.hdfs.look import find_file, is_directory, nothing
from lochan.web.hdfs.operation import REPOSITORY, Operations, told
from lochan.web.hdfs.place import Place, branch_of, place_of, require_list
from lochan.web.needs import Need, each
from lochan.web.reply import Reply

OPERATIONS = Operations()


@OPERATIONS.add("GET", "GETCONTENTSUMMARY", needs=each(Need("fs:ListObjects", REPOSITORY)))
def get_content_summary(call: Call) -> Reply:
    """Count what lies below a path, the directory itself among it."""
    place = place_of(call)
    branch_of(place)
    require_list(call, place)
    entry = find_file(call, place)
    if entry is not None:
        return _summary(entry.size, files=1, directories=0)
    if not is_directory(call, place):
        raise nothing(place)
    return _counted(call, place)


def _counted(call: Call, place: Place) -> Reply:
    """Read all keys below; in their order, a directory's stand together."""
    prefix, after, has_more = place.prefix, b"", True
    size = files = directories = 0
    inside: list[bytes] = []  # the directories that the last key lies in, from the top
    while has_more:
        page = list_objects(call.lake, call.repository, place.ref, prefix, after=after)
        for item in page.items:
            if isinstance(item, Record):
                *folders, name = item.key[len(prefix) :].split(b"/")
                shared = _shared(inside, folders)
                directories, inside = directories + len(folders) - shared, folders
                if name:
                    files, size = files + 1, size + decode_entry(item.value).size
                after = item.key
        has_more = page.has_more
    return _summary(size, files=files, directories=directories + 1)


def _shared(some: list[bytes], others: list[bytes]) -> int:
    """Count the directories with which two paths begin alike."""
    for count, (one, other) in enumerate(zip(some, others, strict=False)):
        if one != other:
            return count
    return min(len(some), len(others))


def _summary(size: int, *, files: int, directories: int) -> Reply:
    figures = {
        "length": size,
        "fileCount": files,
        "directoryCount": directories,
        "spaceConsumed": size,
        "quota": -1,
        "spaceQuota": -1,
        "ecPolicy": "",
        "typeQuota": {},
    }
    return told({"ContentSummary": figures})
