# SPDX-License-Identifier: Apache-2.0
"""A body as it comes over a socket, however it is cut."""

import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from itertools import pairwise
from time import monotonic

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.web.body import BodyBroken
from lochan.web.wire.incoming import Incoming
from lochan.web.wire.received import Received

NEXT = b"GET / HTTP/1.1\r\n"


class Wire(AbstractContextManager["Wire"]):
    """Two ends of a connection; what one sends comes in packets."""

    def __init__(self, packets: list[bytes]) -> None:
        self._ours, self._theirs = socket.socketpair()
        self._ours.settimeout(0)
        self._packets = packets
        self.received = Received(self._ours, monotonic, 1.0)
        self._more, self.received.more = self.received.more, self._next  # type: ignore[method-assign]

    def _next(self) -> int:
        """Send a packet just before it is waited for, as if the network took its time."""
        if self._packets:
            self._theirs.sendall(self._packets.pop(0))
        else:
            self._theirs.close()
        return self._more()

    def body(self, length: int | None) -> Incoming:
        return Incoming(self.received, length, 1.0, lambda: None)

    def __exit__(self, *_: object) -> None:
        self._ours.close()
        self._theirs.close()


def packets_of(sent: bytes, cuts: list[int]) -> list[bytes]:
    ends = sorted({0, len(sent), *(cut % (len(sent) + 1) for cut in cuts)})
    return [sent[start:stop] for start, stop in pairwise(ends)]


def chunked(chunks: list[bytes]) -> bytes:
    framed = b"".join(b"%x;a=b\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks if chunk)
    return framed + b"0\r\ntrailer: x\r\n\r\n"


def read_all(body: Incoming, sizes: Iterator[int]) -> bytes:
    found = b""
    while piece := body.read(next(sizes)):
        found += piece
    return found


def endless(sizes: list[int]) -> Iterator[int]:
    while True:
        yield from sizes


CHUNKS = st.lists(st.binary(max_size=60), max_size=6)
CUTS = st.lists(st.integers(0, 10_000), max_size=12)
SIZES = st.lists(st.integers(1, 80), min_size=1, max_size=4)


@given(CHUNKS, CUTS, SIZES)
def test_chunks_are_one_body_and_what_follows_is_left(
    chunks: list[bytes], cuts: list[int], sizes: list[int]
) -> None:
    with Wire(packets_of(chunked(chunks) + NEXT, cuts)) as wire:
        body = wire.body(None)
        assert read_all(body, endless(sizes)) == b"".join(chunks)
        assert body.is_over
        assert wire.received.line(100) == NEXT.strip()


@given(st.binary(min_size=1, max_size=300), CUTS, SIZES)
def test_a_body_of_a_length_ends_there(content: bytes, cuts: list[int], sizes: list[int]) -> None:
    with Wire(packets_of(content + NEXT, cuts)) as wire:
        body = wire.body(len(content))
        assert read_all(body, endless(sizes)) == content
        assert body.is_over
        assert wire.received.line(100) == NEXT.strip()


@given(CHUNKS, CUTS, SIZES, st.integers(0, 10_000), st.sampled_from(["chunks", "a length"]))
def test_a_body_that_breaks_off_is_never_whole(
    chunks: list[bytes], cuts: list[int], sizes: list[int], at: int, told: str
) -> None:
    in_chunks = told == "chunks"
    whole = chunked(chunks) if in_chunks else b"".join(chunks) or b"x"
    with Wire(packets_of(whole[: at % len(whole)], cuts)) as wire:
        body = wire.body(None if in_chunks else len(whole))
        with pytest.raises(BodyBroken):
            read_all(body, endless(sizes))
        assert not body.is_over


@given(st.binary(max_size=80))
def test_junk_is_refused_or_read(junk: bytes) -> None:
    with Wire([junk] if junk else []) as wire, suppress(BodyBroken):
        read_all(wire.body(None), endless([50]))


@pytest.mark.parametrize(
    "sent",
    [
        b"zz\r\nabc\r\n0\r\n\r\n",
        b"ffffffffffffffff\r\nabc\r\n0\r\n\r\n",
        b"-3\r\nabc\r\n0\r\n\r\n",
        b"3\nabc\r\n0\r\n\r\n",
        b"3\r\nabcdef\r\n0\r\n\r\n",
        b"3;" + b"a" * 300 + b"\r\nabc\r\n0\r\n\r\n",
        b"3;a=b\nc\r\nabc\r\n0\r\n\r\n",
        b"0\r\n" + b"a: b\r\n" * 65 + b"\r\n",
    ],
)
def test_rel_S11_what_is_no_chunk_breaks_the_body(sent: bytes) -> None:
    with Wire([sent]) as wire, pytest.raises(BodyBroken):
        read_all(wire.body(None), endless([1000]))


def test_more_than_the_buffer_holds_passes_through() -> None:
    content = bytes(range(256)) * 8192  # two MiB
    framed = chunked([content[at : at + 30_000] for at in range(0, len(content), 30_000)])
    with Wire([framed[at : at + 50_000] for at in range(0, len(framed), 50_000)]) as wire:
        assert read_all(wire.body(None), endless([1 << 20])) == content


def test_a_client_that_falls_silent_is_told_so() -> None:
    ours, theirs = socket.socketpair()
    ours.settimeout(0)
    body = Incoming(Received(ours, monotonic, 1.0), 3, 1.0, lambda: None)
    with pytest.raises(BodyBroken) as caught:
        body.read(3)
    assert caught.value.code == "body-stalled"
    ours.close()
    theirs.close()
