# SPDX-License-Identifier: Apache-2.0
"""Damaged table files without end, for the reader to refuse: `python -m support.table_fuzzer`.

Three ways to damage a file, because a checksum hides what lies behind it:

    blind     flip bits, cut, splice pieces of other files
    sealed    change the stored bytes of one block and make its checksum right again
    rebuilt   take the file apart, change contents, handles and properties, and put it together
              again with right checksums and offsets

A reader may answer or raise Corruption. Anything else is a bug; so is memory beyond the limit.
"""

import argparse
import resource
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from random import Random
from typing import cast

from lochan.errors import Corruption
from lochan.kernel import twin
from lochan.kernel.interface import EncodedBlocks, Kernel
from lochan.kernel.records import EMPTY, Column, Record
from lochan.kernel.twin.block_builder import RAW, SNAPPY, BlockBuilder, seal
from lochan.kernel.twin.checksum import masked
from lochan.sstable import StoredTable, read_table, writer
from lochan.sstable.format import BlockHandle, get_footer, get_handle, put_handle
from support.table_samples import (
    data_blocks,
    sample_metarange,
    sample_range,
    tiny_range,
    written,
)

MEMORY_LIMIT = 3 << 30
EDGES = bytes([0, 1, 0x7F, 0x80, 0xFE, 0xFF])
HUGE = [0, 1, 5, 127, 128, 1 << 14, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, (1 << 64) - 1]

Outcome = tuple[str, int, list[Record]]


class Sample:
    """A whole file and where its blocks are."""

    def __init__(self, name: str, data: bytes) -> None:
        footer = get_footer(data, name)
        opened = read_table(data, name, kernel=twin)
        self.name, self.data = name, data
        self.keys = list(opened.records().keys)
        self.two_level = opened.properties["rocksdb.block.based.table.index.type"][0] == 2
        self.properties = [(key.encode(), value) for key, value in opened.properties.items()]
        (_, stored), *_ = twin.decode_block(data, *footer.metaindex, name)
        self.tail = [get_handle(stored, 0)[0], footer.metaindex]
        self.index = footer.index
        self.lower = data_blocks(data, twin)
        self.blocks = [self.index, *self.tail, *self.lower]
        if self.two_level:
            for handle in self.lower:
                self.blocks += [get_handle(value, 0)[0] for _, value in self.rows(handle)]

    def rows(self, handle: BlockHandle) -> list[tuple[bytes, bytes]]:
        """List the entries of one block."""
        return twin.decode_block(self.data, *handle, self.name)

    def content(self, handle: BlockHandle) -> bytes:
        """Expand one block."""
        stored = self.data[handle.offset : handle.offset + handle.length]
        kind = self.data[handle.offset + handle.length]
        return twin.decompress(stored) if kind else stored


def samples() -> list[Sample]:
    """Make the files that are damaged."""
    made = [
        written(EMPTY, "ranges", twin),
        written(tiny_range(), "ranges", twin),
        written(sample_range(), "ranges", twin),
        written(sample_range().slice(0, 50), "ranges", twin),
        written(sample_metarange(), "metaranges", twin),
    ]
    return [Sample(*each) for each in made]


