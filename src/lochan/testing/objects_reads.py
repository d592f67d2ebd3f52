# SPDX-License-Identifier: Apache-2.0
"""Promises 4 to 6 of `lochan.objects.store`: one version, in pieces, and errors that say so."""

import pytest

from lochan.errors import InvalidInput, LochanError, NotFound, Unavailable
from lochan.objects.store import (
    Extent,
    From,
    Last,
    ObjectStore,
    Span,
    SupportsLocalPath,
    SupportsPresign,
)
from lochan.testing.objects_given import LARGE, Given, in_pieces, pattern
from lochan.testing.objects_http import request

BODY = pattern(100_000)
EXTENTS: list[tuple[Extent, slice]] = [
    (Span(0, 1), slice(0, 1)),
    (Span(10, 20), slice(10, 20)),
    (Span(99_990, 200_000), slice(99_990, None)),
    (Span(0, 100_000), slice(None)),
    (From(0), slice(None)),
    (From(99_999), slice(99_999, None)),
    (Last(1), slice(-1, None)),
    (Last(5000), slice(-5000, None)),
    (Last(200_000), slice(None)),
]


class GetConformance(Given):
    """Whole objects and parts of them."""

    @pytest.mark.parametrize(("extent", "expected"), EXTENTS, ids=repr)
    def test_a_part_is_read_alone(
        self, store: ObjectStore, extent: Extent, expected: slice
    ) -> None:
        store.put("data/1/a", BODY)
        with store.get("data/1/a", extent) as reading:
            assert reading.read() == BODY[expected]
        assert BODY[reading.start : reading.stop] == BODY[expected]
        assert reading.info.size == len(BODY)

    @pytest.mark.parametrize("extent", [Span(100_000, 100_001), From(100_000), From(2_000_000)])
    def test_a_part_behind_the_end_is_refused(self, store: ObjectStore, extent: Extent) -> None:
        store.put("data/1/a", BODY)
        with pytest.raises(InvalidInput) as caught:
            store.get("data/1/a", extent).read()
        assert caught.value.code == "range-not-satisfiable"

    @pytest.mark.parametrize("extent", [Span(0, 1), From(0), Last(1)])
    def test_an_empty_object_has_no_part(self, store: ObjectStore, extent: Extent) -> None:
        store.put("data/1/a", b"")
        with pytest.raises(InvalidInput) as caught:
            store.get("data/1/a", extent).read()
        assert caught.value.code == "range-not-satisfiable"

    def test_a_large_part_of_a_large_object_comes_in_pieces(self, store: ObjectStore) -> None:
        body = pattern(LARGE)
        store.put("data/1/a", body)
        with store.get("data/1/a", Span(1, LARGE - 1)) as reading:
            pieces = list(reading)
        assert b"".join(pieces) == body[1:-1]
        assert len(pieces) > 1

    def test_a_reading_can_be_given_up(self, store: ObjectStore) -> None:
        store.put("data/1/a", pattern(LARGE))
        with store.get("data/1/a") as unread:
            pass
        with store.get("data/1/a") as begun:
            next(iter(begun))
        unread.close()
        begun.close()

    def test_what_is_not_there_is_not_found(self, store: ObjectStore) -> None:
        store.put("data/1/a", b"1")
        for address in ("data/1/b", "data/1", "data/1/a/b", "data", "nowhere/at/all"):
            with pytest.raises(NotFound):
                store.get(address)
            with pytest.raises(NotFound):
                store.head(address)

    def test_a_read_gives_one_version_or_fails(self, store: ObjectStore) -> None:
        old, new = pattern(LARGE, seed=1), pattern(LARGE, seed=2)
        store.put("data/1/a", old)
        pieces: list[bytes] = []
        try:
            with store.get("data/1/a") as reading:
                for piece in reading:
                    if not pieces:
                        store.put("data/1/a", in_pieces(new))
                    pieces.append(piece)
        except Unavailable:
            return
        assert b"".join(pieces) == old

    def test_another_opener_sees_what_was_put(self, store: ObjectStore, other: ObjectStore) -> None:
        info = store.put("data/1/a", BODY)
        assert other.get("data/1/a").read() == BODY
        assert other.head("data/1/a").etag == info.etag

    def test_a_closed_store_answers_nothing(self, store: ObjectStore) -> None:
        store.put("data/1/a", b"1")
        store.close()
        store.close()
        for call in (store.get, store.head, store.delete, store.list, lambda a: store.put(a, b"")):
            with pytest.raises(LochanError) as caught:
                call("data/1/a")
            assert isinstance(caught.value, Unavailable)


class DoorConformance(Given):
    """Ways past the verbs, where a store has them."""

    def test_a_presigned_url_reads_and_one_that_was_changed_does_not(
        self, store: ObjectStore
    ) -> None:
        if not isinstance(store, SupportsPresign):
            pytest.skip("the driver signs no URLs")
        store.put("data/1/a.csv", b"some bytes")
        store.put("data/1/b.csv", b"other bytes")
        url = store.presign_get("data/1/a.csv", 60)
        assert request("GET", url) == (200, b"some bytes")
        assert request("GET", url.replace("a.csv", "b.csv"))[0] == 403

    def test_a_presigned_url_writes(self, store: ObjectStore) -> None:
        if not isinstance(store, SupportsPresign):
            pytest.skip("the driver signs no URLs")
        url = store.presign_put("data/1/a.csv", 60)
        assert request("PUT", url, b"some bytes")[0] in {200, 201}
        assert store.get("data/1/a.csv").read() == b"some bytes"
        assert request("GET", url)[0] == 403

    def test_a_local_path_holds_exactly_the_bytes(self, store: ObjectStore) -> None:
        if not isinstance(store, SupportsLocalPath):
            pytest.skip("the driver keeps no plain files")
        for address in ("data/1/0h3k,sig.csv.gz", "_lakefs/" + "3b" * 32, "a//..", "x" * 300):
            store.put(address, BODY)
            path = store.local_path(address)
            assert path.read_bytes() == BODY
            assert path.name.endswith(address[-7:]) or not address.startswith(("data", "_lake"))
