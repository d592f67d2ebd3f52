# SPDX-License-Identifier: Apache-2.0
"""Rows of metaranges: what they say, and that ones which lie are refused by name."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from lochan.committed import DiskTier, Files, Snapshots
from lochan.committed.metarange import NOTHING, MetaRange
from lochan.committed.range import Range
from lochan.errors import Corruption
from lochan.kernel.records import Record
from lochan.model.codec import encode_range_data
from lochan.model.ids import MetaRangeId, RangeId
from support.hand_made import put_rows
from support.trees import ENVIRONMENT, SMALL, build, memory_objects, numbered, open_snapshots

ROWS = numbered(30)


def test_a_row_has_the_largest_key_the_hex_id_and_the_rest() -> None:
    found = Range(RangeId("ab" * 32), b"a", b"m", 1234, 56)
    assert found.row() == Record(
        b"m", b"ab" * 32, encode_range_data(b"a", b"m", estimated_size=1234, count=56)
    )
    assert Range.of_row(found.row(), "metarange") == found


def test_find_gives_the_range_that_may_hold_a_key() -> None:
    with open_snapshots() as snapshots:
        metarange = snapshots.files.metarange(build(snapshots, ROWS))
        for number, found in enumerate(metarange):
            assert metarange.find(found.min_key) == metarange.find(found.max_key) == number
            assert metarange.find(found.max_key + b"\x00") == number + 1
            assert metarange.range_ids[number] == found.id
        assert metarange.find(b"") == 0
        assert metarange.find(b"zzz") == len(metarange)
    assert NOTHING.find(b"k") == len(NOTHING) == 0


Spoil = Callable[[Record], Record]
LIES: dict[str, Spoil] = {
    "an id that is no text": lambda row: row._replace(identity=b"\xff" * 64),
    "an id that is a path": lambda row: row._replace(identity=b"../../../../etc/passwd"),
    "an id in capitals": lambda row: row._replace(identity=row.identity.upper() + b"A"),
    "data that is no message": lambda row: row._replace(value=b"\xff\xff\xff"),
    "another largest key": lambda row: row._replace(key=row.key + b"\x00"),
    "bounds the wrong way round": lambda row: row._replace(
        value=encode_range_data(row.key + b"z", row.key, estimated_size=1, count=1)
    ),
    "a smallest key that others hold": lambda row: row._replace(
        value=encode_range_data(b"", row.key, estimated_size=1, count=1)
    ),
}
READS: dict[str, Callable[[Snapshots, MetaRangeId], object]] = {
    "apply": lambda snapshots, found: snapshots.apply(found, []),
    "cursor": lambda snapshots, found: list(snapshots.cursor(found)),
    "diff": lambda snapshots, found: list(snapshots.diff(MetaRangeId(""), found)),
    "list": lambda snapshots, found: list(snapshots.list(found)),
    "merge": lambda snapshots, found: snapshots.merge(
        MetaRangeId(""), build(snapshots, numbered(5, b"2")), found
    ),
    "verify": lambda snapshots, found: snapshots.verify(found),
}


def put_lie(snapshots: Snapshots, spoil: Spoil) -> MetaRangeId:
    """Store a metarange whose second row was spoiled."""
    first, second, *rest = snapshots.files.metarange(build(snapshots, ROWS)).records
    return put_rows(snapshots.files, [first, spoil(second), *rest])


@pytest.mark.parametrize("lie", LIES)
def test_rel_D2_a_row_that_lies_is_told_with_the_name_of_the_metarange(lie: str) -> None:
    for name, read in READS.items():
        with open_snapshots() as snapshots:
            found = put_lie(snapshots, LIES[lie])
            with pytest.raises(Corruption) as caught:
                read(snapshots, found)
            assert caught.value.file == found, name


@pytest.mark.parametrize("lie", ["an id that is no text", "an id that is a path"])
def test_a_look_up_follows_no_id_that_is_none(tmp_path: Path, lie: str) -> None:
    outside = tmp_path / "etc" / "passwd"
    outside.parent.mkdir()
    outside.write_text("secret")
    before = outside.stat()
    disk = DiskTier(tmp_path / "a" / "b" / "c" / "tier", 1 << 20, ENVIRONMENT)
    files = Files(memory_objects(), ENVIRONMENT, disk=disk)
    with Snapshots(files, ENVIRONMENT, cuts=SMALL) as snapshots:
        found = put_lie(snapshots, LIES[lie])
        for look in (
            lambda: snapshots.get(found, b"k012"),
            lambda: snapshots.get_many(found, list(ROWS)),
        ):
            with pytest.raises(Corruption, match=f"^{found} "):
                look()
    assert outside.stat().st_mtime_ns == before.st_mtime_ns


def test_the_size_in_memory_grows_with_the_rows() -> None:
    with open_snapshots() as snapshots:
        one = snapshots.files.metarange(build(snapshots, ROWS))
        half = MetaRange(MetaRangeId("ab" * 32), one.records.slice(0, len(one) // 2))
    assert 0 == NOTHING.size_bytes < half.size_bytes < one.size_bytes


def test_a_range_is_a_value() -> None:
    found = Range(RangeId("ab" * 32), b"a", b"m", 1234, 56)
    assert msgspec.structs.replace(found, count=57) != found == msgspec.structs.replace(found)
