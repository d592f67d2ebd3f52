# SPDX-License-Identifier: Apache-2.0
"""Which way the bytes of an upload go."""

from typing import Any

import pytest

from lochan.client import WritableObject
from lochan.client.transport import Transport
from support.tiny_server import Answer, said, transport

STORE = {
    "blockstore_type": "s3",
    "blockstore_namespace_example": "s3://example",
    "blockstore_namespace_ValidityRegex": "^s3://",
    "pre_sign_support": True,
    "pre_sign_support_ui": False,
    "import_support": True,
    "import_validity_regex": "^s3://",
}
STATS = {
    "path": "a",
    "path_type": "object",
    "physical_address": "s3://b/1",
    "checksum": "e",
    "mtime": 1,
}
LARGE = b"x" * (2 << 20)


class Store:
    """A server whose store signs URLs, and the store."""

    def __init__(self, **store: object) -> None:
        self.config = {"version_config": {"version": "1"}, "storage_config": {**STORE, **store}}
        self.asked: list[str] = []
        self.headers: dict[str, dict[str, str]] = {}

    def __call__(self, environ: dict[str, Any]) -> Answer:
        path = environ["PATH_INFO"].rpartition("/")[2]
        name = f"{environ['REQUEST_METHOD']} {path}"
        self.asked.append(name)
        self.headers[name] = dict(environ["headers"])
        environ["wsgi.input"].read()
        if path == "config":
            return said(self.config)
        if name == "GET backing":
            return said({"physical_address": "s3://b/1", "presigned_url": "http://store/signed"})
        if path == "signed":
            return 200, {"etag": '"e"'}, []
        return said(STATS, 201)


def object_of(server: Store) -> WritableObject:
    asked: Transport = transport(server)
    return WritableObject(asked, "repo", "main", "a")


def test_large_objects_go_to_a_store_that_signs() -> None:
    server = Store()
    object_of(server).upload(LARGE, if_none_match=True)

    assert server.asked == ["GET config", "GET backing", "PUT signed", "PUT backing"]
    assert "authorization" not in server.headers["PUT signed"]
    assert server.headers["PUT signed"]["content-length"] == str(len(LARGE))
    assert server.headers["PUT backing"]["if-none-match"] == "*"


@pytest.mark.parametrize("store", [{"blockstore_type": "local"}, {"pre_sign_support": False}])
def test_a_store_that_is_the_servers_own_gets_them_from_it(store: dict[str, object]) -> None:
    server = Store(**store)
    object_of(server).upload(LARGE)

    assert server.asked == ["GET config", "POST objects"]


def test_small_objects_and_streams_of_unknown_size_go_through_the_server() -> None:
    server = Store()
    object_of(server).upload(b"small")
    object_of(server).upload(iter([LARGE]))
    object_of(server).upload(LARGE, presign=False)

    assert server.asked == ["POST objects"] * 3


def test_the_configuration_is_asked_for_once() -> None:
    server = Store()
    stored = object_of(server)
    stored.upload(LARGE)
    stored.upload(LARGE)

    assert server.asked.count("GET config") == 1
