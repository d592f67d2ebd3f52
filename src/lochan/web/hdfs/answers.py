# SPDX-License-Identifier: Apache-2.0
"""What Hadoop's clients ask by the way, and what is true of every file here.

There are no owners, modes, copies or blocks: who sets them is let in if it may write, and nothing
changes. Delegation tokens are not needed, since every client has the lake's own credentials: the
answer is that there is none, as of a cluster without Kerberos.
"""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from lochan.access.actions import READ_OBJECT, WRITE_OBJECT
from lochan.errors import InvalidInput
from lochan.web.call import Call
from lochan.web.hdfs.file_status import BLOCK_BYTES
from lochan.web.hdfs.look import find_file, is_directory, nothing
from lochan.web.hdfs.operation import OBJECT, REPOSITORY, Operations, done, told
from lochan.web.hdfs.place import place_of, require, require_list, require_seen
from lochan.web.needs import SIGNED_IN, Need, each
from lochan.web.reply import Reply

OPERATIONS = Operations()

_READ: Final = each(Need("fs:ReadObject", OBJECT))
_WRITE: Final = each(Need("fs:WriteObject", OBJECT))
_LIST: Final = each(Need("fs:ListObjects", REPOSITORY))
_SEE: Final = each(Need("fs:ListObjects", REPOSITORY), Need("fs:ReadObject", OBJECT))


class SpanQuery(msgspec.Struct, frozen=True):
    """Which bytes are asked about."""

    offset: Annotated[int, Meta(ge=0)] = 0
    length: Annotated[int, Meta(ge=0)] = 0


class AccessQuery(msgspec.Struct, frozen=True):
    """What somebody would do: some of r, w and x."""

    fsaction: Annotated[str, Meta(extra_json_schema={"examples": ["rw-"]})] = "r--"


@OPERATIONS.add("GET", "GETHOMEDIRECTORY", needs=SIGNED_IN)
def get_home_directory(_: Call) -> Reply:
    """Give where a path without a slash at its beginning starts; nobody has a home."""
    return told({"Path": "/"})


@OPERATIONS.add("GET", "GETSERVERDEFAULTS", needs=SIGNED_IN)
def get_server_defaults(_: Call) -> Reply:
    """Give what a client assumes of new files."""
    defaults = {
        "blockSize": BLOCK_BYTES,
        "bytesPerChecksum": 512,
        "writePacketSize": 65536,
        "replication": 1,
        "fileBufferSize": 4096,
        "encryptDataTransfer": False,
        "trashInterval": 0,
        "checksumType": 0,
        "keyProviderUri": "",
        "defaultStoragePolicyId": 0,
    }
    return told({"FsServerDefaults": defaults})


@OPERATIONS.add("GET", "GETDELEGATIONTOKEN", needs=SIGNED_IN)
def get_delegation_token(_: Call) -> Reply:
    """Give none."""
    return told({"Token": None})


@OPERATIONS.add("GET", "GETTRASHROOT", needs=SIGNED_IN)
def get_trash_root(call: Call) -> Reply:
    """Give where a client would keep what it deletes, if it were told to keep any."""
    place = place_of(call)
    parts = [part for part in (place.repository, place.ref) if part]
    return told({"Path": "/" + "/".join([*parts, ".Trash"])})


@OPERATIONS.add("GET", "GETFILEBLOCKLOCATIONS", needs=_LIST, query=SpanQuery)
def get_file_block_locations(call: Call) -> Reply:
    """Say that the bytes asked about are one block, as near to one host as to any other."""
    require_list(call, place_of(call))
    asked = call.asked(SpanQuery)
    block = {
        "offset": asked.offset,
        "length": asked.length,
        "corrupt": False,
        "hosts": ["localhost"],
        "names": ["localhost"],
        "cachedHosts": [],
        "topologyPaths": ["/default-rack/localhost"],
        "storageTypes": ["DISK"],
        "storageIds": [""],
    }
    return told({"BlockLocations": {"BlockLocation": [block]}})


@OPERATIONS.add("GET", "GET_BLOCK_LOCATIONS", needs=_LIST, query=SpanQuery)
def get_block_locations(call: Call) -> Reply:
    """Say the same to clients before Hadoop 3.4."""
    require_list(call, place_of(call))
    asked = call.asked(SpanQuery)
    block = {
        "block": {
            "blockPoolId": "lochan",
            "blockId": 0,
            "numBytes": asked.length,
            "generationStamp": 0,
        },
        "locations": [],
        "startOffset": asked.offset,
        "isCorrupt": False,
        "cachedLocations": [],
        "storageTypes": [],
        "blockToken": None,
    }
    located = {
        "fileLength": asked.offset + asked.length,
        "isUnderConstruction": False,
        "locatedBlocks": [block],
        "lastLocatedBlock": block,
        "isLastBlockComplete": True,
    }
    return told({"LocatedBlocks": located})


@OPERATIONS.add("GET", "GETFILECHECKSUM", needs=_READ)
def get_file_checksum(call: Call) -> Reply:
    """Refuse: Hadoop compares checksums of HDFS's blocks, and there are none."""
    place = place_of(call)
    require(call, READ_OBJECT, place)
    message = f"{place} has no checksum of Hadoop's kind; compare sizes, or what the lake says"
    raise InvalidInput(message, code="not-implemented")


@OPERATIONS.add(
    "GET",
    "CHECKACCESS",
    needs=each(Need("fs:ReadObject", OBJECT), Need("fs:WriteObject", OBJECT)),
    query=AccessQuery,
)
def check_access(call: Call) -> Reply:
    """Refuse a caller that may not do what it says, or whose path names nothing."""
    place, wanted = place_of(call), call.asked(AccessQuery).fsaction
    may_list = require_seen(call, place)
    if "r" in wanted:
        require(call, READ_OBJECT, place)
    if "w" in wanted:
        require(call, WRITE_OBJECT, place)
    if find_file(call, place) is None and not (may_list and is_directory(call, place)):
        raise nothing(place)
    return done()


@OPERATIONS.add("PUT", "SETPERMISSION", needs=_WRITE)
@OPERATIONS.add("PUT", "SETOWNER", needs=_WRITE)
@OPERATIONS.add("PUT", "SETTIMES", needs=_WRITE)
def set_nothing(call: Call) -> Reply:
    """Let somebody set what nothing here has."""
    require(call, WRITE_OBJECT, place_of(call))
    return done()


@OPERATIONS.add("PUT", "SETREPLICATION", needs=_WRITE)
def set_replication(call: Call) -> Reply:
    """Let somebody say how many copies there should be; the store decides."""
    require(call, WRITE_OBJECT, place_of(call))
    return told({"boolean": True})
