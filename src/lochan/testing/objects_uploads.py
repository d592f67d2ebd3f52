# SPDX-License-Identifier: Apache-2.0
"""Uploads in parts: nothing is seen before the end, and the end is whole or nothing."""

import pytest

from lochan.errors import InvalidInput, NotFound, PredicateFailed
from lochan.objects.store import IF_ABSENT, IfMatch, Part, SupportsMultipart, Uploads
from lochan.testing.objects_given import Given, failing, in_pieces, pattern, read
from lochan.testing.objects_stores import MultipartStore

ADDRESS = "data/1/a.parquet"


class UploadConformance(Given):
    """`Uploads` of a store that has them."""

    @pytest.fixture
    def uploads(self, store: MultipartStore) -> Uploads:
        """The uploads of the store."""
        if not isinstance(store, SupportsMultipart):
            pytest.skip("the driver takes no uploads in parts")
        return store.uploads

    def bodies(self) -> list[bytes]:
        """Three parts, the last one small."""
        return [pattern(self.part_bytes, 1), pattern(self.part_bytes + 1, 2), b"last"]

    def put_parts(self, uploads: Uploads, upload: str) -> list[Part]:
        """Put the three parts."""
        numbered = enumerate(self.bodies(), 1)
        return [uploads.put_part(ADDRESS, upload, n, in_pieces(b)) for n, b in numbered]

    def test_parts_become_one_object_at_the_end(
        self, store: MultipartStore, uploads: Uploads
    ) -> None:
        upload = uploads.create(ADDRESS)
        parts = self.put_parts(uploads, upload)
        assert read(store, ADDRESS) is None
        info = uploads.complete(ADDRESS, upload, parts)
        assert store.get(ADDRESS).read() == b"".join(self.bodies())
        assert store.head(ADDRESS).etag == info.etag
        assert info.size == sum(map(len, self.bodies()))

    def test_parts_come_in_any_order_and_the_last_put_of_each_counts(
        self, store: MultipartStore, uploads: Uploads
    ) -> None:
        upload = uploads.create(ADDRESS)
        tail = uploads.put_part(ADDRESS, upload, 7, b"tail")
        uploads.put_part(ADDRESS, upload, 2, pattern(self.part_bytes, 1))
        again = uploads.put_part(ADDRESS, upload, 2, pattern(self.part_bytes, 2))
        # Some servers go on listing the part that was replaced; none may lose the one that counts.
        assert {again, tail} <= set(uploads.parts(ADDRESS, upload))
        uploads.complete(ADDRESS, upload, [again, tail])
        assert store.get(ADDRESS).read() == pattern(self.part_bytes, 2) + b"tail"

    def test_parts_that_are_not_stored_so_are_refused(
        self, store: MultipartStore, uploads: Uploads
    ) -> None:
        upload = uploads.create(ADDRESS)
        first, *rest = self.put_parts(uploads, upload)
        wrong = Part(1, "0" * 32, first.size)
        for parts in ([], [wrong, *rest], [*rest, first], [first, first], [Part(9, "x", 1)]):
            with pytest.raises(InvalidInput):
                uploads.complete(ADDRESS, upload, parts)
        assert read(store, ADDRESS) is None
        uploads.complete(ADDRESS, upload, [first])
        assert store.get(ADDRESS).read() == self.bodies()[0]

    @pytest.mark.parametrize("number", [0, -1, 10_001])
    def test_a_part_number_out_of_range_is_refused(self, uploads: Uploads, number: int) -> None:
        upload = uploads.create(ADDRESS)
        with pytest.raises(InvalidInput):
            uploads.put_part(ADDRESS, upload, number, b"part")
        uploads.abort(ADDRESS, upload)

    def test_a_part_that_does_not_arrive_whole_is_no_part(self, uploads: Uploads) -> None:
        upload = uploads.create(ADDRESS)
        with pytest.raises(InvalidInput):
            uploads.put_part(ADDRESS, upload, 1, [b"part"], size=5)
        with pytest.raises(ConnectionResetError):
            uploads.put_part(ADDRESS, upload, 1, failing([b"part"], ConnectionResetError()))
        assert uploads.parts(ADDRESS, upload) == ()
        uploads.abort(ADDRESS, upload)

    def test_an_ended_or_unknown_upload_is_not_found(
        self, store: MultipartStore, uploads: Uploads
    ) -> None:
        aborted, ended = uploads.create(ADDRESS), uploads.create(ADDRESS)
        uploads.put_part(ADDRESS, aborted, 1, b"part")
        uploads.abort(ADDRESS, aborted)
        uploads.abort(ADDRESS, aborted)
        part = uploads.put_part(ADDRESS, ended, 1, b"part")
        uploads.complete(ADDRESS, ended, [part])
        for upload in (aborted, ended, "0" * 32, "../../etc", ""):
            with pytest.raises(NotFound):
                uploads.put_part(ADDRESS, upload, 1, b"part")
            with pytest.raises(NotFound):
                uploads.parts(ADDRESS, upload)
            if upload != ended:  # some servers remember it, and answer once more what came of it
                with pytest.raises(NotFound):
                    uploads.complete(ADDRESS, upload, [part])
        assert store.get(ADDRESS).read() == b"part"

    def test_an_upload_is_for_one_address(self, store: MultipartStore, uploads: Uploads) -> None:
        upload = uploads.create(ADDRESS)
        part = uploads.put_part(ADDRESS, upload, 1, b"part")
        with pytest.raises(NotFound):
            uploads.complete("data/1/b", upload, [part])
        assert read(store, "data/1/b") is None
        uploads.abort(ADDRESS, upload)

    def test_the_end_of_an_upload_may_be_conditional(
        self, store: MultipartStore, uploads: Uploads
    ) -> None:
        former = store.put(ADDRESS, b"former")
        upload = uploads.create(ADDRESS)
        part = uploads.put_part(ADDRESS, upload, 1, b"part")
        for when in (IF_ABSENT, IfMatch("0" * 32)):
            with pytest.raises(PredicateFailed):
                uploads.complete(ADDRESS, upload, [part], when=when)
        assert store.get(ADDRESS).read() == b"former"
        uploads.complete(ADDRESS, upload, [part], when=IfMatch(former.etag))
        assert store.get(ADDRESS).read() == b"part"
