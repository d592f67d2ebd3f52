# SPDX-License-Identifier: Apache-2.0
"""A disk that forgets: what POSIX promises to survive the loss of power, and nothing more.

    content of a file     what was written before its last fsync
    name of a file        what its folder held at the folder's last fsync
    everything since      any part of it, in any order, cut at any sector: see `Way`

A failed fsync of a file forgets for good what it should have made durable, as kernels do: the pages
count as clean, readers still see them, and no later fsync writes them.

The model knows no FUSE; `forgetful_fs` mounts it.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

SECTOR = 512


class Way(StrEnum):
    """How much of what was not synced a crash leaves on the disk."""

    FORGET = "forget"  # nothing
    KEEP = "keep"  # everything, as when only the process dies
    PREFIX = "prefix"  # the first so many changes of each file, the last one torn
    SUBSET = "subset"  # any sectors of any changes


@dataclass(slots=True)
class Write:
    offset: int
    data: bytes

    def apply(self, content: bytearray) -> None:
        if len(content) < self.offset:
            content.extend(bytes(self.offset - len(content)))
        content[self.offset : self.offset + len(self.data)] = self.data

    def sectors(self) -> Iterator["Write"]:
        """Cut the write where the disk may: at sector boundaries of the file."""
        start = 0
        while start < len(self.data):
            end = min(len(self.data), start + SECTOR - (self.offset + start) % SECTOR)
            yield Write(self.offset + start, self.data[start:end])
            start = end


@dataclass(slots=True)
class Resize:
    size: int

    def apply(self, content: bytearray) -> None:
        del content[self.size :]
        content.extend(bytes(self.size - len(content)))

    def sectors(self) -> Iterator["Resize"]:
        yield self


@dataclass(slots=True, eq=False)
class File:
    current: bytearray = field(default_factory=bytearray)
    durable: bytearray = field(default_factory=bytearray)
    pending: list[Write | Resize] = field(default_factory=list)

    def change(self, change: Write | Resize) -> None:
        change.apply(self.current)
        self.pending.append(change)

    def sync(self) -> None:
        for change in self.pending:
            change.apply(self.durable)
        self.pending.clear()

    def fail_sync(self) -> None:
        self.pending.clear()

    def after_crash(self, way: Way, dice: random.Random) -> bytes:
        content = bytearray(self.durable)
        for change in _survivors(self.pending, way, dice):
            change.apply(content)
        return bytes(content)


def _survivors(
    pending: list[Write | Resize], way: Way, dice: random.Random
) -> Iterator[Write | Resize]:
    if way is Way.KEEP:
        yield from pending
    elif way is Way.PREFIX and pending:
        kept = dice.randrange(len(pending) + 1)
        yield from pending[:kept]
        if kept < len(pending):
            torn: list[Write | Resize] = list(pending[kept].sectors())
            yield from torn[: dice.randrange(len(torn) + 1)]
    elif way is Way.SUBSET:
        sectors = [sector for change in pending for sector in change.sectors()]
        yield from (sector for sector in sectors if dice.random() < 0.5)


@dataclass(slots=True)
class Naming:
    """One change of a folder: names that go, names that come; a rename is both at once."""

    gone: list[str]
    come: dict[str, "File | Folder"]

    def apply(self, names: dict[str, "File | Folder"]) -> None:
        for name in self.gone:
            names.pop(name, None)
        names.update(self.come)


@dataclass(slots=True, eq=False)
class Folder:
    current: dict[str, "File | Folder"] = field(default_factory=dict)
    durable: dict[str, "File | Folder"] = field(default_factory=dict)
    pending: list[Naming] = field(default_factory=list)

    def change(self, gone: list[str], come: dict[str, "File | Folder"]) -> None:
        naming = Naming(gone, come)
        naming.apply(self.current)
        self.pending.append(naming)

    def sync(self) -> None:
        for naming in self.pending:
            naming.apply(self.durable)
        self.pending.clear()

    def fail_sync(self) -> None:
        """Names are journalled: they wait for the next sync."""

    def after_crash(self, way: Way, dice: random.Random) -> dict[str, "File | Folder"]:
        names = dict(self.durable)
        # Folders are journalled: their changes survive in order.
        kept = {Way.FORGET: 0, Way.KEEP: len(self.pending)}.get(
            way, dice.randrange(len(self.pending) + 1)
        )
        for naming in self.pending[
            : dice.randrange(len(self.pending) + 1) if kept is None else kept
        ]:
            naming.apply(names)
        return names


def write_image(folder: Folder, into: Path, way: Way, dice: random.Random) -> None:
    """Write what the disk would hold if the power went now."""
    into.mkdir(parents=True, exist_ok=True)
    for name, node in folder.after_crash(way, dice).items():
        if isinstance(node, Folder):
            write_image(node, into / name, way, dice)
        else:
            (into / name).write_bytes(node.after_crash(way, dice))
