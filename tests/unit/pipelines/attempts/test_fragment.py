# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.environment import RealEnvironment
from lochan.errors import Corruption, NotFound
from lochan.objects.drivers.memory import MemoryObjects
from lochan.pipelines.attempts import fragment
from lochan.pipelines.attempts.fragment import read_fragment, write_fragment
from lochan.pipelines.model.datum import DatumRow, DatumState, OutputFile, Source

NAMES = st.text(max_size=8)
ROWS = st.builds(
    DatumRow,
    id=st.binary(min_size=32, max_size=32),
    hash=st.binary(min_size=32, max_size=32),
    state=st.sampled_from(DatumState),
    sources=st.lists(st.builds(Source, NAMES, NAMES, st.binary(), st.binary())).map(tuple),
    outputs=st.lists(st.builds(OutputFile, st.binary(), st.binary())).map(tuple),
    number=st.integers(0, 2**40),
    reason=NAMES,
    log=NAMES,
)


def stored(rows: list[DatumRow]) -> MemoryObjects:
    objects = MemoryObjects(RealEnvironment())
    write_fragment(objects, "fragment", rows)
    return objects


def row(number: int) -> DatumRow:
    return DatumRow(bytes(32), bytes(32), DatumState.PROCESSED, (), number=number)


@given(st.lists(ROWS, max_size=5))
def test_rows_come_back_as_they_were(rows: list[DatumRow]) -> None:
    assert list(read_fragment(stored(rows), "fragment")) == rows


def test_many_rows_lie_in_several_blocks() -> None:
    rows = [row(number) for number in range(2 * fragment._ROWS + 1)]

    assert [one.number for one in read_fragment(stored(rows), "fragment")] == list(range(2001))


@given(st.data())
def test_no_fragment_that_is_cut_off_passes_for_a_whole_one(data: st.DataObject) -> None:
    objects = stored([row(1), row(2)])
    whole = objects.get("fragment").read()
    objects.put("cut", whole[: data.draw(st.integers(0, len(whole) - 1))])

    with pytest.raises(Corruption, match="cut is damaged"):
        list(read_fragment(objects, "cut"))


@given(st.data())
def test_no_fragment_with_a_changed_byte_passes_for_a_whole_one(data: st.DataObject) -> None:
    objects = stored([row(1), row(2)])
    changed = bytearray(objects.get("fragment").read())
    changed[data.draw(st.integers(0, len(changed) - 1))] ^= data.draw(st.integers(1, 255))
    objects.put("changed", bytes(changed))

    with pytest.raises(Corruption, match="changed is damaged"):
        list(read_fragment(objects, "changed"))


def test_a_fragment_that_is_not_there_is_not_found() -> None:
    with pytest.raises(NotFound):
        list(read_fragment(MemoryObjects(RealEnvironment()), "fragment"))
