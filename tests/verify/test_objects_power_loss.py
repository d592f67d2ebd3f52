# SPDX-License-Identifier: Apache-2.0
"""Loss of power under local objects, on a file system that forgets whatever was not synced.

A writer (`objects_workload`) says what it is about to do, and that it was acknowledged. At random
instants the disk is copied as it would be without power, in four ways. Each copy must open, hold
whole objects only, and agree with every address for which nothing was under way. That the campaign
can fail is shown by the same campaign on drivers that leave out a sync.
"""

import hashlib
import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lochan.environment import RealEnvironment
from lochan.objects.drivers.local import LocalObjects
from servers.forgetful_disk import Way
from servers.forgetful_fs import ForgetfulFs
from verify import objects_workload

pytestmark = pytest.mark.campaign

RUNS = 8
CRASHES_A_RUN = 12
ENVIRONMENT = RealEnvironment()


class Writer:
    """A writing process, and what it has said so far."""

    def __init__(self, root: Path, seed: str, without: str) -> None:
        command: list[str | Path] = [sys.executable, objects_workload.__file__, root, seed, without]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self._lines: list[list[str]] = []
        self._said = threading.Condition()
        self._listener = threading.Thread(target=self._listen)
        self._listener.start()

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            with self._said:
                self._lines.append(line.split())
                self._said.notify_all()

    def wait_for(self, count: int) -> list[list[str]]:
        """Give what was said once there are so many lines; all of it has happened."""
        with self._said:
            assert self._said.wait_for(lambda: len(self._lines) >= count, timeout=60)
            return list(self._lines)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._listener.join()
        assert self._process.stdout
        self._process.stdout.close()


def wrong(image: Path, known: list[list[str]]) -> list[str]:
    """Compare a disk after the crash with what had been acknowledged before it."""
    settled: dict[str, str] = {}
    for mark, address, value in known:
        settled[address] = value if mark == "A" else "?"
    store = LocalObjects(image, ENVIRONMENT)
    complaints, found = [], {}
    for listed in store.list(limit=100_000).entries:
        body = store.get(listed.address).read()
        found[listed.address] = body[:64].decode(errors="replace")
        if listed.address.startswith("_work/"):
            continue
        if hashlib.sha256(body[64:]).hexdigest() != found[listed.address]:
            complaints.append(f"{listed.address} is torn")
    for address, value in settled.items():
        if value not in {"?", found.get(address, "-")}:
            complaints.append(f"{address} is {found.get(address, 'lost')[:8]}, not {value[:8]}")
    store.close()
    return complaints


def campaign(
    fs: ForgetfulFs, into: Path, runs: int, without: str = ""
) -> tuple[int, int, list[str]]:
    """Write, cut the power many times, and check each copy of the disk."""
    dice, complaints, crashes, acknowledged = random.Random("objects"), [], 0, 0
    for run in range(runs):
        here = f"without-{without}-{run}"
        (fs.path / here).mkdir()
        images = []
        writer = Writer(fs.path / here / "lake", f"{run}", without)
        wanted = 1
        for crash in range(CRASHES_A_RUN):
            known = writer.wait_for(wanted)
            copies = fs.crash(here, into / here / str(crash), list(Way), dice.randrange(2**32))
            # What was begun since may have reached the disk too. Two lines more, and all that was
            # said before the crash has been heard.
            heard = writer.wait_for(len(writer.wait_for(0)) + 2)
            begun = [line for line in heard[len(known) :] if line[0] == "B"]
            images += [(image / "lake", known + begun) for image in copies]
            wanted = len(known) + dice.randrange(40)
        writer.stop()
        acknowledged += sum(mark == "A" for mark, _, _ in known)
        for image, known_then in images:
            crashes += 1
            complaints += wrong(image, known_then)
    return crashes, acknowledged, complaints


def told(crashes: int, acknowledged: int, complaints: list[str]) -> str:
    wrong_ones = f"{len(complaints)} lost or torn"
    return f"{crashes} losses of power, {acknowledged} acknowledged, {wrong_ones}"


def test_power_loss_takes_nothing_that_was_acknowledged_and_tears_nothing(
    forgetful_fs: ForgetfulFs, tmp_path: Path
) -> None:
    crashes, acknowledged, complaints = campaign(forgetful_fs, tmp_path, RUNS)

    print(f"\nlocal objects: {told(crashes, acknowledged, complaints)}")
    assert complaints == []


@pytest.mark.parametrize("without", objects_workload.SYNCS)
def test_the_same_campaign_finds_what_a_missing_sync_loses(
    forgetful_fs: ForgetfulFs, tmp_path: Path, without: str
) -> None:
    crashes, acknowledged, complaints = campaign(forgetful_fs, tmp_path, 2, without)

    print(f"\nno sync of {without}: {told(crashes, acknowledged, complaints)}")
    assert complaints
