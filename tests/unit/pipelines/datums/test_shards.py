# SPDX-License-Identifier: Apache-2.0
"""Packing: nothing lost, nothing twice, the same every time, and the load spread."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from lochan.pipelines.datums.shards import A_CORE, pack, shard_count
from lochan.pipelines.model.datum import Datum, datums_hash
from lochan.pipelines.model.spec import DatumRules

RULES = DatumRules(set_bytes=1 << 20)
MIB = 1 << 20


def made(sizes: list[int]) -> list[Datum]:
    """Make datums of these sizes, numbered as they come."""
    return [
        Datum(n.to_bytes(32), n.to_bytes(32), (), number=n, bytes=size)
        for n, size in enumerate(sizes)
    ]


@given(
    st.lists(st.integers(0, 5 * MIB), max_size=60),
    st.integers(0, 8),
    st.integers(0, 70),
    st.randoms(use_true_random=False),
)
def test_every_datum_is_in_one_shard_whatever_the_order_they_come_in(
    sizes: list[int], cores: int, wanted: int, chance: Random
) -> None:
    datums = made(sizes)
    packed = pack(datums, RULES, cores, wanted)
    assert sorted(datum.number for shard in packed for datum in shard.datums) == [
        *range(len(sizes))
    ]
    assert [shard.number for shard in packed] == [*range(len(packed))]
    for shard in packed:
        numbers = [datum.number for datum in shard.datums]
        assert numbers == sorted(numbers) != []
    chance.shuffle(datums)
    assert pack(datums, RULES, cores, wanted) == packed


@given(st.lists(st.integers(0, MIB), min_size=1, max_size=200), st.integers(1, 6))
def test_no_shard_has_more_than_its_share_and_one_datum(sizes: list[int], count: int) -> None:
    packed = pack(made(sizes), RULES, cores=2, wanted=count)
    assert len(packed) == min(count, len(sizes))
    each = 64 << 10
    share = (sum(sizes) + each * len(sizes)) / len(packed)
    loads = [sum(datum.bytes + each for datum in shard.datums) for shard in packed]
    assert max(loads) <= share + max(sizes) + each


def test_a_datum_larger_than_a_set_has_a_shard_to_itself() -> None:
    packed = pack(made([10, 3 * MIB, 10, 2 * MIB, 10]), RULES, cores=2)
    alone = [shard for shard in packed if any(datum.bytes > MIB for datum in shard.datums)]
    assert [len(shard.datums) for shard in alone] == [1, 1]
    assert len(pack(made([3 * MIB, 1, 2]), RULES, cores=2, wanted=1)) == 1


def test_shards_are_as_many_as_the_bytes_ask_for_between_the_cores_and_three_times_as_many() -> (
    None
):
    assert shard_count(made([1]), RULES, cores=4) == 1
    assert shard_count(made([1] * 10), RULES, cores=4) == 4
    assert shard_count(made([MIB] * 6), RULES, cores=4) == 6
    assert shard_count(made([9 * MIB] * 99), RULES, cores=4) == 4 * A_CORE
    assert shard_count(made([0] * 10_000), RULES, cores=2) == 2 * A_CORE
    assert pack([], RULES, cores=2) == ()


def test_the_longest_are_packed_first() -> None:
    packed = pack(made([1 << 18] * 4 + [1 << 20]), RULES, cores=2, wanted=2)
    assert sorted(len(shard.datums) for shard in packed) == [1, 4]


def test_a_shard_is_known_again_by_its_datums() -> None:
    one, other = pack(made([1, 2, 3, 4]), RULES, cores=2, wanted=2)
    assert datums_hash(one.datums) == datums_hash(one.datums) != datums_hash(other.datums)
