# SPDX-License-Identifier: Apache-2.0
"""Large bodies in little memory: what a put and a get hold does not grow with the object."""

import subprocess
import sys
from pathlib import Path

import pytest

from lochan.environment import RealEnvironment
from servers.seaweedfs import S3Server

SIZE = 256 << 20

# Prints by how many bytes a put and a get of the object raised the largest resident size.
MEASURED = """
import resource, sys
from lochan.environment import RealEnvironment
from lochan.objects.open import open_objects

store = open_objects(sys.argv[1], RealEnvironment())
size, piece = int(sys.argv[2]), bytes(range(256)) * 4096

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

store.put("data/1/small", piece)
assert store.get("data/1/small").read() == piece
before = peak()
store.put("data/1/large", (piece for _ in range(size // len(piece))))
after_put = peak()
with store.get("data/1/large") as reading:
    total = sum(len(chunk) for chunk in reading)
assert total == size == store.head("data/1/large").size
print(after_put - before, peak() - before)
"""


def growth(location: str) -> list[int]:
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, location, str(SIZE)],
        capture_output=True,
        text=True,
        check=True,
    )
    put, get = map(int, done.stdout.split())
    print(f"256 MiB to {location.partition('?')[0]}: put +{put >> 20} MiB, get +{get >> 20} MiB")
    return [put, get]


@pytest.mark.campaign
def test_a_local_object_of_256_mib_takes_a_few_mib_of_memory(tmp_path: Path) -> None:
    assert max(growth(f"local://{tmp_path}/lake")) < 16 << 20


@pytest.mark.campaign
def test_an_s3_object_of_256_mib_takes_a_few_parts_of_memory(seaweedfs: S3Server) -> None:
    assert max(growth(seaweedfs.location(RealEnvironment().new_id()))) < 128 << 20
