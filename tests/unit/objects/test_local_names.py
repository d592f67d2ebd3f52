# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lochan.environment import RealEnvironment
from lochan.objects.address import AddressSource
from lochan.objects.drivers.local.names import PRIVATE, TREES, Names

EXACT, FOLDED = Names(folds_case=False), Names(folds_case=True)
BOTH = pytest.mark.parametrize("names", [EXACT, FOLDED], ids=["exact", "folded"])

# Segments that are long, awkward, alike, or all of it.
SEGMENTS = st.one_of(
    st.sampled_from(["", ".", "..", "a", "A", "~", "~n", "~2e", "~s", "a~s", ".lochan", "data"]),
    st.text(st.characters(codec="utf-8"), max_size=12),
    st.builds(
        lambda t, n: t * n,
        st.sampled_from(["a", "A", ".", "/", "\u00e9", "~"]),
        st.integers(1, 400),
    ),
)
ADDRESSES = st.lists(SEGMENTS, min_size=1, max_size=4).map("/".join).filter(bool)
IN_TREES = st.tuples(st.sampled_from(sorted(TREES)), ADDRESSES).map("/".join)
ANY = ADDRESSES | IN_TREES


def read_back(names: Names, address: str) -> str:
    """Take the way that a listing takes from the root to the file."""
    place = names.place(address)
    in_tree = place.folders[0] in TREES
    text = f"{place.folders[0]}/".encode() if in_tree else b""
    for name in place.folders[1:]:
        item = names.read(name, is_folder=True, in_tree=in_tree)
        assert item
        text += item.text
    item = names.read(place.file, is_folder=False, in_tree=in_tree)
    assert item
    return (text + item.text).decode()


@BOTH
@given(ANY)
def test_a_place_leads_back_to_its_address(names: Names, address: str) -> None:
    assert read_back(names, address) == address


@BOTH
@given(ANY)
def test_every_name_is_a_harmless_one(names: Names, address: str) -> None:
    for name in (*names.place(address).folders, names.place(address).file):
        assert 0 < len(name.encode()) <= 255
        assert name.isascii()
        assert not name.startswith(".")
        assert "/" not in name
        assert name.isprintable()
        assert name != PRIVATE


@given(st.lists(ANY, min_size=2, max_size=30, unique=True))
@example(["a", "A", "\u00e9", "\u00c9", "data/x", "data/X", "e\u0301"])
def test_no_two_addresses_meet_on_a_file_system_that_folds_case(addresses: list[str]) -> None:
    places = {
        tuple(name.lower() for name in (*place.folders, "/", place.file))
        for place in map(FOLDED.place, addresses)
    }

    assert len(places) == len(addresses)


@given(st.lists(ADDRESSES, min_size=2, max_size=30, unique=True))
def test_an_object_and_a_folder_outside_the_trees_never_share_a_name(addresses: list[str]) -> None:
    places = [EXACT.place(address) for address in addresses]
    files = {(*place.folders, place.file) for place in places}
    folders = {place.folders[:depth] for place in places for depth in range(1, 9)}

    assert not files & {folder for folder in folders if folder[0] not in TREES}


@BOTH
@given(st.text(max_size=30))
def test_addresses_that_we_make_are_their_own_paths(names: Names, name: str) -> None:
    address = AddressSource(RealEnvironment()).new(name.lower())
    for made in (address, "_lakefs/" + "0a" * 32, "_work/uploads/" + "0a" * 16 + "/00001"):
        place = names.place(made)

        assert "/".join((*place.folders, place.file)) == made


def test_a_suffix_with_capital_letters_survives_where_they_count() -> None:
    assert EXACT.place("data/1/0h3k.CSV.gz").file == "0h3k.CSV.gz"
    assert EXACT.place("data/1/x/Country=DE/part 0.parquet").folders[3] == "Country=DE"
    assert FOLDED.place("data/1/0h3k.CSV.gz").file == "0h3k.~43~53~56.gz"


@BOTH
@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=200))
@example("~2")
@example("~6a")  # j, which would not be escaped
@example("~2E")
@example("a" * 180)
@example("a" * 180 + "~m")
@example("~n~m")
@example("~s")
@example("~2f")  # a slash, which no segment holds
@example("~m")
@example(".hidden")
def test_a_name_that_we_would_not_give_stands_for_nothing(names: Names, name: str) -> None:
    if "/" in name:
        return
    for is_folder in (False, True):
        item = names.read(name, is_folder=is_folder, in_tree=False)
        if item is None or not item.text.isascii():
            continue
        rest = "" if not is_folder else "x" if item.text.endswith(b"/") else "y"
        place = names.place(item.text.decode() + rest)
        assert name in (*place.folders, place.file)
