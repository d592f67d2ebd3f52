# SPDX-License-Identifier: Apache-2.0
"""A pipe that a file goes into without a copy."""

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from lochan.environment import RealEnvironment
from lochan.web.outlet import CAN_SPLICE, ClientGone, Outlet

pytestmark = pytest.mark.skipif(not CAN_SPLICE, reason="only Linux has splice")
CONTENT = os.urandom(3 << 20)  # more than the pipe holds


@pytest.fixture
def file(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "file").write_bytes(CONTENT)
    opened = os.open(tmp_path / "file", os.O_RDONLY)
    yield opened
    os.close(opened)


def sent(file: int, start: int, stop: int) -> tuple[bool, bytes]:
    """Splice, and read what came."""
    with ThreadPoolExecutor(1) as pool:
        with Outlet(RealEnvironment(), 5.0) as outlet:
            reading: Future[bytes] = pool.submit(Path(outlet.name).read_bytes)
            done = outlet.splice(file, start, stop)
        return done, reading.result()


@pytest.mark.parametrize(("start", "stop"), [(0, len(CONTENT)), (5, 6), (1_000_001, 2_500_000)])
def test_a_part_of_a_file_arrives_as_it_is(file: int, start: int, stop: int) -> None:
    assert sent(file, start, stop) == (True, CONTENT[start:stop])


def test_a_file_that_was_cut_is_told(file: int) -> None:
    assert sent(file, 0, len(CONTENT) + 1) == (False, CONTENT)


def test_a_reader_that_goes_away_is_noticed(file: int) -> None:
    def read_some(name: str) -> int:
        with Path(name).open("rb", buffering=0) as reading:
            return len(reading.read(1000))

    with ThreadPoolExecutor(1) as pool, Outlet(RealEnvironment(), 5.0) as outlet:
        pool.submit(read_some, outlet.name)
        with pytest.raises(ClientGone):
            outlet.splice(file, 0, len(CONTENT))