def damage(data: bytes, random: Random) -> bytes:
    """Change some bytes of a stretch, mostly without changing its length."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        at = random.randrange(len(changed)) if changed else 0
        way = random.randrange(8)
        if way < 3 and changed:
            changed[at] ^= 1 << random.randrange(8)
        elif way < 6 and changed:
            changed[at] = random.choice(EDGES)
        elif way == 6:
            changed[at:at] = random.choices(EDGES, k=random.randrange(1, 6))
        else:
            del changed[at : at + random.randrange(1, 6)]
    return bytes(changed)


def blind(sample: Sample, others: list[Sample], random: Random) -> bytes:
    """Damage the bytes of a file whatever they mean."""
    data = sample.data
    way = random.randrange(4)
    if way == 0:
        return data[: random.randrange(len(data))]
    if way == 1:
        other = random.choice(others).data
        start, at = random.randrange(len(other)), random.randrange(len(data))
        piece = other[start : start + random.randrange(1, 400)]
        return data[:at] + piece + data[at + random.choice((0, len(piece))) :]
    if way == 2:  # the footer is small and everything hangs on it
        return data[:-53] + damage(data[-53:], random)
    return damage(data, random)


def sealed(sample: Sample, random: Random, crc32c: Callable[[bytes], int]) -> bytes:
    """Damage a stored block in its place and give it the right checksum."""
    handle = random.choice(sample.blocks)
    start, end = handle.offset, handle.offset + handle.length + 1
    stored = (damage(sample.data[start:end], random) + bytes(end - start))[: end - start]
    crc = masked(crc32c(stored)).to_bytes(4, "little")
    return sample.data[:start] + stored + crc + sample.data[end + 4 :]


class Rebuilt:
    """A file put together from blocks, some of them damaged, under right checksums."""

    def __init__(self, sample: Sample, random: Random, kernel: Kernel) -> None:
        self.sample, self.random, self.kernel = sample, random, kernel
        self.body = bytearray()
        self.left = random.choice((1, 1, 2, 3))  # how many pieces will be damaged

    def build(self) -> bytes:
        """Build the file."""
        entries = self.sample.rows(self.sample.index)
        if self.sample.two_level:
            moved = [self.moved_rows(self.sample.rows(each)) for each in self.sample.lower]
            top = [(key, self.store(block)) for (key, _), block in zip(entries, moved, strict=True)]
            index = self.index_block(top)
        else:
            index = self.moved_rows(entries)
        handle = self.store(index)
        (offset, length), _ = get_handle(handle, 0)
        rows = self.sample.properties
        if self.random.random() < 0.2:
            rows = [(key, self.maybe(value)) for key, value in rows]
        body = bytes(self.body)
        blocks = EncodedBlocks(body, offset, length, 0, 0, 0, 0, 0, 0, 0, 0)
        return body + writer._tail(blocks, rows, self.kernel)

    def moved_rows(self, rows: list[tuple[bytes, bytes]]) -> bytes:
        """Store the data blocks that index rows name, and give an index block for them."""
        found = [(key, get_handle(value, 0)[0]) for key, value in rows]
        contents = [(key, self.sample.content(handle)) for key, handle in found]
        if self.random.random() < 0.1:
            self.random.shuffle(contents)
        return self.index_block([(key, self.store(self.maybe(each))) for key, each in contents])

    def index_block(self, rows: list[tuple[bytes, bytes]]) -> bytes:
        """Write an index block, with a handle or key that leads astray now and then."""
        builder = BlockBuilder(1)
        for key, value in rows:
            builder.add(self.maybe(key), self.astray(value))
        return self.maybe(builder.finish())

    def astray(self, value: bytes) -> bytes:
        if self.random.random() < 0.95:
            return value
        (offset, length), _ = get_handle(value, 0)
        handles = [
            BlockHandle(self.random.choice(HUGE), length),
            BlockHandle(offset, self.random.choice(HUGE)),
            BlockHandle(offset + self.random.randrange(9), length),
        ]
        return put_handle(self.random.choice(handles))

    def maybe(self, content: bytes) -> bytes:
        """Damage a piece while there is damage left to do."""
        if self.left and self.random.random() < 0.3:
            self.left -= 1
            return damage(content, self.random)
        return content

    def store(self, content: bytes) -> bytes:
        """Append a block under a right checksum; give its handle."""
        if self.random.random() < 0.5:
            stored = seal(self.kernel.compress(content), SNAPPY, self.kernel.crc32c)
        else:
            stored = seal(content, RAW, self.kernel.crc32c)
        offset = len(self.body)
        self.body += stored
        return put_handle(BlockHandle(offset, len(stored) - 5))


def mutate(everything: list[Sample], random: Random, kernel: Kernel) -> tuple[str, Sample, bytes]:
    """Make one damaged file: the way it was damaged, what it was made of, its bytes."""
    sample = random.choice(everything)
    way = random.choice(("blind", "sealed", "sealed", "rebuilt"))
    if way == "blind":
        return way, sample, blind(sample, everything, random)
    if way == "sealed":
        return way, sample, sealed(sample, random, kernel.crc32c)
    return way, sample, Rebuilt(sample, random, kernel).build()


def read_all(opened: StoredTable, keys: list[bytes]) -> None:
    """Ask everything of an open table; answers do not matter, staying alive does."""
    probes = sorted({b"", b"\xff" * 9, *keys[:: max(1, len(keys) // 4)]})
    for probe in probes:
        opened.find_block(probe)
        with suppress(Corruption):
            opened.get(probe)
    opened.get_many(Column.of(probes))
    opened.scan(0, opened.block_count)


def outcome(kernel: Kernel, data: bytes, sample: Sample) -> Outcome:
    """Open and verify: how it ended, and the rows if it ended well. Look-ups must only survive."""
    try:
        opened = read_table(data, sample.name, kernel=kernel)
    except Corruption:
        return "refused at open", -1, []
    with suppress(Corruption):
        read_all(opened, sample.keys)
    try:
        return "accepted", opened.verify(), list(opened.records())
    except Corruption:
        return "refused by verify", -1, []


def fuzz(kernel: Kernel, seed: int, count: int, compared_every: int = 100) -> Counter[str]:
    """Read `count` damaged files; count how each ended. Raises on the first that misbehaves.

    One in `compared_every` also goes to the twin, which must answer the same; 0 compares none.
    """
    random, everything = Random(seed), samples()
    ends: Counter[str] = Counter()
    for number in range(count):
        way, sample, data = mutate(everything, random, kernel)
        try:
            ours = outcome(kernel, data, sample)
            if way == "blind" and ours[0] == "accepted":
                assert data == sample.data, "damage went unseen"
            if compared_every and kernel is not twin and number % compared_every == 0:
                theirs = outcome(cast("Kernel", twin), data, sample)
                # A fault may be seen at open by one and at verify by the other, but by both.
                assert ours[1:] == theirs[1:], f"native: {ours[:2]}, twin: {theirs[:2]}"
        except Exception as error:
            raise AssertionError(f"seed {seed}, input {number}, {way}: {data.hex()}") from error
        ends[f"{way}, {ours[0]}"] += 1
    return ends


def main() -> None:
    """Run from the command line, so that a crash ends this process and not the tests."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kernel", default="native")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--compared-every", type=int, default=100)
    wanted = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    kernel = cast("Kernel", import_module(f"lochan.kernel.{wanted.kernel}"))
    ends = fuzz(kernel, wanted.seed, wanted.count, wanted.compared_every)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"seed {wanted.seed}: {ends.total()} inputs read by {wanted.kernel}, peak {peak} MiB")
    print("\n".join(f"  {number:8} {end}" for end, number in sorted(ends.items())))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
