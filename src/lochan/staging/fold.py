# SPDX-License-Identifier: Apache-2.0
"""Fold several staging tokens into one sorted list of changes: the newest row of a key wins."""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice

from lochan.kernel.chosen import kernel
from lochan.kernel.records import Records
from lochan.model.records import StagedEntry
from lochan.staging.area import StagingArea
from lochan.staging.layers import Layer, shown_rows

CHUNK_ROWS = 500  # changes go to the tree so many at a time: others wait while one is made


def folded(area: StagingArea, layers: Sequence[Layer], start: bytes = b"") -> Iterator[StagedEntry]:
    """Give the rows that layers show, newest first, in key order; tombstones included."""
    if len(layers) == 1:  # most often; a merge of one costs as much again as the scan
        yield from shown_rows(area, layers[0], start)
        return
    ranked = [_ranked(shown_rows(area, layer, start), rank) for rank, layer in enumerate(layers)]
    merged = heapq.merge(*ranked, key=lambda row: (row[1].key, row[0]))
    for _, rows in groupby(merged, key=lambda row: row[1].key):
        yield next(rows)[1]


def _ranked(rows: Iterable[StagedEntry], rank: int) -> Iterator[tuple[int, StagedEntry]]:
    return ((rank, row) for row in rows)


def staged_changes(area: StagingArea, layers: Sequence[Layer]) -> Iterator[Records]:
    """Give what layers change, newest first, as the chunks that a committed tree applies.

    The rows of one token, most often the only one, are decoded in bulk beside other threads.
    """
    if len(layers) == 1 and not layers[0].forgotten:
        return map(kernel.decode_staged, area.scan_values(layers[0].token, CHUNK_ROWS))
    return changes(folded(area, layers))


def changes(rows: Iterable[StagedEntry]) -> Iterator[Records]:
    """Turn staged rows in key order into the chunks that the committed tree applies."""
    source = iter(rows)
    while chunk := list(islice(source, CHUNK_ROWS)):
        yield Records.of((row.key, row.identity, row.data) for row in chunk)
