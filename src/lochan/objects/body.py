# SPDX-License-Identifier: Apache-2.0
"""Bodies on their way in: checked against the declared size, cut into even parts, measured.

A driver never trusts that a body is whole. `chunks` ends with an error unless exactly the declared
number of bytes came, so that a driver which publishes only after the last chunk cannot publish a
truncated object.
"""

import hashlib
from collections.abc import Iterable, Iterator

from lochan.errors import InvalidInput
from lochan.objects.store import Body, Chunk


def chunks(body: Body, size: int | None, address: str) -> Iterator[Chunk]:
    """Yield the body's pieces. Raises InvalidInput when they are not `size` bytes together."""
    position = 0
    pieces = (body,) if isinstance(body, bytes | bytearray | memoryview) else body
    for given in pieces:
        piece = memoryview(given).cast("B") if isinstance(given, memoryview) else given
        position += len(piece)
        if size is not None and position > size:
            raise InvalidInput(
                f"the body for {address} goes on after {size} bytes, its declared size; not stored",
                code="incomplete-body",
            )
        if piece:
            yield piece
    if size is not None and position != size:
        raise InvalidInput(
            f"the body for {address} ended after {position} of {size} bytes; nothing was stored",
            code="incomplete-body",
        )


def cut(pieces: Iterable[Chunk], sizes: Iterable[int]) -> Iterator[bytes]:
    """Cut and join pieces into parts of exactly these sizes, the last one shorter, none empty.

    Raises: InvalidInput when the pieces go on after the last size.
    """
    ends = iter(sizes)
    wanted = next(ends)
    waiting = bytearray()
    for piece in pieces:
        rest = memoryview(piece)
        while len(waiting) + len(rest) >= wanted > 0:
            taken = wanted - len(waiting)
            waiting += rest[:taken]
            rest = rest[taken:]
            yield bytes(waiting)
            waiting.clear()
            wanted = next(ends, 0)
        waiting += rest
        if waiting and not wanted:
            raise InvalidInput("the body is longer than all its parts may be; declare its size")
    if waiting:
        yield bytes(waiting)


class Measured:
    """A body that counts and hashes itself as it is read: size and hex MD5, S3's ETag of it."""

    def __init__(self, body: Body) -> None:
        """Wrap a body, which can be read once."""
        self._body = body
        self._md5 = hashlib.md5(usedforsecurity=False)
        self.size = 0

    def __iter__(self) -> Iterator[Chunk]:
        """Yield the body's pieces unchanged."""
        for piece in chunks(self._body, None, ""):
            self._md5.update(piece)
            self.size += len(piece)
            yield piece

    @property
    def md5(self) -> str:
        """The hex MD5 of what has been read so far."""
        return self._md5.hexdigest()
