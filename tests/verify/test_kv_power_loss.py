# SPDX-License-Identifier: Apache-2.0
"""Loss of power under a SQLite store, on a file system that forgets whatever was not synced.

A killed process proves nothing about durability: the kernel still writes what it was handed. Here
writers work on a mounted `forgetful_fs`; at random instants the disk is copied as it would be
without power, in four ways, and each copy must open and hold everything acknowledged before that
instant. Each run goes on from a copy of the run before. That the campaign can fail is shown by the
same campaign with `synchronous` lowered.
"""

import errno
import os
import random
import shutil
import sqlite3
from pathlib import Path
from typing import NamedTuple

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import LochanError, Refused
from lochan.kv.drivers.sqlite import SqliteStore
from servers.forgetful_disk import Way
from servers.forgetful_fs import ForgetfulFs, mounted
from verify.kv_workload import Told, Writer, wrong

pytestmark = pytest.mark.campaign

RUNS = 24
CRASHES_A_RUN = 12


class Loss(NamedTuple):
    """What a campaign found."""

    crashes: int
    acknowledged: int
    complaints: list[str]


def campaign(
    fs: ForgetfulFs, folder: Path, synchronous: str, runs: int, dice: random.Random
) -> Loss:
    """Run writers, cut the power many times, and check each copy of the disk."""
    told = Told()
    complaints: list[str] = []
    crashes = 0
    start: Path | None = None
    for run in range(runs):
        here = f"{synchronous}-{run}"
        (fs.path / here).mkdir()
        if start:
            copy_durably(start, fs.path / here)
        options = ["--synchronous", synchronous, "--first-thread", str(3 * run)]
        images: list[tuple[Path, Told]] = []
        with Writer(fs.path / here / "kv.db", *options, "--reopen-after", "90") as writer:
            wanted = 0
            for crash in range(CRASHES_A_RUN):
                known = writer.wait_for(wanted)
                into = folder / here / str(crash)
                copies = fs.crash(here, into, list(Way), dice.randrange(2**32))
                images += [(image, known) for image in copies]
                wanted = len(known.acknowledged) + dice.randrange(60)
        for image, known in images:
            complaints += check(image, merged(told, known))
        crashes += len(images)
        if complaints:  # nothing to go on from
            return Loss(crashes, len(told.acknowledged), complaints)
        start, last = images[dice.randrange(len(images))]
        told = merged(told, last)
    return Loss(crashes, len(told.acknowledged), complaints)


def copy_durably(source: Path, target: Path) -> None:
    shutil.copytree(source, target, dirs_exist_ok=True)
    for path in (*target.iterdir(), target):
        handle = os.open(path, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)


def merged(told: Told, more: Told) -> Told:
    return Told(
        told.acknowledged | more.acknowledged,
        told.not_applied | more.not_applied,
        told.unknown | more.unknown,
    )


def check(image: Path, told: Told) -> list[str]:
    try:
        return wrong(image / "kv.db", told)
    except (LochanError, sqlite3.Error) as error:
        return [f"cannot be opened: {error}"]


def test_rel_K6_power_loss_takes_nothing_that_was_acknowledged(
    forgetful_fs: ForgetfulFs, tmp_path: Path
) -> None:
    loss = campaign(forgetful_fs, tmp_path, "FULL", RUNS, random.Random("power"))
    print(
        f"\npower loss, SQLite FULL: {loss.crashes} crash states, {loss.acknowledged} acknowledged"
        f" writes carried through {RUNS} runs, {len(loss.complaints)} lost or wrong"
    )
    assert loss.complaints == []


@pytest.mark.parametrize("synchronous", ["NORMAL", "OFF"])
def test_the_same_campaign_finds_what_a_weaker_setting_loses(
    synchronous: str, forgetful_fs: ForgetfulFs, tmp_path: Path
) -> None:
    loss = campaign(forgetful_fs, tmp_path, synchronous, 3, random.Random("power"))
    print(
        f"\npower loss, SQLite {synchronous}: {loss.crashes} crash states,"
        f" {len(loss.complaints)} lost or wrong"
    )
    assert [words for words in loss.complaints if words.endswith("is lost")]


@pytest.mark.parametrize(
    ("operation", "error", "numbers"),
    [
        ("fsync", errno.EIO, range(1, 41)),
        ("write", errno.EIO, range(1, 101, 2)),
        ("write", errno.ENOSPC, range(1, 101, 2)),
    ],
)
def test_a_failure_of_the_disk_at_any_operation_breaks_no_promise(
    operation: str, error: int, numbers: range, forgetful_fs: ForgetfulFs, tmp_path: Path
) -> None:
    counts = {"A": 0, "N": 0, "U": 0}
    for number in numbers:
        here = f"{operation}-{number}"
        (forgetful_fs.path / here).mkdir()
        forgetful_fs.fail(operation, number, error)
        path = forgetful_fs.path / here / "kv.db"
        options = ["--threads", "1", "--writes", "30", "--checkpoint-pages", "12"]
        with Writer(path, *options) as writer:
            told = writer.wait_for_end()
        forgetful_fs.fail(operation, 0, 0)
        for image in forgetful_fs.crash(here, tmp_path / here, list(Way), number):
            assert check(image, told) == []
        order = "".join(told.order)
        # After an outcome that nobody knows, the store has stopped: nothing more is promised.
        assert "A" not in order.partition("U")[2]
        for kind in counts:
            counts[kind] += order.count(kind)
    print(
        f"\n{operation} fails with {errno.errorcode[error]}: {len(numbers)} places, {counts['A']}"
        f" acknowledged, {counts['N']} not applied, {counts['U']} unknown, 0 promises broken"
    )
    assert counts["N"] or counts["U"]


def test_a_file_system_of_another_machine_is_refused(tmp_path: Path) -> None:
    with mounted(tmp_path / "remote", subtype="sshfs") as fs:
        with pytest.raises(Refused, match="network file system") as caught:
            SqliteStore(fs.path / "kv.db", RealEnvironment())
        assert caught.value.facts["kind"] == "fuse.sshfs"
        assert not (fs.path / "kv.db").exists()
