# SPDX-License-Identifier: Apache-2.0
"""Compute the rows that follow from a repository's commits, and mend those that are wrong.

Clock, reach and merged rows can all be had from the commits. Rows that are missing or wrong are
written, and rows that nobody counts are removed, but for those at a place that was not given yet:
a merge that is just being made has written its own, and they will count once it is published.
Writers may be at work: they write the same rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lochan.errors import Corruption
from lochan.kv.read import find, scan_prefix
from lochan.kv.set_many import set_many
from lochan.model.ids import LineageId
from lochan.model.keys import CLOCKS, MERGED, REACH, partition_of, place_and_merge
from lochan.model.records import Clock, Repository
from lochan.operations.findings import Severity
from lochan.operations.fsck_history import Past, check_history
from lochan.operations.lake import Lake
from lochan.refs.derived import derived_rows


@dataclass(frozen=True, slots=True)
class Repaired:
    """How many rows were written and removed."""

    written: int
    removed: int


def repair(lake: Lake, repository: Repository) -> Repaired:
    """Mend the derived rows of a repository. Idempotent.

    Raises: Corruption when history itself has holes: they cannot be computed then.
    """
    past = Past()
    found = [f for f in check_history(lake, repository, past) if f.severity is Severity.ERROR]
    if not past.is_whole():
        reason = f"history has {len(found)} faults, the first: {found[0]}"
        raise Corruption(reason, file=f"repository {repository.repository_id!r}")
    partition = partition_of(repository)
    rows = derived_rows(past.history, past.published, repository, lake.environment)
    expected = dict(rows)
    places, _ = past.history.places(past.published)
    wrong = dict[bytes, bytes]()
    removed = 0
    for prefix in (CLOCKS, MERGED, REACH):
        for key, value in scan_prefix(lake.store, partition, prefix):
            wanted = expected.pop(key, None)
            if wanted is not None and wanted != value:
                wrong[key] = wanted
            elif wanted is None and _never_counts(lake, repository, key, places):
                lake.store.delete(partition, key)
                removed += 1
    set_many(lake.store, partition, wrong | expected)
    return Repaired(len(wrong) + len(expected), removed)


def _never_counts(
    lake: Lake, repository: Repository, key: bytes, places: Mapping[Clock, int]
) -> bool:
    """Say whether a row that nobody asks for is wrong, and not just younger than our look."""
    place = _place(key)
    if place is None:
        return True
    if not key.startswith(CLOCKS):
        return place in places  # given to another commit than the row's
    row = find(lake.store, partition_of(repository), key)
    commit = lake.tables(repository).commits.find(row.value) if row else None
    return commit is None or commit.record.clocks[-1:] != (place,)


def _place(key: bytes) -> Clock | None:
    """Say which place a row is about; None where it names none."""
    parts = key.decode(errors="replace").split("/")
    try:
        place = int(parts[-1]) if key.startswith(CLOCKS) else place_and_merge(key)[0]
    except ValueError:
        return None
    return Clock(LineageId(parts[1]), place)
