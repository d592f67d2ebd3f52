# SPDX-License-Identifier: Apache-2.0
"""Look-ups and listings by example, and how many files they open."""

from lochan.committed.listing import Prefix
from lochan.kernel.records import Record
from support.record_strategies import Rows
from support.trees import build, numbered, open_snapshots, range_ids

ROWS = numbered(60)
FOLDERS: Rows = dict.fromkeys(
    (b"a", b"a/1", b"a/2/x", b"a/2/y", b"a0", b"b/1", b"b/2", b"c", b"d/e/f"), (b"1", b"")
)


def test_one_key_opens_one_range() -> None:
    with open_snapshots() as snapshots:
        found = build(snapshots, ROWS)
        snapshots.files.metarange(found)
        opened = snapshots.files.opened
        assert snapshots.get(found, b"k030") == Record(b"k030", *ROWS[b"k030"])
        assert snapshots.get(found, b"k030x") is None
        assert snapshots.files.opened <= opened + 2
        assert snapshots.get(found, b"z") is None
        assert snapshots.files.opened <= opened + 2


def test_many_keys_open_each_of_their_ranges_once() -> None:
    with open_snapshots(memory_bytes=0, threads=1) as snapshots:
        found = build(snapshots, ROWS)
        opened = snapshots.files.opened
        asked = sorted(ROWS)[::-1] * 3
        assert list(snapshots.get_many(found, asked).keys) == asked
        assert snapshots.files.opened == opened + 1 + len(range_ids(snapshots, found))


def test_a_listing_shows_folders_once() -> None:
    with open_snapshots() as snapshots:
        found = build(snapshots, FOLDERS)
        shown = [
            item.key if isinstance(item, Record) else item
            for item in snapshots.list(found, delimiter=b"/")
        ]
        assert shown == [b"a", Prefix(b"a/"), b"a0", Prefix(b"b/"), b"c", Prefix(b"d/")]
        inside = list(snapshots.list(found, b"a/", delimiter=b"/"))
        assert inside == [Record(b"a/1", b"1", b""), Prefix(b"a/2/")]


def test_a_listing_goes_on_behind_any_item_or_key() -> None:
    with open_snapshots() as snapshots:
        found = build(snapshots, FOLDERS)

        def first(after: bytes) -> Record | Prefix:
            return next(snapshots.list(found, after=after, delimiter=b"/"))

        assert first(b"a") == Prefix(b"a/")
        assert first(b"a/") == first(b"a/1") == first(b"a/2/x") == Record(b"a0", b"1", b"")
        assert first(b"aaa") == Prefix(b"b/")
        assert list(snapshots.list(found, after=b"d/", delimiter=b"/")) == []
