# SPDX-License-Identifier: Apache-2.0
"""A reader of an object does what a file in memory does, whatever is asked of it."""

import io
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import IO, Any

import httpx
from hypothesis import given
from hypothesis import strategies as st

from lochan.client.reader import ObjectReader, open_reader
from lochan.shapes.objects import ObjectStats
from support.tiny_server import Answer, transport

moves = st.one_of(
    st.tuples(st.just("read"), st.integers(-1, 300)),
    st.tuples(st.just("seek"), st.integers(0, 300)),
    st.tuples(st.just("from end"), st.integers(-20, 20)),
    st.tuples(st.just("line"), st.just(0)),
)


def served(data: bytes) -> Callable[[dict[str, str]], AbstractContextManager[httpx.Response]]:
    def handler(environ: dict[str, Any]) -> Answer:
        first, last = dict(environ["headers"])["range"].removeprefix("bytes=").split("-")
        part = data[int(first) : int(last) + 1]
        return 206, {"etag": '"e"', "content-length": str(len(part))}, [part]

    asked = transport(handler)
    return lambda headers: asked.download(("x",), headers=headers)


def made(file: IO[bytes], move: tuple[str, int], size: int) -> object:
    name, number = move
    if name == "read":
        return file.read(number)
    if name == "seek":
        return file.seek(number)
    if name == "from end":
        return file.seek(max(-size, number), io.SEEK_END)
    return file.readline()


@given(st.binary(max_size=200), st.lists(moves, max_size=12), st.integers(1, 64))
def test_an_object_is_read_like_a_file(
    data: bytes, asked: list[tuple[str, int]], buffering: int
) -> None:
    stats = ObjectStats(
        path="a",
        path_type="object",
        physical_address="",
        checksum="e",
        size_bytes=len(data),
        mtime=0,
    )
    model = io.BytesIO(data)

    with open_reader(ObjectReader(stats, served(data)), buffering=buffering) as reader:
        for move in asked:
            assert made(reader, move, len(data)) == made(model, move, len(data))
            assert reader.tell() == model.tell()
