# SPDX-License-Identifier: Apache-2.0
"""What WebHDFS clients ask by the way, and what they are told when something is wrong."""

import falcon.testing
import pytest

from lochan.errors import (
    Conflict,
    Corruption,
    Gone,
    Internal,
    LochanError,
    PredicateFailed,
    Refused,
    Throttled,
    Unavailable,
)
from lochan.web.hdfs.failure import remote_exception
from support.hdfs import Hdfs, exception
from support.object_routes import allow


def test_a_client_finds_its_bearings(hdfs: Hdfs) -> None:
    assert hdfs.get("GETHOMEDIRECTORY", "/").json == {"Path": "/"}
    assert hdfs.get("GETSERVERDEFAULTS", "/").json["FsServerDefaults"]["trashInterval"] == 0
    assert hdfs.get("GETDELEGATIONTOKEN", "/").json == {"Token": None}
    assert hdfs.get("GETTRASHROOT", "a/b").json == {"Path": "/lake/main/.Trash"}


def test_a_file_is_one_block_wherever_it_is_read(hdfs: Hdfs) -> None:
    hdfs.objects.put("a", b"12345")
    (block,) = hdfs.get("GETFILEBLOCKLOCATIONS", "a", offset=0, length=5).json["BlockLocations"][
        "BlockLocation"
    ]
    assert (block["offset"], block["length"], block["hosts"]) == (0, 5, ["localhost"])
    old = hdfs.get("GET_BLOCK_LOCATIONS", "a", offset=0, length=5).json["LocatedBlocks"]
    assert (old["fileLength"], len(old["locatedBlocks"])) == (5, 1)


def test_access_is_what_the_policies_say(hdfs: Hdfs) -> None:
    hdfs.objects.put("a/b")
    reader = Hdfs(hdfs.api.user("reader", allow("fs:ReadObject")))
    assert reader.get("CHECKACCESS", "a/b", fsaction="r--").status_code == 200
    assert exception(reader.get("CHECKACCESS", "a/b", fsaction="rw-"))[0] == 403
    assert exception(reader.get("CHECKACCESS", "c"))[0] == 404
    assert hdfs.get("CHECKACCESS", "a", fsaction="rwx").status_code == 200


@pytest.mark.parametrize(
    ("method", "op"), [("GET", "GETACLSTATUS"), ("PUT", "OPEN"), ("GET", ""), ("DELETE", "MKDIRS")]
)
def test_what_is_no_operation_is_said_to_be_none(hdfs: Hdfs, method: str, op: str) -> None:
    answer = hdfs.ask(method, op, "a")
    assert exception(answer) == (400, "UnsupportedOperationException")
    assert op in answer.json["RemoteException"]["message"]


def test_there_is_no_checksum_of_hadoops_kind(hdfs: Hdfs) -> None:
    hdfs.objects.put("a")
    assert exception(hdfs.get("GETFILECHECKSUM", "a")) == (400, "UnsupportedOperationException")


def test_operations_are_named_in_any_case(hdfs: Hdfs) -> None:
    assert hdfs.get("liststatus").status_code == 200


def test_wrong_parameters_are_wrong_arguments(hdfs: Hdfs) -> None:
    hdfs.objects.put("a")
    for offset in (-1, "x", ""):
        wrong = hdfs.get("OPEN", "a", offset=offset)
        assert exception(wrong) == (400, "IllegalArgumentException")
    missing = hdfs.ask("PUT", "RENAME", "a")
    assert exception(missing) == (400, "IllegalArgumentException")
    assert exception(hdfs.ask("PUT", "RENAME", "a", destination="b"))[0] == 400


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (Gone("x"), (404, "FileNotFoundException")),
        (PredicateFailed("x"), (403, "FileAlreadyExistsException")),
        (Conflict("x"), (403, "IOException")),
        (Refused("x"), (403, "AccessControlException")),
        (Throttled("x"), (429, "RetriableException")),
        (Unavailable("x"), (503, "RetriableException")),
        (Corruption("x"), (500, "IOException")),
        (Internal("x"), (500, "IOException")),
    ],
)
def test_every_error_is_an_exception_that_java_knows(
    hdfs: Hdfs, error: LochanError, expected: tuple[int, str]
) -> None:
    request = falcon.testing.create_req()
    reply = remote_exception(hdfs.api.services, request, error)
    assert isinstance(reply.body, bytes)
    assert reply.status == expected[0]
    assert f'"exception":"{expected[1]}"'.encode() in reply.body
    assert error.message.encode() in reply.body


def test_a_bug_of_ours_tells_no_traceback(hdfs: Hdfs) -> None:
    request = falcon.testing.create_req()
    reply = remote_exception(hdfs.api.services, request, KeyError("inner"))
    assert isinstance(reply.body, bytes)
    assert reply.status == 500
    assert b"inner" not in reply.body
    assert b"something broke inside the server" in reply.body


def test_a_protected_branch_takes_no_files(hdfs: Hdfs) -> None:
    hdfs.write("a")
    rules = [{"pattern": "main", "blocked_actions": ["staging_write"]}]
    at = "/repositories/lake/settings/branch_protection"
    assert hdfs.api.put(at, json=rules).status_code == 204
    for answer in (
        hdfs.write("b"),
        hdfs.make("c"),
        hdfs.delete("a"),
        hdfs.delete("none"),
        hdfs.rename("a", "d"),
    ):
        assert exception(answer) == (403, "AccessControlException")
    assert hdfs.keys() == ["a"]
