# SPDX-License-Identifier: Apache-2.0
"""The worked example of docs/formats/metarange.md is what is written."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lochan.committed import Cuts, Snapshots
from lochan.model.ids import MetaRangeId
from support.record_strategies import Rows, to_records
from support.tree_model import fnv1a64
from support.trees import build, open_snapshots

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "formats" / "metarange.md").read_text()
EXAMPLE = PAGE[PAGE.index("## A snapshot, row by row") :]
BASE = MetaRangeId("c1d8be6fc85a248a6bcfa4943adc687ef295e47f847a955ee56078130ee8b5c9")
REMOVED = (b"", b"")
CHANGES: dict[str, Rows] = {
    "b/4 removed": {b"b/4": REMOVED},
    "c/3 added": {b"c/3": (b"id-9", b"data")},
    "b/2 removed": {b"b/2": REMOVED},
}


def table(heading: str) -> list[list[str]]:
    """Read the cells of the table with this heading."""
    lines = EXAMPLE[EXAMPLE.index(heading) :].split("\n\n")[0].splitlines()
    cells = (line.strip("|").replace("`", "").split("|") for line in lines[2:])
    return [[cell.strip() for cell in line] for line in cells]


RECORDS = table("| key | identity | data | FNV")


@pytest.fixture
def snapshots() -> Iterator[Snapshots]:
    with open_snapshots(cuts=Cuts(raggedness=4, cap_bytes=40)) as opened:
        rows = {key.encode(): (i.encode(), data.encode()) for key, i, data, *_ in RECORDS}
        assert build(opened, rows) == BASE
        yield opened


def test_the_records_are_cut_where_the_page_says(snapshots: Snapshots) -> None:
    ends = {
        found.max_key: snapshots.files.range_once(found.id).properties["lochan.cut"]
        for found in snapshots.files.metarange(BASE)
    }
    size = 0
    for key, identity, data, digest, remainder, since, cut in RECORDS:
        size += len(key + identity + data)
        assert (f"{fnv1a64(key.encode()):016x}", fnv1a64(key.encode()) % 4) == (
            digest,
            int(remainder),
        )
        assert (size, ends.get(key.encode(), b"").decode()) == (int(since), cut)
        size = 0 if cut else size


def test_the_rows_of_the_metarange_are_those_of_the_page(snapshots: Snapshots) -> None:
    shown = table("| key | identity | data |\n")
    rows = snapshots.files.metarange(BASE).records
    assert [[row.key.decode(), row.identity.decode(), row.value.hex(" ")] for row in rows] == shown
    taken_apart = re.findall(r"^    ((?:[0-9a-f]{2} )+) ", EXAMPLE, re.MULTILINE)
    assert " ".join("".join(taken_apart).split()) == shown[0][2]


def test_the_changes_of_the_page_come_out_as_it_says(snapshots: Snapshots) -> None:
    shown = table("| change | ranges")
    assert [line[0] for line in shown] == list(CHANGES)
    for change, ranges, reused, written, metarange in shown:
        result = snapshots.apply(BASE, [to_records(CHANGES[change])])
        assert result.id == metarange
        assert (result.ranges_reused, result.ranges_written) == (int(reused), int(written))
        parts = [
            " ".join(key.decode() for key in snapshots.files.range_once(found.id).records().keys)
            for found in snapshots.files.metarange(result.id)
        ]
        assert parts == ranges.split(", ")
