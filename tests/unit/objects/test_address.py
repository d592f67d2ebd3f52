# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput
from lochan.objects.address import (
    PARTITION_IDS,
    AddressSource,
    find_data,
    metadata_address,
    parse_data,
    signed,
    suffix_of,
    unsigned,
)


class Clock(RealEnvironment):
    """A clock that stands where it is put."""

    def __init__(self, now: float) -> None:
        self.time = now

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time


def partition(address: str) -> str:
    return address.split("/")[1]


@given(st.floats(0, 4e9))
def test_an_address_tells_when_it_was_made(now: float) -> None:
    address = AddressSource(Clock(now)).new("a/b.parquet")

    assert abs(parse_data(address).created - now) < 0.0011
    assert len(partition(address)) == 16
    assert len(parse_data(address).id) == 24


@given(st.lists(st.integers(0, 4_000_000_000), min_size=2, max_size=9, unique=True))
def test_newer_partitions_sort_first_and_ids_sort_by_age(times: list[int]) -> None:
    made = [AddressSource(Clock(float(now))).new() for now in sorted(times)]

    assert sorted(map(partition, made), reverse=True) == [partition(address) for address in made]
    ids = [parse_data(address).id for address in made]
    assert sorted(ids) == ids


def test_a_partition_lasts_an_hour() -> None:
    clock = Clock(1_700_000_000.0)
    source = AddressSource(clock)
    first = source.new()
    clock.time += 3599
    assert partition(source.new()) == partition(first)
    clock.time += 1
    assert partition(source.new()) < partition(first)


def test_a_partition_holds_fifty_thousand_ids() -> None:
    source = AddressSource(Clock(1_700_000_000.0))
    made = [source.new() for _ in range(PARTITION_IDS + 1)]

    assert len({partition(address) for address in made[:-1]}) == 1
    assert partition(made[-1]) != partition(made[0])
    assert len(set(made)) == PARTITION_IDS + 1


def test_two_sources_at_the_same_moment_share_nothing() -> None:
    first, second = (AddressSource(Clock(1_700_000_000.0)).new() for _ in range(2))

    assert partition(first) != partition(second)


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        *(("a.csv", ".csv"), ("dir.d/a.csv.gz", ".csv.gz"), ("a", ""), ("", ""), ("dir.d/a", "")),
        *(("part-0.snappy.parquet", ".snappy.parquet"), (".hidden", ".hidden"), ("A.CSV", ".CSV")),
        *(("log.2024-01-01.gz", ".gz"), ("a..gz", ".gz"), ("a.", ""), ("a.b c.gz", ".gz")),
        *(("a.\u00e9.gz", ".gz"), ("a.gz\u00e9", ""), ("x." + "y" * 40, "")),
        *(("x." + "y" * 40 + ".gz", ".gz"), ("x." + "y" * 31, "." + "y" * 31), ("a.b/", "")),
        *(("a.." + "/..", ""), ("a.csv\n", "")),
    ],
)
def test_the_suffix_is_the_logical_names_own(name: str, suffix: str) -> None:
    assert suffix_of(name) == suffix
    assert AddressSource(RealEnvironment()).new(name).endswith(suffix)


@given(st.text())
def test_any_name_gives_an_address_that_every_store_takes(name: str) -> None:
    address = AddressSource(RealEnvironment()).new(name)

    found = find_data(address)
    assert found is not None
    assert str(found) == address
    assert found.rest == suffix_of(name)
    assert len(found.rest) <= 32
    assert address.isascii()


def test_a_signature_goes_in_and_out() -> None:
    address = AddressSource(RealEnvironment()).new("a.csv.gz")
    with_signature = signed(address, "Abc_-9")

    assert with_signature.endswith(",Abc_-9.csv.gz")
    assert parse_data(with_signature).signature == "Abc_-9"
    assert parse_data(with_signature).created == parse_data(address).created
    assert unsigned(with_signature) == address
    for bad in ("", "a.b", "a/b", "a,b", "x" * 129, "a\n"):
        with pytest.raises(InvalidInput):
            signed(address, bad)


def test_a_file_in_a_private_folder_has_the_folders_time() -> None:
    folder = AddressSource(Clock(1_700_000_000.0)).new()

    found = parse_data(f"{folder}/country=DE/part-0.parquet")
    assert found.created == 1_700_000_000
    assert found.rest == "/country=DE/part-0.parquet"


def test_an_address_of_lakefs_tells_its_time_too() -> None:
    # An xid begins with four bytes of Unix time: 4d88e15b.
    found = parse_data("data/gtq4c2l2tvec7bmhd8m0/9m4e2mr0ui3e8a215n4g")
    assert found.created == 1_300_816_219


@pytest.mark.parametrize(
    "address",
    [
        *("data", "data/", "data/x", "_lakefs/abc", "data/0/short", "data/0/" + "0" * 25),
        *("data/UP/" + "0" * 24, "data/0/" + "z" * 24, "x/data/0/" + "0" * 24, "data//" + "0" * 24),
    ],
)
def test_other_addresses_are_no_data_addresses(address: str) -> None:
    assert find_data(address) is None
    with pytest.raises(InvalidInput):
        parse_data(address)


def test_metadata_lies_under_its_prefix() -> None:
    assert metadata_address("ab" * 32) == "_lakefs/" + "ab" * 32
    assert metadata_address("ab", prefix="_meta") == "_meta/ab"
