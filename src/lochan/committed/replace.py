# SPDX-License-Identifier: Apache-2.0
"""Put parts of one snapshot in the place of the same parts of another.

Inside the given intervals the result has exactly the source's records, elsewhere the base's. Ranges
that lie whole on their side of every border are passed on unopened. Unlike `apply`, which keeps a
record that says the same (equal identities), this takes the source's rows as they are.
"""

from collections.abc import Iterator, Sequence

from lochan.committed.cuts import Cuts
from lochan.committed.files import Files
from lochan.committed.interval import Interval
from lochan.committed.metarange import MetaRange
from lochan.committed.parallel import Crew
from lochan.committed.writer import MetaRangeWriter
from lochan.errors import InvalidInput
from lochan.model.ids import MetaRangeId


def replace(
    files: Files,
    cuts: Cuts,
    crew: Crew,
    sides: tuple[MetaRange, MetaRange],
    within: Sequence[Interval],
) -> MetaRangeId:
    """Give (base, source) joined so that the intervals, in order and apart, are the source's."""
    writer = MetaRangeWriter(files, cuts, crew)
    try:
        for number, interval in _stretches(within):
            _add(writer, files, sides[number], interval)
        return writer.finish()
    except BaseException:
        writer.abandon()
        raise


def _stretches(within: Sequence[Interval]) -> Iterator[tuple[int, Interval]]:
    """Cut the key space into stretches, each with the number of the side that fills it."""
    position: bytes | None = b""
    for interval in within:
        if position is None or interval.start < position:
            raise InvalidInput(f"interval {interval} is not behind the one before it")
        yield 0, Interval(position, interval.start)
        yield 1, interval
        position = interval.stop
    if position is not None:
        yield 0, Interval(position, None)


def _add(writer: MetaRangeWriter, files: Files, metarange: MetaRange, interval: Interval) -> None:
    for found in metarange.between(metarange.find(interval.start), len(metarange)):
        if interval.stop is not None and found.min_key >= interval.stop:
            return
        reaches_over = interval.stop is not None and found.max_key >= interval.stop
        if found.min_key >= interval.start and not reaches_over:
            writer.add_range(found)
        else:
            writer.add_records(interval.clip(files.range_once(found.id).records()))
