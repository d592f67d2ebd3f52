# SPDX-License-Identifier: Apache-2.0
"""Listings against a model that is read off the contract, for every way of asking."""

from collections.abc import Iterable
from itertools import product

import pytest

from lochan.errors import InvalidInput, Unavailable
from lochan.objects.faulty import Faulty, fail_nth_page
from lochan.objects.store import ObjectStore, Page
from lochan.objects.walk import walk, walk_prefixes
from lochan.testing.objects_given import ENVIRONMENT, Given

# Addresses as we make them; a store that sorts by folders gives the same order as one by bytes.
PLAIN = [
    *("_lakefs/00ab", "_lakefs/00ac", "_lakefs/01", "data/1/a.csv", "data/1/b.csv", "data/1/c"),
    *("data/2/a", "data/2/b/x", "data/2/b/y", "data/3/a", "z"),
]
# Folders beside names that begin like them, on both sides of the slash in byte order.
MIXED = [
    *("a", "a-b", "a-b/c", "a.b", "a/", "a/b", "a/b/", "a//b", "a/b-c", "a/b/c", "a0", "a0/b"),
    *("ab", "data", "data-x", "data0", "b/" + "n" * 200, "b/" + "n" * 180, "b/" + "n" * 179),
    *("b/" + "n" * 180 + "-", "b/" + "n" * 180 + "/x", "b/" + "n" * 180 + "0", "\u00e9/\u00e9"),
]
PLAIN_PREFIXES = ["", "data/", "data/2/b", "_lakefs/00", "_lakefs/01", "data/9"]
MIXED_PREFIXES = ["", "a", "a/", "a/b", "a//", "b/n", "b/" + "n" * 180, "b/" + "n" * 190, "d"]


def expected(
    names: Iterable[str], prefix: str, delimiter: str, start_after: str
) -> list[tuple[str, bool]]:
    """Say what a listing shows, in order: items, and whether each is a common prefix."""
    items = set()
    for name in names:
        if not name.startswith(prefix):
            continue
        before, found, _ = name[len(prefix) :].partition(delimiter or name + "?")
        items.add((prefix + before + found, bool(found)))
    return sorted(item for item in items if item[0] > start_after)


def shown(page: Page) -> list[tuple[str, bool]]:
    """Put the two halves of a page together in order."""
    entries = [(listed.address, False) for listed in page.entries]
    assert entries == sorted(entries)
    assert list(page.prefixes) == sorted(page.prefixes)
    return sorted(entries + [(prefix, True) for prefix in page.prefixes])


def paged(
    store: ObjectStore, prefix: str, delimiter: str, start_after: str, limit: int
) -> list[tuple[str, bool]]:
    """Join the pages of a listing; none may hold more than was asked for."""
    items: list[tuple[str, bool]] = []
    while True:
        page = store.list(prefix, delimiter=delimiter, start_after=start_after, limit=limit)
        assert len(shown(page)) <= limit
        items += shown(page)
        start_after = page.next_after
        if not start_after:
            return items


class ListConformance(Given):
    """Byte order, prefix, delimiter, start and pages."""

    def test_every_way_of_asking_shows_what_the_model_shows(self, store: ObjectStore) -> None:
        for name in PLAIN:
            store.put(name, b"1")
        starts = ["", "data/1/b.csv", "data/2/b/", "data/2/b/x", "zz"]
        for ask in product(PLAIN_PREFIXES, ["", "/"], starts, [1, 1000]):
            assert paged(store, *ask) == expected(PLAIN, *ask[:3]), ask

    def test_mixed_names_are_listed_in_byte_order(self, store: ObjectStore) -> None:
        if not self.keeps_any_address:
            pytest.skip("the store does not keep all of these addresses apart")
        for name in MIXED:
            store.put(name, b"1")
        starts = ["", "a", "a/", "a/b", "a0", "a\U0010ffff", "b/" + "n" * 180, "data"]
        for ask in product(MIXED_PREFIXES, ["", "/", "b", "b/", "-"], starts, [1, 1000]):
            assert paged(store, *ask) == expected(MIXED, *ask[:3]), ask

    def test_nothing_is_listed_where_nothing_is(self, store: ObjectStore) -> None:
        assert store.list() == Page((), (), "")
        assert store.list("data/", delimiter="/", start_after="data/x") == Page((), (), "")

    def test_a_page_of_no_items_is_refused(self, store: ObjectStore) -> None:
        with pytest.raises(InvalidInput):
            store.list(limit=0)

    def test_a_walk_reads_all_pages(self, store: ObjectStore) -> None:
        names = [f"data/{number // 7:02d}/{number:03d}" for number in range(40)]
        for name in names:
            store.put(name, name.encode())
        walked = list(walk(store, "data/", limit=3))
        assert [listed.address for listed in walked] == names
        assert {listed.info.size for listed in walked} == {11}
        folders = [f"data/{number:02d}/" for number in range(6)]
        assert list(walk_prefixes(store, "data/", limit=2)) == folders

    def test_a_walk_goes_on_when_objects_come_and_go(self, store: ObjectStore) -> None:
        for number in range(6):
            store.put(f"data/1/{number}", b"1")
        seen: list[str] = []
        for listed in walk(store, limit=1):
            seen.append(listed.address)
            store.delete(listed.address)
            store.put(f"data/0/{len(seen)}", b"1")
        assert seen == [f"data/1/{number}" for number in range(6)]

    @pytest.mark.parametrize("page", [1, 2, 3])
    def test_a_page_that_fails_ends_the_walk_with_its_error(
        self, store: ObjectStore, page: int
    ) -> None:
        for number in range(3):
            store.put(f"data/1/{number}", b"1")
        faulty = Faulty(store, fail_nth_page(page), ENVIRONMENT)
        seen: list[str] = []
        with pytest.raises(Unavailable):
            seen.extend(listed.address for listed in walk(faulty, limit=1))
