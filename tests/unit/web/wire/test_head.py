# SPDX-License-Identifier: Apache-2.0
"""A request's first lines."""

from contextlib import suppress
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.web.wire.head import Refused, head_of

FIRST = b"PUT /webhdfs/v1/a%20b?op=CREATE&x=%2F HTTP/1.1"


def head(*lines: bytes, first: bytes = FIRST) -> bytes:
    return b"\r\n".join((first, b"host: x", *lines))


def test_what_a_request_says_is_read() -> None:
    found = head_of(head(b"X-One:  a b\t", b"content-length: 12", b"Expect: 100-Continue"))
    assert (found.method, found.path, found.query) == ("PUT", "/webhdfs/v1/a b", "op=CREATE&x=%2F")
    assert ("x-one", "a b") in found.headers
    assert (found.length, found.stays, found.expects) == (12, True, True)


def test_a_body_in_chunks_has_no_length() -> None:
    assert head_of(head(b"Transfer-Encoding: Chunked")).length is None
    assert head_of(head()).length == 0


@pytest.mark.parametrize("line", [b"connection: close", b"Connection: Keep-Alive, Close"])
def test_a_client_may_want_one_answer_alone(line: bytes) -> None:
    assert not head_of(head(line)).stays


def test_the_older_protocol_is_answered_once() -> None:
    assert not head_of(b"GET / HTTP/1.0").stays


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"GET /",
        b"GET / HTTP/2.0\r\nhost: x",
        b"GET http://x/ HTTP/1.1\r\nhost: x",
        b"get / HTTP/1.1\r\nhost: x",
        b"GET  / HTTP/1.1\r\nhost: x",
        b"GET /\xe9 HTTP/1.1\r\nhost: x",
        b"GET / HTTP/1.1",
        head(b"host: y"),
        head(b"authorization: a", b"authorization: b"),
        head(b"nothing"),
        head(b"name : value"),
        head(b" folded: value"),
        head(b"a: b", b" folded"),
        head(b"a: b\rc"),
        head(b"a: b\nc: d"),
        head(b"a: b\0c"),
        head(b"content-length: 1", b"content-length: 1"),
        head(b"content-length: 1, 1"),
        head(b"content-length: +1"),
        head(b"content-length:"),
        head(b"content-length: 1234567890123456789"),
        head(b"content-length: 1", b"transfer-encoding: chunked"),
        head(b"transfer-encoding: gzip, chunked"),
        head(b"transfer-encoding: chunked", first=b"PUT / HTTP/1.0"),
        head(first=b"GET /%ff HTTP/1.1"),
    ],
)
def test_rel_S11_what_can_be_read_in_two_ways_is_refused(raw: bytes) -> None:
    with pytest.raises(Refused):
        head_of(raw)


@pytest.mark.parametrize("value", [b" " * 15_000 + b"\x01", b"a" + b" \t" * 7_000 + b"b"])
def test_rel_S18_no_header_takes_long_to_read(value: bytes) -> None:
    began = process_time()
    with suppress(Refused):
        head_of(head(b"x:" + value))
    assert process_time() - began < 0.1


@given(st.binary(max_size=300))
def test_whatever_comes_is_read_or_refused(junk: bytes) -> None:
    for raw in (junk, FIRST + b"\r\n" + junk):
        try:
            head_of(raw)
        except Refused:
            continue
