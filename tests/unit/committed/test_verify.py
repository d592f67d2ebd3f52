# SPDX-License-Identifier: Apache-2.0
"""Verify finds what checksums cannot: files that are whole and say what is not so."""

import msgspec
import pytest

from lochan.committed import Cuts, Snapshots
from lochan.committed.range import Range
from lochan.errors import Corruption, NotFound
from lochan.kernel.chosen import kernel
from lochan.kernel.records import Records
from lochan.model.ids import MetaRangeId, RangeId
from lochan.sstable import write_table
from support.hand_made import put_metarange, put_rows
from support.table_samples import with_properties
from support.trees import build, memory_objects, numbered, open_snapshots, range_ids

ROWS = numbered(30)


def ranges_of(snapshots: Snapshots) -> list[Range]:
    return list(snapshots.files.metarange(build(snapshots, ROWS)))


def test_a_whole_snapshot_is_counted() -> None:
    with open_snapshots() as snapshots:
        assert snapshots.verify(build(snapshots, ROWS)) == len(ROWS)
        assert snapshots.verify(MetaRangeId("")) == 0


LIES = {"count": 999, "raw_size": 7, "min_key": b"", "max_key": b"k030"}


@pytest.mark.parametrize("field", LIES)
def test_a_row_that_is_wrong_about_its_range_is_told(field: str) -> None:
    with open_snapshots(cuts=Cuts(1_000_000, 1_000_000)) as snapshots:
        (only,) = ranges_of(snapshots)
        lie = msgspec.structs.replace(only, **{field: LIES[field]})
        found = put_metarange(snapshots.files, [lie])
        with pytest.raises(Corruption, match=f"^{found} .* range {only.id} holds 30 records"):
            snapshots.verify(found)


def test_a_range_that_is_not_there_is_told() -> None:
    objects = memory_objects()
    with open_snapshots(objects) as snapshots:
        found = build(snapshots, ROWS)
        missing = range_ids(snapshots, found)[1]
        objects.delete(f"_lakefs/{missing}")
        with pytest.raises(NotFound, match=missing):
            snapshots.verify(found)


def test_a_metarange_whose_name_is_not_that_of_its_rows_is_told() -> None:
    objects, name = memory_objects(), "ab" * 32
    with open_snapshots(objects) as snapshots:
        metarange = snapshots.files.metarange(build(snapshots, ROWS))
        file = write_table(metarange.records, "metaranges", {})
        wrong = with_properties(file.data, kernel, lochan__id=name.encode())
        objects.put(f"_lakefs/{name}", wrong)
        assert len(list(snapshots.cursor(MetaRangeId(name)))) == len(ROWS)
        with pytest.raises(Corruption, match=f"^{name} .* property lochan.id says"):
            snapshots.verify(MetaRangeId(name))


def test_ranges_from_elsewhere_may_have_an_estimate_for_their_size() -> None:
    with open_snapshots() as snapshots:
        rows = Records.of((key, *row) for key, row in sorted(ROWS.items()))
        foreign = put_rows(snapshots.files, rows, "ranges")
        size, count = 12, len(ROWS)
        said = Range(RangeId(foreign), rows.keys[0], rows.keys[-1], size, count)
        assert snapshots.verify(put_metarange(snapshots.files, [said])) == count
