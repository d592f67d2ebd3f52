# SPDX-License-Identifier: Apache-2.0
"""The parts of one pinned input: all of them, those that changed since a tree, or some by key.

What is taken as a part depends on the transform:

    PARTS   what the glob matches, file or folder
    FILES   each file that is matched, or lies in a folder that is: for frames that only append
    WHOLE   all of that together, as one part called /: for frames that are computed as a whole

A changed path belongs to parts by its name alone, so finding what changed costs as much as the
difference of two trees; a folder in which something changed is listed again, and no other is.
Marks of folders (keys that end with a slash) are no files, and in no part.

Of a *reference* only coming and going counts as a change: its content is no part of datum hashes.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Final, NamedTuple

from lochan.committed import Snapshots
from lochan.committed.interval import Interval
from lochan.kernel.chosen import kernel
from lochan.kernel.records import Records
from lochan.model.ids import EMPTY_TREE, MetaRangeId
from lochan.pipelines.datums.keys_under import FEW, stretches
from lochan.pipelines.model.datum import DatumFile, Member
from lochan.pipelines.model.records import Pin
from lochan.pipelines.model.spec import CronInput, RepoInput
from lochan.pipelines.specs.globs import ROOT, Match, parse_glob

TICKS: Final = "/*"  # the glob of a clock: each tick is a file


class Take(Enum):
    """What counts as one part."""

    PARTS = "parts"
    FILES = "files"
    WHOLE = "whole"


class Part(NamedTuple):
    """A part, and how many bytes it has."""

    file: DatumFile
    bytes: int


class PinnedInput:
    """An input at its pinned tree, and at the one of the base where there is one."""

    def __init__(
        self,
        said: RepoInput | CronInput,
        pin: Pin,
        snapshots: Snapshots,
        take: Take = Take.PARTS,
        before: MetaRangeId = EMPTY_TREE,
    ) -> None:
        """Look at what is pinned; `before` is the tree that the base read."""
        self.said = said
        self.name = said.name
        self.take = take
        self.reference = isinstance(said, RepoInput) and said.reference
        self.glob = parse_glob(said.glob if isinstance(said, RepoInput) else TICKS)
        self._pin = pin
        self._tree = MetaRangeId(pin.meta_range_id)
        self._before = before
        self._snapshots = snapshots

    @cached_property
    def everything(self) -> list[Part]:
        """All parts, in the order of their keys."""
        found = self._listed(self._within())
        return [found[key] for key in sorted(found)]

    @cached_property
    def changed(self) -> dict[bytes, Part | None]:
        """The parts that differ from the base's, by key; None is one that is gone."""
        if self._before == self._tree:
            return {}
        keys = {
            found.key
            for some in self._snapshots.diff(self._before, self._tree, self._within())
            for row in range(len(some))
            for found in self._parts_of(some.key(row))
        }
        now = self.at(keys)
        if self.reference:
            were = self._at_base().at(keys)
            keys = {key for key in keys if (key in now) != (key in were)}
        return {key: now.get(key) for key in sorted(keys)}

    def at(self, keys: Collection[bytes]) -> dict[bytes, Part]:
        """Give the parts with these keys that are there."""
        folders = sorted(key for key in keys if key.endswith(b"/"))
        found: dict[bytes, Part] = {}
        if ROOT in folders:
            found = {part.file.key: part for part in self.everything if part.file.key in keys}
        elif len(folders) <= FEW:
            for key in folders:
                found |= self._listed(Interval.under(key), {key})
        else:
            wanted = frozenset(folders)
            for stretch in stretches(self._snapshots, self._tree, folders):
                found |= self._listed(stretch, wanted)
        files = sorted(key for key in keys if not key.endswith(b"/"))
        if files:
            there = self._snapshots.get_many(self._tree, files)
            found |= self._gathered([Records.of(row for row in there if row.identity)], set(files))
        return found

    def captures(self, key: bytes) -> tuple[str, ...]:
        """Say what the glob captures of a part."""
        if self.take is Take.PARTS:
            found = self.glob.match(key)
            return found.captures if found else ()
        return next((found.captures for found in self._parts_of(key)), ())

    def nothing(self) -> Part:
        """Give the whole of an input in which nothing is matched."""
        return Part(self._file(ROOT, (), ()), 0)

    def _at_base(self) -> "PinnedInput":
        pin = Pin(
            input=self._pin.input,
            repository=self._pin.repository,
            unique_identifier=self._pin.unique_identifier,
            branch=self._pin.branch,
            commit="",
            meta_range_id=self._before,
        )
        return PinnedInput(self.said, pin, self._snapshots, self.take)

    def _within(self) -> Interval:
        return Interval.under(self.glob.prefix)

    def _parts_of(self, key: bytes) -> Iterator[Match]:
        if key.endswith(b"/"):
            return iter(())
        found = self.glob.parts_of(key)
        if self.take is Take.PARTS:
            return found
        first = next(found, None)
        if first is None:
            return iter(())
        return iter([Match(ROOT, ()) if self.take is Take.WHOLE else Match(key, first.captures)])

    def _listed(
        self, within: Interval, wanted: Collection[bytes] | None = None
    ) -> dict[bytes, Part]:
        batches = self._snapshots.diff(EMPTY_TREE, self._tree, within)
        return self._gathered((some.right for some in batches), wanted)

    def _gathered(
        self, batches: Iterable[Records], wanted: Collection[bytes] | None
    ) -> dict[bytes, Part]:
        """Put rows into the parts they belong to, or into those of them that are wanted."""
        growing: dict[bytes, _Growing] = {}
        for rows in batches:
            sizes = kernel.decode_entries(rows.values).sizes
            for key, identity, value, size in zip(
                rows.keys, rows.identities, rows.values, sizes, strict=True
            ):
                for found in self._parts_of(key):
                    if wanted is not None and found.key not in wanted:
                        continue
                    part = growing.get(found.key)
                    if part is None:
                        part = growing[found.key] = _Growing(found.captures)
                    part.members.append(Member(key, identity, value))
                    part.bytes += size
        return {
            key: Part(self._file(key, part.captures, tuple(part.members)), part.bytes)
            for key, part in growing.items()
        }

    def _file(
        self, key: bytes, captures: tuple[str, ...], members: tuple[Member, ...]
    ) -> DatumFile:
        return DatumFile(self.name, self._pin.repository, key, captures, members, self.reference)


@dataclass(slots=True)
class _Growing:
    """A part while its rows are read."""

    captures: tuple[str, ...]
    members: list[Member] = field(default_factory=list)
    bytes: int = 0
