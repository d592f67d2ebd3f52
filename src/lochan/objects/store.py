# SPDX-License-Identifier: Apache-2.0
"""The object store seam: seven verbs, three capabilities, and what they promise.

An *address* is text of 1 to 1024 bytes in UTF-8, relative to the namespace on which the store was
opened. Addresses compare by their bytes, which is also how Python compares the text. A driver may
refuse addresses that its store cannot keep, with InvalidInput and before anything is sent.

Promises, checked by `lochan.testing.objects`:

1. A put is whole or nothing. A body that fails midway, or is not as long as declared, leaves the
   address as it was.
2. When put, delete or copy returns, its effect is durable, and every later call of any process sees
   it.
3. Of several puts under `IF_ABSENT` at most one succeeds, and of several under the same `IfMatch`
   likewise; the others raise PredicateFailed and change nothing.
4. A read sees one version of the object from its first byte to its last.
5. No verb holds an object in memory. Bodies go in and come out in pieces.
6. An error is never an absence: NotFound means that the store answered and has no such object.
   Unavailable means not applied, UnknownOutcome that a write may have been applied.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, final, runtime_checkable

import msgspec

from lochan.errors import InvalidInput, Unavailable

MAX_ADDRESS_BYTES = 1024  # S3's limit, and ours on every store so that lakes can move
PAGE = 1000  # how many items S3 gives at once

Chunk = bytes | bytearray | memoryview
Body = Chunk | Iterable[Chunk]


class ObjectInfo(msgspec.Struct, frozen=True):
    """What a store knows of an object without reading it.

    `etag` is opaque: it names the stored version and serves `IfMatch`; only some drivers make it a
    hash of the content. Who needs the body's MD5 computes it on the way in (`body.Measured`).
    `modified` is in seconds since the epoch, as told by whoever keeps the object.
    """

    size: int
    etag: str
    modified: float


class Listed(msgspec.Struct, frozen=True):
    """One object in a listing."""

    address: str
    info: ObjectInfo


class Page(msgspec.Struct, frozen=True):
    """A part of a listing: objects, and the prefixes that stand for what the delimiter hides.

    Both are in byte order. `next_after` continues the listing as the next call's start_after; it is
    empty when nothing follows. A page may be short, even empty, and yet be continued.
    """

    entries: tuple[Listed, ...]
    prefixes: tuple[str, ...]
    next_after: str


class Always(msgspec.Struct, frozen=True):
    """Put whatever is there now."""


class IfAbsent(msgspec.Struct, frozen=True):
    """Put only where no object is."""


class IfMatch(msgspec.Struct, frozen=True):
    """Put only over the version with this etag."""

    etag: str


Precondition = Always | IfAbsent | IfMatch
ALWAYS = Always()
IF_ABSENT = IfAbsent()


class Whole(msgspec.Struct, frozen=True):
    """Every byte; the one extent that an empty object satisfies."""


class Span(msgspec.Struct, frozen=True):
    """The bytes start to stop - 1, or to the end where the object ends earlier."""

    start: int
    stop: int

    def __post_init__(self) -> None:
        """Refuse an empty or negative span."""
        if not 0 <= self.start < self.stop:
            raise InvalidInput(f"a span holds at least a byte, not {self.start}:{self.stop}")


class From(msgspec.Struct, frozen=True):
    """The bytes from start to the end."""

    start: int

    def __post_init__(self) -> None:
        """Refuse a negative start."""
        if self.start < 0:
            raise InvalidInput(f"bytes count from 0, not {self.start}")


class Last(msgspec.Struct, frozen=True):
    """The last bytes, all where the object has fewer."""

    count: int

    def __post_init__(self) -> None:
        """Refuse a count that asks for nothing."""
        if self.count < 1:
            raise InvalidInput(f"at least one last byte can be asked for, not {self.count}")


Extent = Whole | Span | From | Last
WHOLE = Whole()


def resolve(extent: Extent, size: int, address: str) -> tuple[int, int]:
    """Turn an extent of an object of this size into start and stop.

    Raises: InvalidInput (code range-not-satisfiable) when it would hold no byte.
    """
    match extent:
        case Whole():
            return 0, size
        case Span(start, stop):
            found = start, min(stop, size)
        case From(start):
            found = start, size
        case Last(count):
            found = max(0, size - count), size
    if found[0] >= found[1]:
        raise InvalidInput(
            f"{address} has {size} bytes; {extent} holds none of them",
            code="range-not-satisfiable",
            size=size,
        )
    return found


def check_address(address: str) -> None:
    """Refuse what no store keeps: empty, too long, or not expressible in UTF-8."""
    try:
        length = len(address.encode())
    except UnicodeEncodeError as error:
        raise InvalidInput(f"{address!r} is no address: it is not valid text") from error
    if not 0 < length <= MAX_ADDRESS_BYTES:
        raise InvalidInput(
            f"an address has 1 to {MAX_ADDRESS_BYTES} bytes, not {length}; shorten {address[:40]!r}"
        )


@final
class Reading:
    """An object being read: what it is, which bytes of it, and these bytes in chunks.

    Iterate once, or `read()` it all. It holds a file or a connection until it is read to the end or
    closed; `with store.get(address) as reading` closes it in any case.
    """

    def __init__(
        self,
        info: ObjectInfo,
        extent: tuple[int, int],
        chunks: Iterator[bytes],
        close: Callable[[], None],
        file: int | None = None,
    ) -> None:
        """Take the chunks of info's bytes from extent[0] to extent[1] - 1.

        `file` is the number of an open file that has the object's bytes, where there is one: it is
        good until this is closed.
        """
        self.file = file
        self.info = info
        self.start, self.stop = extent
        self._chunks = chunks
        self._close = close

    def __iter__(self) -> Iterator[bytes]:
        """Yield the bytes in order. Raises Unavailable when fewer or more arrive than promised."""
        position = self.start
        try:
            for chunk in self._chunks:
                position += len(chunk)
                yield chunk
        finally:
            self._close()
        if position != self.stop:
            got, wanted = position - self.start, self.stop - self.start
            raise Unavailable(f"an object gave {got} bytes of {wanted}; read it again")

    def read(self) -> bytes:
        """Give the bytes as one string; for objects known to be small."""
        chunks = list(self)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def close(self) -> None:
        """Stop reading and free what is held. Idempotent."""
        self._close()

    def __enter__(self) -> "Reading":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class ObjectStore(Protocol):
    """What every driver offers. All verbs may be called from any thread."""

    def put(
        self, address: str, body: Body, *, size: int | None = None, when: Precondition = ALWAYS
    ) -> ObjectInfo:
        """Store a body under an address, whole or not at all.

        `size` declares the body's length: a body that turns out different is refused. An error that
        the body's iterator raises passes through unchanged.
        Raises: PredicateFailed, InvalidInput, Unavailable, UnknownOutcome.
        """

    def get(self, address: str, extent: Extent = WHOLE) -> Reading:
        """Read an object or a part of it. Raises: NotFound, InvalidInput, Unavailable."""

    def head(self, address: str) -> ObjectInfo:
        """Say what is stored under an address. Raises: NotFound, Unavailable."""

    def list(
        self, prefix: str = "", *, delimiter: str = "", start_after: str = "", limit: int = PAGE
    ) -> Page:
        """List addresses that begin with a prefix, in byte order.

        With a delimiter, addresses that hold it behind the prefix are shown as one item: their text
        up to and including its first occurrence. Only items greater than `start_after` are listed
        (a hidden address greater than it does not bring back the item that hides it), and at most
        `limit` of both kinds together.
        Raises: Unavailable; never a shorter list.
        """

    def delete(self, *addresses: str) -> None:
        """Remove objects. Idempotent: what is absent stays absent.

        Raises: Unavailable or UnknownOutcome, after which some may be gone and a repeat is safe.
        """

    def copy(self, source: str, destination: str) -> ObjectInfo:
        """Store the source's bytes under the destination, whole or not at all, over what is there.

        Raises: NotFound, InvalidInput, Unavailable, UnknownOutcome.
        """

    def close(self) -> None:
        """Free files and connections. Idempotent."""


class Part(msgspec.Struct, frozen=True):
    """One stored part of an upload."""

    number: int
    etag: str
    size: int


class Uploads(Protocol):
    """Objects put in parts, by several callers, over a long time.

    An upload is named by the address and the id that `create` gave. Parts are numbered from 1 to
    10,000; a part put again replaces the former one. Nothing is seen under the address before
    `complete`.
    """

    def create(self, address: str) -> str:
        """Begin an upload and name it."""

    def put_part(
        self, address: str, upload: str, number: int, body: Body, *, size: int | None = None
    ) -> Part:
        """Store one part. Raises: NotFound when there is no such upload, and what put raises."""

    def parts(self, address: str, upload: str) -> tuple[Part, ...]:
        """Name the stored parts by number. Raises: NotFound."""

    def complete(
        self, address: str, upload: str, parts: Sequence[Part], *, when: Precondition = ALWAYS
    ) -> ObjectInfo:
        """Join these parts, in this order, into the object, and end the upload.

        Requires: numbers ascend, and etags are those that put_part gave.
        Raises: NotFound, InvalidInput for parts that are not stored so, and what put raises.
        """

    def abort(self, address: str, upload: str) -> None:
        """Forget an upload and its parts. Idempotent."""


@runtime_checkable
class SupportsMultipart(Protocol):
    """A store that takes objects in parts."""

    @property
    def uploads(self) -> Uploads:
        """The uploads of this store."""


@runtime_checkable
class SupportsPresignedParts(Protocol):
    """Uploads whose parts others may put for a while, by URLs like those of `SupportsPresign`."""

    def presign_part(self, address: str, upload: str, number: int, *, expires_s: int) -> str:
        """Give a URL that puts one part until it expires; its answer tells the part's etag."""


@runtime_checkable
class SupportsPresign(Protocol):
    """A store that lets others in for a while, by a URL that carries its own permission."""

    def presign_get(self, address: str, expires_s: int) -> str:
        """Give a URL that reads one object until it expires."""

    def presign_put(self, address: str, expires_s: int) -> str:
        """Give a URL that puts one object until it expires."""


@runtime_checkable
class SupportsLocalPath(Protocol):
    """A store whose objects are plain files of this machine."""

    def local_path(self, address: str) -> Path:
        """Name the file that holds, or would hold, exactly an object's bytes.

        For objects that are never put twice: a reader may map the file, and a writer that knows
        what it does may create it.
        """
