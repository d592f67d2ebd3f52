# SPDX-License-Identifier: Apache-2.0
"""Promises 1 to 3 of `lochan.objects.store`: whole or nothing, seen at once, one winner."""

from collections.abc import Callable

import pytest

from lochan.errors import InvalidInput, NotFound, PredicateFailed
from lochan.objects.body import Measured
from lochan.objects.store import IF_ABSENT, Body, IfMatch, ObjectStore
from lochan.testing.objects_given import (
    LARGE,
    Given,
    addresses,
    failing,
    in_pieces,
    in_threads,
    increment,
    pattern,
    read,
)

WAYS: list[Callable[[bytes], Body]] = [bytes, bytearray, memoryview, in_pieces]
# Bodies that a store cuts differently: in memory, in one request, in several.
SIZES = [1000, LARGE]


class PutConformance(Given):
    """What goes in comes out, and nothing else does."""

    @pytest.mark.parametrize("way", WAYS, ids=["bytes", "bytearray", "memoryview", "pieces"])
    def test_what_was_put_is_read_back(
        self, store: ObjectStore, way: Callable[[bytes], Body]
    ) -> None:
        body = pattern(200_001)
        info = store.put("data/1/a.bin", way(body), size=len(body))
        assert store.get("data/1/a.bin").read() == body
        assert info.size == len(body)

    def test_a_large_body_is_read_back(self, store: ObjectStore) -> None:
        body = pattern(LARGE)
        store.put("data/1/a", in_pieces(body, 300_000))
        with store.get("data/1/a") as reading:
            assert b"".join(reading) == body

    def test_an_empty_body_is_an_object(self, store: ObjectStore) -> None:
        store.put("data/1/a", b"")
        store.put("data/1/b", iter([b"", b""]), size=0)
        assert store.get("data/1/a").read() == store.get("data/1/b").read() == b""
        assert store.head("data/1/a").size == 0

    def test_put_head_get_and_list_say_the_same(self, store: ObjectStore) -> None:
        put = store.put("data/1/a", b"some bytes")
        got, head = store.get("data/1/a"), store.head("data/1/a")
        got.close()
        listed = store.list("data/").entries[0].info
        assert {(i.size, i.etag) for i in (put, got.info, head, listed)} == {(10, put.etag)}
        assert abs(put.modified - listed.modified) < 60

    def test_a_measured_body_knows_its_size_and_md5(self, store: ObjectStore) -> None:
        body = Measured(in_pieces(b"hello world", 3))
        store.put("data/1/a", body)
        assert (body.size, body.md5) == (11, "5eb63bbbe01eeed093cb22bb8f5acdc3")

    def test_a_second_put_replaces_the_first(self, store: ObjectStore) -> None:
        first = store.put("data/1/a", b"a longer body")
        second = store.put("data/1/a", b"short")
        assert store.get("data/1/a").read() == b"short"
        assert first.etag != second.etag == store.head("data/1/a").etag

    @pytest.mark.parametrize("address", ["", "a" * 1025, "\u00e9" * 513, "a\ud800b"])
    def test_an_impossible_address_is_refused(self, store: ObjectStore, address: str) -> None:
        calls: list[Callable[[], object]] = [
            lambda: store.put(address, b""),
            lambda: store.get(address),
            lambda: store.head(address),
            lambda: store.delete(address),
            lambda: store.copy("data/1/a", address),
        ]
        store.put("data/1/a", b"")
        for call in calls:
            with pytest.raises(InvalidInput):
                call()

    def test_awkward_addresses_are_kept_apart_or_refused(self, store: ObjectStore) -> None:
        kept = set()
        for address in AWKWARD:
            try:
                store.put(address, address.encode())
            except InvalidInput:
                assert not self.keeps_any_address
                continue
            kept.add(address)
        assert {address: read(store, address) for address in kept} == {
            address: address.encode() for address in kept
        }
        listed = addresses(store)
        assert (listed if self.keeps_any_address else sorted(listed)) == sorted(kept)


class IncompleteConformance(Given):
    """A body that does not arrive whole leaves the address as it was."""

    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.parametrize("declared", [-1, 1])
    def test_a_body_of_another_size_than_declared_is_refused(
        self, store: ObjectStore, size: int, declared: int
    ) -> None:
        with pytest.raises(InvalidInput) as caught:
            store.put("data/1/a", in_pieces(pattern(size)), size=size + declared)
        assert caught.value.code == "incomplete-body"
        assert addresses(store) == []

    @pytest.mark.parametrize("size", SIZES)
    def test_a_failing_body_leaves_nothing_and_its_error_passes(
        self, store: ObjectStore, size: int
    ) -> None:
        error = ConnectionResetError("the client is gone")
        with pytest.raises(ConnectionResetError) as caught:
            store.put("data/1/a", failing(in_pieces(pattern(size)), error))
        assert caught.value is error
        assert addresses(store) == []

    def test_a_failing_body_leaves_the_former_object(self, store: ObjectStore) -> None:
        before = store.put("data/1/a", b"former")
        with pytest.raises(ConnectionResetError):
            store.put("data/1/a", failing([b"new"], ConnectionResetError()))
        with pytest.raises(InvalidInput):
            store.put("data/1/a", [b"new"], size=4)
        assert store.get("data/1/a").read() == b"former"
        assert store.head("data/1/a").etag == before.etag

    def test_a_declared_size_of_terabytes_reserves_nothing(self, store: ObjectStore) -> None:
        with pytest.raises(InvalidInput):
            store.put("data/1/a", [b"a few bytes"], size=5 << 40)
        assert addresses(store) == []


