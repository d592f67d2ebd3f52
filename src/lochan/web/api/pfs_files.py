# SPDX-License-Identifier: Apache-2.0
"""The verbs of 2016 for files: put, get, describe, list, delete. Ours, not lakeFS's.

A file may lie in several blocks; where it was put whole its address is told only to who may read it
(S16), which all routes here but the listing demand anyway.
"""

from lochan.access.actions import DELETE_OBJECT, LIST_OBJECTS, READ_OBJECT, WRITE_OBJECT
from lochan.access.arn import object_arn
from lochan.access.needed import AllOf, Permission
from lochan.errors import InvalidInput
from lochan.model.entry import Entry
from lochan.model.ids import OpenCommitId
from lochan.model.instant import to_datetime
from lochan.operations.open_commits import inspect_file as inspecting
from lochan.operations.open_commits.delete_file import delete_file as remove
from lochan.operations.open_commits.list_file import list_file as children_of
from lochan.operations.open_commits.put_file import Mode
from lochan.operations.open_commits.put_file import put_file as put
from lochan.operations.read_entry import read_entry
from lochan.shapes.errors import Error
from lochan.shapes.pfs import (
    DeleteFileQuery,
    FileInfo,
    FileInfoList,
    FileQuery,
    ListFileQuery,
    PutFileQuery,
)
from lochan.web.api.pages import page_of
from lochan.web.call import Call
from lochan.web.needs import Need, each
from lochan.web.object_reply import Shown, object_reply
from lochan.web.reply import Reply
from lochan.web.route import NOTHING, OCTETS, Routes
from lochan.web.upload_body import upload_body

ROUTES = Routes("pfs")

_PATH = "/repositories/{repository}/pfs"
_REPOSITORY = "arn:lakefs:fs:::repository/{repository}"
_OBJECT = _REPOSITORY + "/object/{path}"


@ROUTES.post(
    _PATH + "/put-file",
    needs=Need(WRITE_OBJECT, _OBJECT),
    query=PutFileQuery,
    body=OCTETS,
    answers={204: NOTHING},
)
def put_file(call: Call) -> None:
    """Put the body behind what a file of an open commit has, or instead of it."""
    asked = call.asked(PutFileQuery)
    put(
        call.lake,
        call.repository,
        OpenCommitId(asked.commit),
        asked.path,
        upload_body(call).pieces,
        mode=Mode(asked.mode),
    )


@ROUTES.get(
    _PATH + "/get-file",
    needs=Need(READ_OBJECT, _OBJECT),
    query=FileQuery,
    headers={
        "Range": "Which bytes, as in bytes=0-99; one range, else all are sent.",
        "If-None-Match": "An entity tag; a file that has it still is answered with 304.",
    },
    answers={200: OCTETS, 206: OCTETS, 304: NOTHING, 416: Error},
)
def get_file(call: Call) -> Reply:
    """Give a file's bytes, or those that came after `from_commit`."""
    found, asked = _inspected(call), call.asked(FileQuery)
    entry = found.entry
    if entry is None:
        raise InvalidInput(f"{asked.path!r} is a directory; list it", code="is-a-directory")
    name = asked.path.rpartition("/")[2]
    shown = Shown(name, entry.size, entry.e_tag, entry.content_type, entry.last_modified)
    return object_reply(
        call.request,
        shown,
        lambda extent: read_entry(call.lake, call.repository, entry, extent),
        call.services.log,
    )


@ROUTES.get(
    _PATH + "/inspect-file",
    needs=Need(READ_OBJECT, _OBJECT),
    query=FileQuery,
    answers={200: FileInfo},
)
def inspect_file(call: Call) -> FileInfo:
    """Describe a path at a commit, or what came to it after `from_commit`."""
    return _shown(call, _inspected(call))


@ROUTES.get(
    _PATH + "/list-file",
    needs=Need(LIST_OBJECTS, _REPOSITORY),
    query=ListFileQuery,
    answers={200: FileInfoList},
)
def list_file(call: Call) -> FileInfoList:
    """Give what lies directly in a directory of a commit."""
    asked = call.asked(ListFileQuery)
    found = children_of(
        call.lake, call.repository, asked.path, asked.commit, after=asked.after.encode()
    )
    page, pagination = page_of(found, asked, _offset)
    return FileInfoList(pagination=pagination, results=[_shown(call, info) for info in page])


@ROUTES.delete(
    _PATH + "/delete-file",
    needs=each(Need(DELETE_OBJECT, _OBJECT)),
    query=DeleteFileQuery,
    answers={204: NOTHING},
)
def delete_file(call: Call) -> None:
    """Delete a file, or all that lies in a directory, in an open commit."""
    asked = call.asked(DeleteFileQuery)
    repository = call.path["repository"]
    call.require(
        AllOf(
            Permission(DELETE_OBJECT, object_arn(repository, asked.path)),
            Permission(DELETE_OBJECT, object_arn(repository, f"{asked.path}/*"), below=True),
        )
    )
    remove(call.lake, call.repository, OpenCommitId(asked.commit), asked.path)


def _inspected(call: Call) -> inspecting.FileInfo:
    asked = call.asked(FileQuery)
    return inspecting.inspect_file(
        call.lake, call.repository, asked.path, asked.to_commit, asked.from_commit or None
    )


def _offset(info: inspecting.FileInfo) -> str:
    """Name where a listing goes on: behind a file, or behind all that lies in a directory."""
    path = info.path.decode(errors="replace")
    return path if info.kind is inspecting.FileKind.FILE else f"{path}/"


def _shown(call: Call, info: inspecting.FileInfo) -> FileInfo:
    path, entry = info.path.decode(errors="replace"), info.entry
    if entry is None:
        return FileInfo(path=path, kind="directory", size=0)
    return FileInfo(
        path=path,
        kind="file",
        size=info.size,
        modified=to_datetime(entry.last_modified),
        checksum=entry.e_tag,
        blockrefs=_blockrefs(call, path, entry),
    )


def _blockrefs(call: Call, path: str, entry: Entry) -> list[str]:
    readable = call.may(Permission(READ_OBJECT, object_arn(call.path["repository"], path)))
    if not entry.blocks:
        return [entry.address] if entry.address and readable else []
    # An open commit has not hashed yet what was put whole; that is named by its address.
    refs = (block.hash.hex() or (block.address if readable else "") for block in entry.blocks)
    return [ref for ref in refs if ref]
