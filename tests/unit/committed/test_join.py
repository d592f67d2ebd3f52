# SPDX-License-Identifier: Apache-2.0
from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from lochan.committed.join import joined
from lochan.kernel.records import Records
from support.record_strategies import Rows
from support.tree_strategies import places, trees
from support.trees import in_chunks

sides = st.lists(st.tuples(trees, places), min_size=1, max_size=3)


@settings(max_examples=50, deadline=None)
@given(sides)
def test_chunks_cover_the_same_keys_and_lose_none(sides: list[tuple[Rows, list[int]]]) -> None:
    chunks = list(joined(*(in_chunks(rows, stops) for rows, stops in sides)))
    for number, (rows, _) in enumerate(sides):
        found = [row for chunk in chunks for row in chunk[number]]
        assert found == [(key, *rows[key]) for key in sorted(rows)]
    behind: bytes | None = None
    for chunk in chunks:
        keys = sorted(key for part in chunk for key in part.keys)
        assert keys
        assert behind is None or keys[0] > behind
        behind = keys[-1]


def test_one_chunk_of_each_stream_is_held_at_a_time() -> None:
    taken = list[int]()

    def stream() -> Iterator[Records]:
        for number in range(5):
            taken.append(number)
            yield Records.of([(b"%d" % number, b"1", b"")])

    chunks = joined(stream(), iter(()))
    for number in range(5):
        next(chunks)
        assert taken == list(range(number + 1))
