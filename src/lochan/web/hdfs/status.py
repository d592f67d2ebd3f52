# SPDX-License-Identifier: Apache-2.0
"""GETFILESTATUS: what is at a path.

Whoever may list sees everything. Whoever may read a path alone sees the file there, and not whether
there is a directory.
"""

from lochan.web.call import Call
from lochan.web.hdfs.above import require_repository
from lochan.web.hdfs.file_status import FileStatus, directory_status, file_status
from lochan.web.hdfs.look import find_file, is_directory, nothing
from lochan.web.hdfs.operation import OBJECT, REPOSITORY, Operations, told
from lochan.web.hdfs.place import place_of, require_seen
from lochan.web.needs import Need, each
from lochan.web.reply import Reply

OPERATIONS = Operations()

_SEE = each(
    Need("fs:ListObjects", REPOSITORY),
    Need("fs:ReadObject", OBJECT),
    Need("fs:ReadRepository", REPOSITORY),
)


@OPERATIONS.add("GET", "GETFILESTATUS", needs=_SEE)
@OPERATIONS.add("GET", "GETFILELINKSTATUS", needs=_SEE)
def get_file_status(call: Call) -> Reply:
    """Describe the file or directory at a path; there are no links."""
    return told({"FileStatus": _status(call)})


def _status(call: Call) -> FileStatus:
    place = place_of(call)
    if not place.ref:
        require_repository(call, place)
        return directory_status()
    may_list = require_seen(call, place)
    entry = find_file(call, place)
    if entry is not None:
        return file_status(entry)
    if may_list and is_directory(call, place):
        return directory_status()
    raise nothing(place)
