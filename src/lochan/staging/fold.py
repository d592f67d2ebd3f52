# SPDX-License-Identifier: Apache-2.0
"""Fold several staging tokens into one sorted list of changes: the newest row of a key wins."""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice

from lochan.kernel.chosen import kernel
from lochan.kernel.records import Records
from lochan.model.ids import StagingToken
from lochan.model.records import StagedEntry
from lochan.staging.area import StagingArea

CHUNK_ROWS = 500  # changes go to the tree so many at a time: others wait while one is made


def folded(
    area: StagingArea, tokens: Sequence[StagingToken], start: bytes = b""
) -> Iterator[StagedEntry]:
    """Give the rows of tokens, newest token first, in key order; tombstones included."""
    if len(tokens) == 1:  # most often; a merge of one costs as much again as the scan
        yield from area.scan(tokens[0], start)
        return
    ranked = [_ranked(area.scan(token, start), rank) for rank, token in enumerate(tokens)]
    merged = heapq.merge(*ranked, key=lambda row: (row[1].key, row[0]))
    for _, rows in groupby(merged, key=lambda row: row[1].key):
        yield next(rows)[1]


def _ranked(rows: Iterable[StagedEntry], rank: int) -> Iterator[tuple[int, StagedEntry]]:
    return ((rank, row) for row in rows)


def staged_changes(area: StagingArea, tokens: Sequence[StagingToken]) -> Iterator[Records]:
    """Give what tokens change, newest token first, as the chunks that a committed tree applies.

    The rows of one token, most often the only one, are decoded in bulk beside other threads.
    """
    if len(tokens) == 1:
        return map(kernel.decode_staged, area.scan_values(tokens[0], CHUNK_ROWS))
    return changes(folded(area, tokens))


def changes(rows: Iterable[StagedEntry]) -> Iterator[Records]:
    """Turn staged rows in key order into the chunks that the committed tree applies."""
    source = iter(rows)
    while chunk := list(islice(source, CHUNK_ROWS)):
        yield Records.of((row.key, row.identity, row.data) for row in chunk)
