# SPDX-License-Identifier: Apache-2.0
"""kill -9 in the middle of local puts: objects are whole or not there, nothing else is left."""

import hashlib
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lochan.environment import RealEnvironment
from lochan.objects.drivers.local import LocalObjects
from lochan.objects.store import Listed

CYCLES = 60
ENVIRONMENT = RealEnvironment()

# Puts objects for ever, named by their hash or over a former one, and says what was acknowledged.
WRITER = """
import hashlib, os, sys
from pathlib import Path
from lochan.environment import RealEnvironment
from lochan.objects.drivers.local import LocalObjects
from lochan.objects.store import ALWAYS, IF_ABSENT

environment = RealEnvironment()
store = LocalObjects(Path(sys.argv[1]), environment)
number = int(sys.argv[2])
while True:
    size = int.from_bytes(environment.random_bytes(3)) % 3_000_000
    body = environment.random_bytes(32) * (size // 32 + 1)
    digest = hashlib.sha256(body).hexdigest()
    pieces = (body[start : start + 100_000] for start in range(0, len(body), 100_000))
    store.put(f"data/{number % 5}/{digest}", pieces, size=len(body), when=IF_ABSENT)
    print(f"data/{number % 5}/{digest}", flush=True)
    store.put("over/and/over", digest.encode() * 1000, when=ALWAYS)
    print("over/and/over", flush=True)
    number += 1
"""


def written_until_killed(root: Path, cycle: int) -> list[str]:
    """Run a writer, kill it after some puts and a moment, and list what it had acknowledged."""
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, root, str(cycle)], stdout=subprocess.PIPE, bufsize=0
    )
    assert writer.stdout
    acknowledged = b""
    for _ in range(1 + cycle % 7):
        select.select([writer.stdout], [], [], 30)
        acknowledged += os.read(writer.stdout.fileno(), 65536)
    delay = int.from_bytes(ENVIRONMENT.random_bytes(2)) / 65536 * 0.02
    select.select([], [], [], delay)  # to be somewhere in the middle, wherever that is
    writer.send_signal(signal.SIGKILL)
    acknowledged += writer.stdout.read()
    writer.wait()
    writer.stdout.close()
    return [line for line in acknowledged.decode().splitlines(keepends=True) if line.endswith("\n")]


def is_whole(store: LocalObjects, listed: Listed) -> bool:
    body = store.get(listed.address).read()
    if listed.address == "over/and/over":
        return len(body) == 64_000 and body == body[:64] * 1000
    return hashlib.sha256(body).hexdigest() == listed.address.rpartition("/")[2]


@pytest.mark.campaign
def test_killed_writers_leave_whole_objects_and_nothing_else(tmp_path: Path) -> None:
    root, acknowledged, swept, puts = tmp_path / "lake", set(), 0, 0
    for cycle in range(CYCLES):
        lines = written_until_killed(root, cycle)
        puts += len(lines)
        acknowledged |= {line.strip() for line in lines}
        swept += len(list((root / ".lochan/incoming").iterdir()))
        store = LocalObjects(root, ENVIRONMENT)
        assert list((root / ".lochan/incoming").iterdir()) == []
        listed = store.list(limit=100_000).entries
        assert acknowledged <= {item.address for item in listed}
        assert all(is_whole(store, item) for item in listed)
        store.delete(*(item.address for item in listed[::3]))
        acknowledged -= {item.address for item in listed[::3]}
        store.close()
    print(f"{CYCLES} kills, {puts} puts acknowledged, none lost; {swept} unfinished files swept")
    assert swept  # otherwise no kill fell into a put, and nothing was shown
