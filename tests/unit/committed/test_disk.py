# SPDX-License-Identifier: Apache-2.0
"""The disk tier: bounded, shared by processes, and never the reason why something fails."""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lochan.committed import DiskTier
from lochan.errors import Unavailable
from support.trees import ENVIRONMENT


def tier(folder: Path, capacity_bytes: int = 1000) -> DiskTier:
    return DiskTier(folder / "tier", capacity_bytes, ENVIRONMENT)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "tier").iterdir())


def used_at(path: Path, second: int) -> None:
    os.utime(path, (second, second))


def test_a_copy_is_found_whole(tmp_path: Path) -> None:
    disk = tier(tmp_path)
    path = disk.put("one", [b"first ", memoryview(b"second")])
    assert path.read_bytes() == b"first second"
    assert disk.find("one") == path
    assert disk.find("two") is None


def test_the_least_used_copies_go_first(tmp_path: Path) -> None:
    disk = tier(tmp_path, 25)
    for second, name in enumerate(["one", "two", "three"]):
        used_at(disk.put(name, [b"x" * 8]), second)
    disk.find("one")
    disk.put("four", [b"x" * 8])
    assert names(tmp_path) == ["four", "one", "three"]


def test_what_was_there_before_counts(tmp_path: Path) -> None:
    used_at(tier(tmp_path).put("old", [b"x" * 800]), 1)
    tier(tmp_path).put("new", [b"x" * 800])
    assert names(tmp_path) == ["new"]


def test_a_copy_larger_than_the_tier_is_kept_until_the_next_one(tmp_path: Path) -> None:
    disk = tier(tmp_path, 10)
    assert disk.put("large", [b"x" * 100]).exists()
    disk.put("small", [b"x"])
    assert names(tmp_path) == ["small"]


def test_a_copy_that_fails_midway_leaves_nothing(tmp_path: Path) -> None:
    def body() -> Iterator[bytes]:
        yield b"half"
        raise Unavailable("the store went away")

    disk = tier(tmp_path)
    with pytest.raises(Unavailable, match="went away"):
        disk.put("one", body())
    assert names(tmp_path) == []


def test_what_a_killed_process_left_behind_is_evicted(tmp_path: Path) -> None:
    left = tmp_path / "tier" / "one.0123.part"
    left.parent.mkdir()
    left.write_bytes(b"x" * 100)
    used_at(left, 1)
    tier(tmp_path, 10).put("two", [b"x" * 5])
    assert names(tmp_path) == ["two"]


def test_a_folder_among_the_copies_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "tier" / "lost+found").mkdir(parents=True)
    tier(tmp_path, 1).put("one", [b"x" * 100])
    assert names(tmp_path) == ["lost+found", "one"]


def test_an_unfinished_copy_that_others_evict_does_no_harm(tmp_path: Path) -> None:
    disk, other = tier(tmp_path, 10), tier(tmp_path, 5)

    def body() -> Iterator[bytes]:
        yield b"half"
        other.put("two", [b"x" * 10])
        yield b"whole"

    disk.put("one", body())
    assert names(tmp_path) == ["two"]


def test_a_copy_that_cannot_be_written_is_told_as_such(tmp_path: Path) -> None:
    disk = tier(tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))  # as a full disk would
    try:
        with pytest.raises(Unavailable, match="no copy of one can be kept"):
            disk.put("one", [b"x" * 100])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert names(tmp_path) == []


def test_many_threads_stay_within_the_bound(tmp_path: Path) -> None:
    disk = tier(tmp_path, 100)
    with ThreadPoolExecutor(8) as executor:
        list(executor.map(lambda n: disk.put(f"{n % 30}", [b"x" * 40]), range(300)))
    assert len(names(tmp_path)) <= 2


def test_copies_of_other_processes_are_noticed_long_before_the_bound(tmp_path: Path) -> None:
    ours, theirs = tier(tmp_path, 1000), tier(tmp_path, 1000)
    for number in range(9):
        used_at(theirs.put(f"theirs {number}", [b"x" * 100]), number)
    ours.put("ours", [b"x" * 150])
    assert names(tmp_path) == ["ours", *(f"theirs {number}" for number in range(1, 9))]


FILL = """
import sys
from pathlib import Path
from lochan.committed import DiskTier
from lochan.environment import RealEnvironment
disk = DiskTier(Path(sys.argv[1]), 100, RealEnvironment())
for n in range(200):
    disk.put(str(n % 30), [b"x" * 40])
    disk.find(str((n + 7) % 30))
"""


def test_two_processes_share_a_folder_and_its_bound(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FILL, str(tmp_path / "tier")]
    both = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    tier(tmp_path, 100).put("last", [b"x" * 40])
    assert len(names(tmp_path)) <= 2
