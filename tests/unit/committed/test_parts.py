# SPDX-License-Identifier: Apache-2.0
"""Many writers give the snapshot that one would have given, wherever their stretches begin."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from lochan.committed import Cuts, Files, Snapshots
from lochan.committed.parts import write_part
from lochan.environment import RealEnvironment
from lochan.kernel.records import Records
from lochan.model.ids import EMPTY_TREE
from lochan.objects.drivers.memory import MemoryObjects

WORLD = RealEnvironment()
CASES = [Cuts(raggedness=4, cap_bytes=1 << 20), Cuts(raggedness=5, cap_bytes=60), Cuts(1000, 100)]


@given(
    st.lists(st.binary(min_size=1, max_size=6), unique=True, max_size=80),
    st.lists(st.integers(0, 80), max_size=5),
    st.integers(1, 30),
    st.sampled_from(CASES),
)
def test_rel_D4_parts_join_to_what_one_writer_writes(
    keys: list[bytes], borders: list[int], chunk: int, cuts: Cuts
) -> None:
    objects = MemoryObjects(WORLD)
    with Snapshots(Files(objects, WORLD), WORLD, cuts=cuts) as snapshots:
        rows = [(key, b"identity", b"value of " + key) for key in sorted(keys)]
        whole = snapshots.apply(EMPTY_TREE, [Records.of(rows)] if rows else []).id
        stops = sorted({0, *(stop for stop in borders if stop < len(rows)), len(rows)})
        parts = [
            write_part(snapshots.files, cuts, in_chunks(rows[start:stop], chunk))
            for start, stop in itertools.pairwise(stops)
        ]
        assert snapshots.join(parts) == whole


def in_chunks(rows: list[tuple[bytes, bytes, bytes]], size: int) -> list[Records]:
    return [Records.of(rows[start : start + size]) for start in range(0, len(rows), size)]