class ConditionalConformance(Given):
    """Preconditions hold, and of those who compete one wins."""

    @pytest.mark.parametrize("size", SIZES)
    def test_a_put_if_absent_refuses_to_replace(self, store: ObjectStore, size: int) -> None:
        store.put("data/1/a", b"first", when=IF_ABSENT)
        with pytest.raises(PredicateFailed):
            store.put("data/1/a", in_pieces(pattern(size)), when=IF_ABSENT)
        assert store.get("data/1/a").read() == b"first"
        store.delete("data/1/a")
        store.put("data/1/a", in_pieces(pattern(size)), when=IF_ABSENT)
        assert store.get("data/1/a").read() == pattern(size)

    def test_a_put_if_match_replaces_that_version_only(self, store: ObjectStore) -> None:
        first = store.put("data/1/a", b"first")
        second = store.put("data/1/a", b"second", when=IfMatch(first.etag))
        with pytest.raises(PredicateFailed):
            store.put("data/1/a", b"third", when=IfMatch(first.etag))
        assert store.get("data/1/a").read() == b"second"
        assert store.head("data/1/a").etag == second.etag

    def test_a_put_if_match_of_nothing_is_refused(self, store: ObjectStore) -> None:
        gone = store.put("data/1/a", b"first")
        store.delete("data/1/a")
        for address in ("data/1/a", "data/2/never"):
            with pytest.raises(PredicateFailed):
                store.put(address, b"second", when=IfMatch(gone.etag))
        assert addresses(store) == []

    def test_of_many_creators_one_wins_and_the_others_know(self, store: ObjectStore) -> None:
        for round_number in range(3):
            address = f"data/1/{round_number}"

            def create(number: int, address: str = address) -> bool:
                try:
                    store.put(address, [b"%d" % number], when=IF_ABSENT)
                except PredicateFailed:
                    return False
                return True

            won = in_threads(self.competitors, create)
            assert won.count(True) == 1
            assert store.get(address).read() == b"%d" % won.index(True)

    def test_no_increment_of_several_threads_is_lost(self, store: ObjectStore) -> None:
        store.put("data/1/counter", b"0")
        in_threads(4, lambda _: increment(store, "data/1/counter", 10))
        assert store.get("data/1/counter").read() == b"40"


class RemovalConformance(Given):
    """Deletes and copies."""

    def test_a_deleted_object_is_gone(self, store: ObjectStore) -> None:
        for name in "abc":
            store.put(f"data/1/{name}", b"1")
        store.delete("data/1/b")
        assert read(store, "data/1/b") is None
        assert addresses(store) == ["data/1/a", "data/1/c"]

    def test_deleting_is_idempotent_and_takes_many(self, store: ObjectStore) -> None:
        store.put("data/1/a", b"1")
        store.put("data/2/b", b"2")
        store.delete("data/1/a", "data/1/never", "data/2/b", "elsewhere/never")
        store.delete("data/1/a")
        store.delete()
        page = store.list(delimiter="/")
        assert page.entries == ()
        assert not self.forgets_prefixes or page.prefixes == ()

    def test_an_address_may_be_put_again_after_it_was_deleted(self, store: ObjectStore) -> None:
        for body in (b"first", b"second"):
            store.put("data/1/a", body, when=IF_ABSENT)
            assert store.get("data/1/a").read() == body
            store.delete("data/1/a")

    def test_a_copy_has_the_same_bytes_and_a_life_of_its_own(self, store: ObjectStore) -> None:
        body = pattern(3 << 20)
        store.put("data/1/a", body)
        store.put("data/2/b", b"former")
        info = store.copy("data/1/a", "data/2/b")
        store.put("data/1/a", b"changed")
        assert store.get("data/2/b").read() == body
        assert info.size == len(body)
        assert store.head("data/2/b").etag == info.etag

    def test_a_copy_of_nothing_is_not_found_and_makes_nothing(self, store: ObjectStore) -> None:
        with pytest.raises(NotFound):
            store.copy("data/1/never", "data/2/b")
        assert addresses(store) == []


AWKWARD = [
    *("a", "a/", "a/b", "a//b", "/a", "//", "a/b/", "A", "Aa", "aA", "a b", "a%2fb", "~2e", "~n"),
    *(".", "..", "../a", "a/../../b", "./a", "a/.", ".lochan/incoming/x", "~keys/a", "data/"),
    *("data", "a\\b", "a:b", "C:\\a", "a\tb", "a\nb", "a\0b", "\x7f", "a?b#c", "a*", "\u00e9"),
    *("e\u0301", "\U0001f600", "\uffff", "x" * 255, "x" * 256, "y" * 300 + "/z", "x" * 1024),
    *("\u00e9" * 512, "/".join("z" * 200 for _ in range(5)), "q/" * 500, "CON", "a.", "a ", "-rf"),
]
