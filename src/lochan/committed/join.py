# SPDX-License-Identifier: Apache-2.0
"""Read several sorted record streams side by side, in chunks that cover the same keys.

Each step hands out, of every stream, the rows up to the smallest of the streams' last loaded keys:
no row behind it can be missing from any. So streams whose ranges end at different keys are compared
with a few ranges of each in memory.
"""

from collections.abc import Iterable, Iterator

from lochan.committed.files import Files
from lochan.committed.parallel import Crew, Job
from lochan.committed.range import Range
from lochan.kernel.chosen import kernel
from lochan.kernel.records import EMPTY, Records


def records_of(files: Files, crew: Crew, ranges: Iterable[Range]) -> Iterator[Records]:
    """Decode ranges in order, some ahead of the caller."""
    return crew.in_order(Job(_Decode(files, found)) for found in ranges)


def joined(*streams: Iterator[Records]) -> Iterator[tuple[Records, ...]]:
    """Give chunks of all streams that cover the same keys; a stream without any gives no rows."""
    heads = [_next(stream) for stream in streams]
    while any(map(len, heads)):
        horizon = min(head.keys[-1] for head in heads if len(head))
        stops = [kernel.lower_bound(head.keys, horizon + b"\x00") for head in heads]
        yield tuple(head.slice(0, stop) for head, stop in zip(heads, stops, strict=True))
        for number, stop in enumerate(stops):
            rest = heads[number].slice(stop, len(heads[number]))
            heads[number] = rest if len(rest) else _next(streams[number])


def _next(stream: Iterator[Records]) -> Records:
    return next((records for records in stream if len(records)), EMPTY)


class _Decode:
    """The job of decoding one range."""

    __slots__ = ("_files", "_range")

    def __init__(self, files: Files, found: Range) -> None:
        self._files = files
        self._range = found

    def __call__(self) -> Records:
        return self._files.range_once(self._range.id).records()
