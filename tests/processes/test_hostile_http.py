# SPDX-License-Identifier: Apache-2.0
"""What no proxy and no client may get past the server (S11): bytes on a raw socket."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from support.flight import AUTHORIZATION
from support.kept import client_of, new_repository
from support.launcher import Launched, Launcher

PLACE = "/api/v1/repositories/rep/branches/main/objects?path=hostile"
HEAD = (
    f"POST {PLACE} HTTP/1.1\r\nhost: x\r\nauthorization: {AUTHORIZATION}\r\n"
    "content-type: application/octet-stream\r\n"
).encode()
SMUGGLED = b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n"
CHUNKED = b"transfer-encoding: chunked\r\n"
GET = b"GET /livez HTTP/1.1\r\nhost: x\r\n"

REFUSED = {
    "two-lengths": HEAD + b"content-length: 3\r\ncontent-length: 40\r\n\r\nabc" + SMUGGLED,
    "a-list-of-lengths": HEAD + b"content-length: 3, 40\r\n\r\nabc" + SMUGGLED,
    "signed-length": HEAD + b"content-length: +3\r\n\r\nabc" + SMUGGLED,
    "negative-length": HEAD + b"content-length: -3\r\n\r\nabc" + SMUGGLED,
    "hexadecimal-length": HEAD + b"content-length: 0x3\r\n\r\nabc" + SMUGGLED,
    "endless-length": HEAD + b"content-length: 99999999999999999999\r\n\r\nabc" + SMUGGLED,
    "chunked-not-last": HEAD + b"transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n" + SMUGGLED,
    "unknown-coding": HEAD + b"transfer-encoding: xchunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
    "space-before-colon": HEAD + b"transfer-encoding : chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
    "folded-line": GET + b"x-folded: a\r\n b\r\n\r\n" + SMUGGLED,
    "folded-coding": HEAD + b"transfer-encoding:\r\n chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
    "nul-in-value": GET + b"x-nul: a\0b\r\n\r\n" + SMUGGLED,
    "nul-in-name": GET + b"x-n\0ul: ab\r\n\r\n" + SMUGGLED,
    "return-in-value": GET + b"x-cr: a\rb\r\n\r\n" + SMUGGLED,
    "nul-in-target": b"GET /livez\0 HTTP/1.1\r\nhost: x\r\n\r\n" + SMUGGLED,
    "no-colon": GET + b"nothing\r\n\r\n" + SMUGGLED,
    "no-version": b"GET /livez\r\n\r\n",
    "unknown-version": b"GET /livez HTTP/9.9\r\nhost: x\r\n\r\n" + SMUGGLED,
}
TOO_LARGE = {
    "one-header": GET + b"x-large: " + b"a" * (17 << 10) + b"\r\n\r\n" + SMUGGLED,
    "several-headers": GET + b"".join(b"x-%d: " % i + b"a" * 1000 + b"\r\n" for i in range(17)),
    "very-large": GET + b"x-large: " + b"a" * (200 << 10) + b"\r\n\r\n",
    "very-many": GET + b"".join(b"x-%d: a\r\n" % i for i in range(2000)) + b"\r\n",
}
BROKEN_CHUNKS = {
    "no-number": b"zz\r\nabc\r\n0\r\n\r\n",
    "overflow": b"fffffffffffffffff\r\nabc\r\n0\r\n\r\n",
    "newline-in-extension": b"3;a=b\nc\r\nabc\r\n0\r\n\r\n",
    "long-extension": b"3;a=" + b"b" * (64 << 10) + b"\r\nabc\r\n0\r\n\r\n",
    "longer-than-said": b"3\r\nabcdef\r\n0\r\n\r\n",
    "negative": b"-3\r\nabc\r\n0\r\n\r\n",
}


@pytest.fixture(scope="module")
def server(launcher: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launched]:
    lake: Path = tmp_path_factory.mktemp("hostile") / "lake"
    told = {
        "LOCHAN_TRUSTED_PROXIES": "127.0.0.1",
        "LOCHAN_LOGGING_AUDIT_FILE": f"{lake}/audit",
        "LOCHAN_LIMITS_BODY_SECONDS": "1",
    }
    with launcher.running(lake, workers=1, settings=told) as started:
        with client_of(started) as client:
            new_repository(client, lake, "rep")
        yield started


@pytest.fixture
def client(server: Launched) -> Iterator[httpx.Client]:
    with client_of(server) as opened:
        yield opened


def answers(server: Launched, sent: bytes) -> bytes:
    """Send bytes, and read until the server ends the connection; it must not be kept waiting."""
    found = b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as raw:
        try:
            raw.sendall(sent)
            while data := raw.recv(1 << 16):
                found += data
        except (ConnectionResetError, BrokenPipeError):
            pass
    return found


@pytest.mark.parametrize("name", REFUSED)
def test_rel_S11_what_can_be_read_in_two_ways_is_refused(server: Launched, name: str) -> None:
    found = answers(server, REFUSED[name])
    assert found[:12] in {b"HTTP/1.1 400", b"", b"HTTP/1.1 505"}
    assert found.count(b"HTTP/1.1 ") <= 1, "what came behind was taken for a request"


@pytest.mark.parametrize("first", ["length", "chunked"])
@pytest.mark.parametrize("count", [3, 13 + len(SMUGGLED)])
def test_rel_S11_with_a_length_and_chunked_nothing_behind_is_taken_for_a_request(
    server: Launched, client: httpx.Client, first: str, count: int
) -> None:
    """Chunked transfer alone counts, and the connection ends, as RFC 9112 (6.1) has it."""
    length = b"content-length: %d\r\n" % count
    both = length + CHUNKED if first == "length" else CHUNKED + length
    found = answers(server, HEAD + both + b"\r\n3\r\nabc\r\n0\r\n\r\n" + SMUGGLED)
    assert found.startswith(b"HTTP/1.1 201")
    assert found.count(b"HTTP/1.1 ") == 1
    stored = client.get("/repositories/rep/refs/main/objects", params={"path": "hostile"})
    assert stored.content == b"abc"


@pytest.mark.parametrize("name", TOO_LARGE)
def test_rel_S11_headers_of_more_than_16_kib_are_refused(server: Launched, name: str) -> None:
    found = answers(server, TOO_LARGE[name] + b"\r\n")
    assert found[:12] in {b"HTTP/1.1 431", b""}
    assert found or name.startswith("very"), "refused, but without a word"
    assert found.count(b"HTTP/1.1 ") <= 1


def test_headers_of_nearly_16_kib_are_taken(server: Launched) -> None:
    padded = GET + b"connection: close\r\nx-large: " + b"a" * (16_200) + b"\r\n\r\n"
    assert answers(server, padded).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("name", BROKEN_CHUNKS)
def test_rel_S11_a_chunked_body_that_is_not_one_stores_nothing(
    server: Launched, client: httpx.Client, name: str
) -> None:
    head = HEAD.replace(b"path=hostile", b"path=" + name.encode())
    found = answers(server, head + CHUNKED + b"\r\n" + BROKEN_CHUNKS[name] + SMUGGLED)
    assert found[:10] in {b"HTTP/1.1 4", b""}
    assert found.count(b"HTTP/1.1 ") <= 1
    stat = client.get("/repositories/rep/refs/main/objects/stat", params={"path": name})
    assert stat.status_code == 404


@pytest.mark.parametrize("path", ["a\r\nx-evil: 1", "a\0b", 'a"; x-evil="1', "a\nb", "\x7f"])
def test_rel_S11_a_name_cannot_write_headers(
    server: Launched, client: httpx.Client, path: str
) -> None:
    place = "/repositories/rep/branches/main/objects"
    if client.post(place, params={"path": path}, content=b"x").status_code != 201:
        return
    target = f"/api/v1/repositories/rep/refs/main/objects?path={quote(path, safe='')}"
    found = answers(
        server,
        f"GET {target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"
        f"authorization: {AUTHORIZATION}\r\n\r\n".encode(),
    )
    assert found.startswith(b"HTTP/1.1 200")
    require_plain(found)


def require_plain(found: bytes) -> None:
    head = found.partition(b"\r\n\r\n")[0]
    names = [line.partition(b":")[0] for line in head.split(b"\r\n")[1:]]
    assert b"x-evil" not in names
    assert all(0x20 <= letter < 0x7F for letter in head.replace(b"\r\n", b""))


@pytest.mark.parametrize("field", ["content_type", "checksum", "metadata"])
def test_rel_S11_what_was_linked_cannot_write_headers(
    server: Launched, client: httpx.Client, field: str
) -> None:
    evil = "text/plain\r\nx-evil: 1"
    client.post("/repositories/rep/branches/main/objects?path=good", content=b"x")
    stat = client.get("/repositories/rep/refs/main/objects/stat?path=good").json()
    told = {name: stat[name] for name in ("physical_address", "checksum", "size_bytes")}
    told[field] = {evil: evil} if field == "metadata" else evil
    place = "/repositories/rep/branches/main/objects"
    linked = client.put(place, params={"path": f"evil-{field}"}, json=told)
    assert linked.status_code in {201, 400}, linked.text
    for method in ("GET", "HEAD"):
        found = answers(
            server,
            f"{method} /api/v1/repositories/rep/refs/main/objects?path=evil-{field} HTTP/1.1\r\n"
            f"host: x\r\nconnection: close\r\nauthorization: {AUTHORIZATION}\r\n\r\n".encode(),
        )
        assert found[:12] == (b"HTTP/1.1 200" if linked.status_code == 201 else b"HTTP/1.1 404")
        require_plain(found)


@pytest.mark.parametrize("said", [b"a\tb", b"\xe9", b"a b<script>", b"x" * 5000])
def test_rel_S11_a_request_id_that_may_not_be_logged_is_not_echoed(
    server: Launched, said: bytes
) -> None:
    found = answers(server, GET + b"connection: close\r\nx-request-id: " + said + b"\r\n\r\n")
    assert found.startswith(b"HTTP/1.1 200")
    assert said not in found
    require_plain(found)


def test_rel_S11_a_trusted_proxy_tells_who_asks(server: Launched) -> None:
    headers = {"X-Forwarded-For": "203.0.113.9, 198.51.100.7"}
    assert httpx.get(f"{server.api}/user", headers=headers).status_code == 401
    last = json.loads((server.lake / "audit").read_text().splitlines()[-1])
    assert last["address"] == "198.51.100.7"


NO_TEXT = {  # bytes that are no UTF-8, beside those that others would make of them
    "stored-by-query": ("POST", "/api/v1/repositories/rep/branches/main/objects?path=a%FF"),
    "stored-by-two-of-three": (
        "POST",
        "/api/v1/repositories/rep/branches/main/objects?path=%E2%82",
    ),
    "half-of-a-pair": ("GET", "/api/v1/repositories/rep/refs/main/objects/stat?path=a%ED%A0%80"),
    "listed": ("GET", "/api/v1/repositories/rep/refs/main/objects/ls?prefix=%C3("),
    "branch": ("GET", "/api/v1/repositories/rep/branches/ma%FFin"),
    "raw-byte": ("GET", "/api/v1/repositories/rep/refs/main/objects/ls?prefix=\xff"),
    "file": ("PUT", "/webhdfs/v1/rep/main/f%FF?op=CREATE&overwrite=true"),
    "other-file": ("PUT", "/webhdfs/v1/rep/main/f%FE?op=CREATE&overwrite=true"),
    "looked-at": ("GET", "/webhdfs/v1/rep/main/f%FF?op=GETFILESTATUS"),
    "renamed": ("PUT", "/webhdfs/v1/rep/main/f?op=RENAME&destination=/rep/main/g%FF"),
}


@pytest.mark.parametrize("name", NO_TEXT)
def test_names_that_differ_in_bytes_that_are_no_utf8_never_become_one(
    server: Launched, client: httpx.Client, name: str
) -> None:
    method, place = NO_TEXT[name]
    headers = f"host: x\r\nauthorization: {AUTHORIZATION}\r\nconnection: close\r\n"
    body = "content-type: application/octet-stream\r\ncontent-length: 1\r\n\r\nx"
    found = answers(server, f"{method} {place} HTTP/1.1\r\n{headers}{body}".encode("latin-1"))

    assert found.startswith(b"HTTP/1.1 400"), found
    listed = client.get("/repositories/rep/refs/main/objects/ls").json()["results"]
    assert not [one["path"] for one in listed if "\ufffd" in one["path"]]


def test_names_beyond_ascii_are_taken_as_they_are(client: httpx.Client) -> None:
    for path in ("\u00e4\u4e16\U0001f30a", "a%FF", "a+b c"):
        put = client.post(
            "/repositories/rep/branches/main/objects",
            params={"path": path},
            content=b"x",
            headers={"content-type": "application/octet-stream"},
        )
        assert (put.status_code, put.json()["path"]) == (201, path)
