# SPDX-License-Identifier: Apache-2.0
"""What every part of the object suite works with."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import NotFound, PredicateFailed
from lochan.objects.open import open_objects
from lochan.objects.store import Chunk, IfMatch, ObjectStore

ENVIRONMENT = RealEnvironment()
# Larger than one read of a local file and one part of an upload: such a body is never in one piece.
LARGE = 11 << 20


def opened(location: str) -> Iterator[ObjectStore]:
    """Open a store for a fixture, and close it afterwards."""
    store = open_objects(location, ENVIRONMENT)
    yield store
    store.close()


def in_threads(count: int, work: Callable[[int], object]) -> list[object]:
    """Run work(0) to work(count - 1) at the same time; give their results, or the first error."""
    with ENVIRONMENT.executor(count) as pool:
        return list(pool.map(work, range(count)))


def pattern(size: int, seed: int = 0) -> bytes:
    """Make bytes in which a misplaced piece shows: no two stretches of 4 KiB are alike."""
    return hashlib.shake_128(seed.to_bytes(8)).digest(size)


def in_pieces(body: bytes, size: int = 1 << 16) -> Iterator[bytes]:
    """Give a body piece by piece, once."""
    return (body[start : start + size] for start in range(0, len(body), size))


def failing(pieces: Iterable[Chunk], error: Exception) -> Iterator[Chunk]:
    """Give pieces, then fail, as a connection does that breaks in the middle of an upload."""
    yield from pieces
    raise error


def read(store: ObjectStore, address: str) -> bytes | None:
    """Read an object; None where there is none."""
    try:
        return store.get(address).read()
    except NotFound:
        return None


def addresses(store: ObjectStore, prefix: str = "") -> list[str]:
    """List all addresses on one page."""
    return [listed.address for listed in store.list(prefix).entries]


def increment(store: ObjectStore, address: str, times: int) -> None:
    """Add one to a decimal number, many times, each time over the version that was read."""
    while times:
        with store.get(address) as reading:
            etag, number = reading.info.etag, int(reading.read())
        try:
            store.put(address, b"%d" % (number + 1), when=IfMatch(etag))
        except PredicateFailed:
            continue
        times -= 1


class Given:
    """What a driver's test class may say about its store.

    A test class supplies a fixture `store` that gives an empty namespace.
    """

    # False for stores that refuse or fold some addresses, such as `a` beside `a/b`, or `a//b`.
    keeps_any_address: ClassVar[bool] = True
    # False for stores that go on showing the prefix of objects that are gone.
    forgets_prefixes: ClassVar[bool] = True
    # How many threads compete for an address.
    competitors: ClassVar[int] = 8
    # The smallest part of an upload but for the last one; S3 says 5 MiB.
    part_bytes: ClassVar[int] = 1000

    @pytest.fixture
    def other(self, store: ObjectStore) -> ObjectStore:
        """The same namespace, opened once more; a store that cannot be opened twice is itself."""
        return store
