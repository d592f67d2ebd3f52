# SPDX-License-Identifier: Apache-2.0
"""Cut a stream into blocks and store them by their content; take a whole object as one block.

The same bytes give the same block. It is put again even if it is there: the store's time of it is
its age for collection, and a block that somebody is about to name must not look old. Putting the
same bytes twice is harmless, so that a put of unknown outcome is repeated. While a collector takes
blocks away, the bytes go to an address of their own (`lochan.operations.gc.sweeping`).
"""

import hashlib
from collections.abc import Iterator
from functools import partial
from itertools import repeat
from typing import Final

from lochan.model.entry import Block, Entry
from lochan.model.ids import ObjectKey
from lochan.model.records import Repository
from lochan.objects.address import block_address
from lochan.objects.body import chunks, cut
from lochan.objects.store import Body, ObjectStore
from lochan.operations.gc.sweeping import is_under_way, last_sweep
from lochan.operations.lake import Lake
from lochan.operations.read_entry import read_entry
from lochan.refs.outcomes import surely

BLOCK_BYTES: Final = 8 << 20  # what a put holds in memory


def store_blocks(
    lake: Lake, repository: Repository, key: ObjectKey, body: Body, block_bytes: int
) -> tuple[Block, ...]:
    """Store a stream as blocks. What the stream raises goes through; nothing names its blocks."""
    storage = lake.storage(repository.storage_namespace)
    objects = storage.objects
    name = key.decode(errors="replace")

    def stored() -> Iterator[Block]:
        before = last_sweep(lake, repository)
        for piece in cut(chunks(body, None, name), repeat(block_bytes)):
            digest = hashlib.sha256(piece).digest()
            address = block_address(digest, name)
            surely(partial(_put, objects, address, piece))
            after = last_sweep(lake, repository)
            if after != before or is_under_way(after):  # it may have been found old, and gone since
                address = storage.addresses.new(name)
                surely(partial(_put, objects, address, piece))
            before = after
            yield Block(address, 0, len(piece), digest)

    return tuple(stored())


def _put(objects: ObjectStore, address: str, piece: bytes) -> None:
    objects.put(address, piece, size=len(piece))


def as_block(lake: Lake, repository: Repository, plain: Entry) -> Block:
    """Take an object that was put whole as a block: it is read once, to know its hash."""
    digest = hashlib.sha256()
    with read_entry(lake, repository, plain) as reading:
        for piece in reading:
            digest.update(piece)
    return Block(plain.address, 0, plain.size, digest.digest())
