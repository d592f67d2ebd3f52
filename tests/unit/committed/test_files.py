# SPDX-License-Identifier: Apache-2.0
"""Files by id through the tiers: memory, disk, object store."""

import resource
import subprocess
import sys
from collections.abc import Callable
from os import urandom
from pathlib import Path

import pytest

from lochan.committed import Files, Snapshots
from lochan.errors import Corruption, NotFound
from lochan.faults import Fault
from lochan.kernel.records import Records
from lochan.model.ids import MetaRangeId, RangeId
from lochan.objects.address import metadata_address
from lochan.objects.faulty import Faulty
from lochan.objects.open import open_objects
from lochan.sstable import write_table
from servers.seaweedfs import S3Server
from support.tier_reader import ROWS, far_objects, local_objects, open_tiers
from support.trees import (
    ENVIRONMENT,
    SMALL,
    Watched,
    build,
    content,
    memory_objects,
    numbered,
    range_ids,
)

TESTS = Path(__file__).resolve().parents[2]


def damage(path: Path, at: int) -> None:
    """Change a byte of a file as nobody may: the same file, another content."""
    whole = bytearray(path.read_bytes())
    whole[at] ^= 0xFF
    path.write_bytes(whole)


def test_what_was_written_is_read_from_the_disk_tier(tmp_path: Path) -> None:
    watched = Watched(memory_objects())
    with open_tiers(watched.objects, tmp_path) as snapshots:
        assert content(snapshots, build(snapshots, ROWS)) == ROWS
    assert watched.read == []


def test_what_others_wrote_is_fetched_once(tmp_path: Path) -> None:
    watched = Watched(memory_objects())
    with open_tiers(watched.objects, tmp_path / "writer") as snapshots:
        found = build(snapshots, ROWS)
        files = [found, *range_ids(snapshots, found)]
    with open_tiers(watched.objects, tmp_path / "reader") as snapshots:
        assert content(snapshots, found) == content(snapshots, found) == ROWS
    assert sorted(watched.read) == sorted(files)


def test_the_memory_tier_keeps_files_open(tmp_path: Path) -> None:
    with open_tiers(memory_objects(), tmp_path, memory_bytes=1 << 20) as snapshots:
        found = build(snapshots, ROWS)
        snapshots.get_many(found, list(ROWS))
        opened = snapshots.files.opened
        snapshots.get_many(found, list(ROWS))
        assert snapshots.files.opened == opened == 1 + len(range_ids(snapshots, found))


def test_one_pass_leaves_the_memory_tier_to_what_is_looked_up(tmp_path: Path) -> None:
    with open_tiers(memory_objects(), tmp_path, memory_bytes=1 << 20) as snapshots:
        left, right = build(snapshots, ROWS), build(snapshots, numbered(60, b"2"))
        list(snapshots.diff(left, right))
        opened = snapshots.files.opened
        list(snapshots.diff(left, right))
        ranges = len(range_ids(snapshots, left)) + len(range_ids(snapshots, right))
        assert snapshots.files.opened == opened + ranges


def test_local_objects_are_mapped_in_place_and_not_copied(tmp_path: Path) -> None:
    objects = local_objects(tmp_path / "objects")
    with open_tiers(objects, tmp_path / "tier") as snapshots:
        found = build(snapshots, ROWS)
        assert content(snapshots, found) == ROWS
    assert list((tmp_path / "tier").iterdir()) == []


def test_a_file_that_is_nowhere_is_not_found(tmp_path: Path) -> None:
    missing = MetaRangeId("ab" * 32)
    for objects in (memory_objects(), local_objects(tmp_path / "objects")):
        with open_tiers(objects, tmp_path / "tier") as snapshots:
            with pytest.raises(NotFound, match=missing):
                snapshots.get(missing, b"k")
            with pytest.raises(NotFound, match=missing):
                snapshots.apply(missing, [])


def test_a_put_is_repeated_although_the_file_exists() -> None:
    # A collector may be about to remove the older one.
    watched = Watched(memory_objects())
    with Snapshots(Files(watched.objects, ENVIRONMENT), ENVIRONMENT, cuts=SMALL) as snapshots:
        found = build(snapshots, ROWS)
        once = sorted(watched.written)
        assert build(snapshots, ROWS) == found
    assert sorted(watched.written) == sorted(2 * once)


SPOTS: dict[str, Callable[[int], int]] = {
    "in its rows": lambda _: 10,
    "in its properties": lambda size: size // 2,
    "in its footer": lambda size: size - 20,
}


@pytest.mark.parametrize("spot", SPOTS)
def test_a_damaged_copy_is_dropped_and_fetched_again(tmp_path: Path, spot: str) -> None:
    objects = memory_objects()
    with open_tiers(objects, tmp_path) as snapshots:
        found = build(snapshots, ROWS)
        files = [found, *range_ids(snapshots, found)]
    for name in files:
        damage(tmp_path / name, SPOTS[spot]((tmp_path / name).stat().st_size))
    with open_tiers(objects, tmp_path) as snapshots:
        assert content(snapshots, found) == ROWS
        assert snapshots.get(found, b"k007") is not None
    with open_tiers(Faulty(objects, lambda _: Fault.ERROR, ENVIRONMENT), tmp_path) as snapshots:
        assert content(snapshots, found) == ROWS


def test_an_emptied_copy_is_fetched_again(tmp_path: Path) -> None:
    objects = memory_objects()
    with open_tiers(objects, tmp_path) as snapshots:
        found = build(snapshots, ROWS)
        (tmp_path / found).write_bytes(b"")
        assert content(snapshots, found) == ROWS


