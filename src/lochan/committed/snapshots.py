# SPDX-License-Identifier: Apache-2.0
"""Snapshots: the face of the committed tree. Everything above it speaks of metarange ids only."""

from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Self

from lochan.committed import lookup
from lochan.committed.apply import Applied, apply
from lochan.committed.cursor import Cursor
from lochan.committed.cuts import Cuts
from lochan.committed.diff import Differences, diff
from lochan.committed.files import Files
from lochan.committed.interval import EVERYTHING, Interval
from lochan.committed.listing import Prefix, list_records
from lochan.committed.merge import Merged, merge
from lochan.committed.parallel import Crew, alone
from lochan.committed.parts import Part, join_parts
from lochan.committed.replace import replace
from lochan.committed.verify import verify
from lochan.environment import Environment
from lochan.kernel.interface import Breathe
from lochan.kernel.records import Column, Record, Records
from lochan.model.ids import MetaRangeId


class Snapshots:
    """The snapshots of one storage namespace. May be used from any thread."""

    def __init__(
        self, files: Files, environment: Environment, *, cuts: Cuts | None = None, threads: int = 2
    ) -> None:
        """Work on files with so many threads; the cuts must be those of the lake."""
        self.files = files
        self.cuts = cuts or Cuts()
        self._crew = Crew(environment.executor(threads, background=True), threads)

    def get(self, id: MetaRangeId, key: bytes) -> Record | None:  # noqa: A002 - the seeds' word
        """Find one record; None where the key is absent."""
        return lookup.get(self.files, self.files.metarange(id), key)

    def recall(self, id: MetaRangeId, key: bytes) -> Record | None:  # noqa: A002
        """Find one record without waiting; None where it is absent, or not in memory."""
        return lookup.recall(self.files, id, key)

    def get_many(self, id: MetaRangeId, keys: Sequence[bytes] | Column) -> Records:  # noqa: A002
        """Find many records, in the order asked; an absent key gets an empty identity."""
        return lookup.get_many(self.files, self._crew, self.files.metarange(id), keys)

    def cursor(self, id: MetaRangeId) -> Cursor:  # noqa: A002
        """Stand before the first record of a snapshot."""
        return Cursor(self.files, id)

    def list(
        self,
        id: MetaRangeId,  # noqa: A002
        prefix: bytes = b"",
        *,
        after: bytes = b"",
        delimiter: bytes = b"",
    ) -> Iterator[Record | Prefix]:
        """List records under a prefix, and common prefixes where a delimiter is given."""
        return list_records(self.cursor(id), prefix, after=after, delimiter=delimiter)

    def apply(
        self,
        base: MetaRangeId,
        changes: Iterable[Records],
        *,
        breathe: Breathe = None,
    ) -> Applied:
        """Apply sorted changes; an empty identity removes its key.

        With `breathe` it is done by this thread alone, and that is called between small pieces: so
        many rows, blocks, or bytes of a file.
        """
        crew = self._crew if breathe is None else alone(breathe)
        return apply(self.files, self.cuts, crew, self.files.metarange(base), changes)

    def diff(
        self, left: MetaRangeId, right: MetaRangeId, within: Interval = EVERYTHING
    ) -> Iterator[Differences]:
        """Give the differences from left to right, in key order."""
        sides = (self.files.metarange(left), self.files.metarange(right))
        return diff(self.files, self._crew, *sides, within)

    def merge(
        self, base: MetaRangeId, dest: MetaRangeId, source: MetaRangeId, strategy: str = ""
    ) -> Merged:
        """Merge the changes from base to source into dest."""
        sides = (
            self.files.metarange(base),
            self.files.metarange(dest),
            self.files.metarange(source),
        )
        return merge(self.files, self.cuts, self._crew, sides, strategy)

    def replace(
        self, base: MetaRangeId, source: MetaRangeId, within: Sequence[Interval]
    ) -> MetaRangeId:
        """Give the base with the source's records, and no others, inside some intervals."""
        sides = (self.files.metarange(base), self.files.metarange(source))
        return replace(self.files, self.cuts, self._crew, sides, within)

    def join(self, parts: Iterable[Part]) -> MetaRangeId:
        """Join what many writers have stored, in key order, into one snapshot."""
        return join_parts(self.files, self.cuts, self._crew, parts)

    def verify(self, id: MetaRangeId) -> int:  # noqa: A002
        """Read a whole snapshot and check every promise about it; count the records."""
        return verify(self.files, self.cuts, self.files.metarange(id))

    def close(self) -> None:
        """Stop the threads. Idempotent."""
        self._crew.executor.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