@pytest.mark.parametrize("spot", SPOTS)
def test_damaged_truth_is_told_with_the_name_of_the_file(tmp_path: Path, spot: str) -> None:
    objects = memory_objects()
    with open_tiers(objects, tmp_path / "writer") as snapshots:
        found = build(snapshots, ROWS)
        name = range_ids(snapshots, found)[1]
    address = f"_lakefs/{name}"
    with objects.get(address) as reading:
        whole = reading.read()
    place = SPOTS[spot](len(whole))
    objects.put(address, whole[:place] + b"\x00\x01" + whole[place + 2 :])
    with open_tiers(objects, tmp_path / "reader") as snapshots:
        for _ in range(2):
            with pytest.raises(Corruption, match=f"^{name} is damaged at offset") as caught:
                content(snapshots, found)
            assert caught.value.file == name
        objects.put(address, whole)
        assert content(snapshots, found) == ROWS


def test_rel_D1_a_file_under_another_name_is_refused(tmp_path: Path) -> None:
    objects = memory_objects()
    with open_tiers(objects, tmp_path) as snapshots:
        one, other = build(snapshots, ROWS), build(snapshots, numbered(60, b"2"))
        objects.copy(f"_lakefs/{one}", f"_lakefs/{other}")
    with (
        open_tiers(objects, tmp_path / "reader") as snapshots,
        pytest.raises(Corruption, match=f"says that its id is b'{one}'"),
    ):
        snapshots.get(other, b"k")


def test_eviction_of_a_mapped_file_does_no_harm(tmp_path: Path) -> None:
    with open_tiers(memory_objects(), tmp_path, memory_bytes=1 << 20) as snapshots:
        found = build(snapshots, ROWS)
        tables = [snapshots.files.range(RangeId(name)) for name in range_ids(snapshots, found)]
        cursor = snapshots.cursor(found)
        first = cursor.next()
        for path in tmp_path.iterdir():
            path.unlink()
        assert sum(table.verify() for table in tables) == len(ROWS)
        assert [first, *cursor] == list(snapshots.get_many(found, sorted(ROWS)))


def test_a_disk_tier_too_small_for_two_files_serves_many_threads(tmp_path: Path) -> None:
    objects = memory_objects()
    with open_tiers(objects, tmp_path, disk_bytes=1) as snapshots:
        found = build(snapshots, numbered(400))
        asked = sorted(numbered(400))
        for _ in range(3):
            assert list(snapshots.get_many(found, asked).keys) == asked
            assert all(snapshots.get_many(found, asked).identities)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 4000


def test_a_full_disk_tier_stops_neither_commits_nor_reads(tmp_path: Path) -> None:
    with open_tiers(memory_objects(), tmp_path) as snapshots:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
        try:
            assert content(snapshots, build(snapshots, ROWS)) == ROWS
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


def start_reader(tmp_path: Path, found: str, truth: str, capacity: int) -> subprocess.Popen[bytes]:
    given = [str(tmp_path / "objects"), str(tmp_path / "tier"), found, truth, str(capacity)]
    return subprocess.Popen([sys.executable, "-m", "support.tier_reader", *given], cwd=TESTS)


def test_two_processes_share_a_disk_tier(tmp_path: Path) -> None:
    with open_tiers(far_objects(tmp_path / "objects"), tmp_path / "tier") as snapshots:
        found = build(snapshots, ROWS)
    without_truth = start_reader(tmp_path, found, "gone", 1 << 20)
    assert without_truth.wait(60) == 0
    crowded = [start_reader(tmp_path, found, "near", 4000) for _ in range(2)]
    assert [process.wait(60) for process in crowded] == [0, 0]


def test_many_small_files_do_not_use_up_the_file_descriptors(tmp_path: Path) -> None:
    files = Files(local_objects(tmp_path / "objects"), ENVIRONMENT)
    rows = numbered(400)
    with Snapshots(files, ENVIRONMENT, cuts=SMALL) as snapshots:
        found = build(snapshots, rows)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        used = max(int(path.name) for path in Path("/dev/fd").iterdir())
        resource.setrlimit(resource.RLIMIT_NOFILE, (used + 40, hard))
        try:
            assert all(snapshots.get_many(found, list(rows)).identities)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert len(range_ids(snapshots, found)) > 50


def test_seaweedfs_behind_a_disk_tier(tmp_path: Path, seaweedfs: S3Server) -> None:
    prefix = f"committed-{ENVIRONMENT.new_id()}"
    far = Watched(open_objects(seaweedfs.location(prefix), ENVIRONMENT))
    with open_tiers(far.objects, tmp_path / "writer") as snapshots:
        base = build(snapshots, ROWS)
        found = snapshots.apply(base, []).id
        assert found == base
    with open_tiers(far.objects, tmp_path / "reader") as snapshots:
        assert content(snapshots, found) == content(snapshots, found) == ROWS
        assert snapshots.verify(found) == len(ROWS)
        assert sorted(far.read) == sorted([found, *range_ids(snapshots, found)])
    with open_tiers(far.objects, tmp_path / "third") as snapshots, pytest.raises(NotFound):
        snapshots.get(MetaRangeId("ab" * 32), b"k")
    far.objects.close()


@pytest.mark.parametrize("rows", [1, 3000])
def test_a_large_file_is_written_in_pieces_between_which_others_have_their_turn(rows: int) -> None:
    made = ((b"%06d" % number, urandom(32), urandom(1024)) for number in range(rows))
    table = write_table(Records.of(made), "ranges", {})
    objects, turns = memory_objects(), list[str]()
    Files(objects, ENVIRONMENT).put(table, lambda: turns.append("others"))
    with objects.get(metadata_address(table.id)) as stored:
        assert stored.read() == table.data
    assert len(turns) == table.size_bytes >> 20
