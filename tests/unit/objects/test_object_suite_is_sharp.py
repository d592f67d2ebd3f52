# SPDX-License-Identifier: Apache-2.0
"""Stores that break one promise each: the conformance suite must notice every one of them."""

from collections.abc import Iterator, Mapping

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from lochan.environment import RealEnvironment
from lochan.errors import LochanError, NotFound, PredicateFailed
from lochan.objects.body import chunks
from lochan.objects.drivers.memory import MemoryObjects
from lochan.objects.store import (
    ALWAYS,
    PAGE,
    WHOLE,
    Body,
    Chunk,
    Extent,
    IfAbsent,
    IfMatch,
    Listed,
    ObjectInfo,
    Page,
    Precondition,
    Reading,
    Span,
)
from lochan.testing.objects import ObjectStoreConformance
from lochan.testing.objects_machine import ObjectMachine

ENVIRONMENT = RealEnvironment()


class IgnoresTheDeclaredSize(MemoryObjects):
    def put(
        self, address: str, body: Body, *, size: int | None = None, when: Precondition = ALWAYS
    ) -> ObjectInfo:
        del size
        return super().put(address, body, when=when)


class StoresWhatCame(MemoryObjects):
    def put(
        self, address: str, body: Body, *, size: int | None = None, when: Precondition = ALWAYS
    ) -> ObjectInfo:
        def stopping() -> Iterator[Chunk]:
            try:
                yield from chunks(body, None, address)
            except ConnectionResetError as error:
                seen.append(error)

        seen: list[ConnectionResetError] = []
        info = super().put(address, stopping(), size=size, when=when)
        if seen:
            raise seen[0]
        return info


class IgnoresPreconditions(MemoryObjects):
    def put(
        self, address: str, body: Body, *, size: int | None = None, when: Precondition = ALWAYS
    ) -> ObjectInfo:
        del when
        return super().put(address, body, size=size)


class LooksThenPuts(MemoryObjects):
    def put(
        self, address: str, body: Body, *, size: int | None = None, when: Precondition = ALWAYS
    ) -> ObjectInfo:
        try:
            etag = self.head(address).etag
        except NotFound:
            etag = ""
        taken = isinstance(when, IfAbsent) and etag
        if taken or (isinstance(when, IfMatch) and when.etag != etag):
            raise PredicateFailed("the object is another one")
        ENVIRONMENT.sleep(0.02)
        return super().put(address, body, size=size)


class TakesTheEndForIncluded(MemoryObjects):
    def get(self, address: str, extent: Extent = WHOLE) -> Reading:
        if isinstance(extent, Span):
            extent = Span(extent.start, extent.stop + 1)
        return super().get(address, extent)


class FindsEmptinessEverywhere(MemoryObjects):
    def get(self, address: str, extent: Extent = WHOLE) -> Reading:
        try:
            return super().get(address, extent)
        except NotFound:
            return Reading(ObjectInfo(0, "", 0.0), (0, 0), iter(()), lambda: None)


class ListsFromTheStart(MemoryObjects):
    def list(
        self, prefix: str = "", *, delimiter: str = "", start_after: str = "", limit: int = PAGE
    ) -> Page:
        page = super().list(prefix, delimiter=delimiter, start_after=start_after, limit=limit)
        start = () if not start_after.startswith(prefix) else self._entry(start_after)
        return Page((*start, *page.entries), page.prefixes, page.next_after)

    def _entry(self, address: str) -> tuple[Listed, ...]:
        try:
            return (Listed(address, self.head(address)),)
        except NotFound:
            return ()


class ForgetsThatMoreFollows(MemoryObjects):
    def list(
        self, prefix: str = "", *, delimiter: str = "", start_after: str = "", limit: int = PAGE
    ) -> Page:
        page = super().list(prefix, delimiter=delimiter, start_after=start_after, limit=limit)
        return Page(page.entries, page.prefixes, "")


class ListsWholeSegments(MemoryObjects):
    def list(
        self, prefix: str = "", *, delimiter: str = "", start_after: str = "", limit: int = PAGE
    ) -> Page:
        whole = prefix if not prefix or prefix.endswith("/") else f"{prefix}/"
        return super().list(whole, delimiter=delimiter, start_after=start_after, limit=limit)


class TakesAbsenceAmiss(MemoryObjects):
    def delete(self, *addresses: str) -> None:
        for address in addresses:
            self.head(address)
        super().delete(*addresses)


class DeletesByPrefix(MemoryObjects):
    def delete(self, *addresses: str) -> None:
        for address in addresses:
            super().delete(*(e.address for e in self.list(address[:-1]).entries))


class FoldsCase(MemoryObjects):
    def put(
        self, address: str, body: Body, *, size: int | None = None, when: Precondition = ALWAYS
    ) -> ObjectInfo:
        return super().put(address.lower(), body, size=size, when=when)


class Suite(ObjectStoreConformance):
    """The suite, whose tests are called by name."""


SMALL = {"size": 1000}
OTHER_SIZE = "a_body_of_another_size_than_declared_is_refused"
ONE_BYTE = {"extent": Span(0, 1), "expected": slice(0, 1)}
CASES: list[tuple[type[MemoryObjects], str, Mapping[str, object]]] = [
    (IgnoresTheDeclaredSize, OTHER_SIZE, {**SMALL, "declared": 1}),
    (IgnoresTheDeclaredSize, OTHER_SIZE, {**SMALL, "declared": -1}),
    (StoresWhatCame, "a_failing_body_leaves_nothing_and_its_error_passes", SMALL),
    (StoresWhatCame, "a_failing_body_leaves_the_former_object", {}),
    (IgnoresPreconditions, "a_put_if_absent_refuses_to_replace", SMALL),
    (IgnoresPreconditions, "a_put_if_match_replaces_that_version_only", {}),
    (IgnoresPreconditions, "a_put_if_match_of_nothing_is_refused", {}),
    (LooksThenPuts, "of_many_creators_one_wins_and_the_others_know", {}),
    (LooksThenPuts, "no_increment_of_several_threads_is_lost", {}),
    (TakesTheEndForIncluded, "a_part_is_read_alone", ONE_BYTE),
    (FindsEmptinessEverywhere, "what_is_not_there_is_not_found", {}),
    (ListsFromTheStart, "every_way_of_asking_shows_what_the_model_shows", {}),
    (ForgetsThatMoreFollows, "a_walk_reads_all_pages", {}),
    (ForgetsThatMoreFollows, "every_way_of_asking_shows_what_the_model_shows", {}),
    (ListsWholeSegments, "every_way_of_asking_shows_what_the_model_shows", {}),
    (TakesAbsenceAmiss, "deleting_is_idempotent_and_takes_many", {}),
    (DeletesByPrefix, "a_deleted_object_is_gone", {}),
    (FoldsCase, "awkward_addresses_are_kept_apart_or_refused", {}),
]


@pytest.mark.parametrize(("broken", "noticed_by", "arguments"), CASES)
def test_a_broken_promise_is_noticed(
    broken: type[MemoryObjects], noticed_by: str, arguments: Mapping[str, object]
) -> None:
    test = getattr(Suite(), f"test_{noticed_by}")
    test(MemoryObjects(ENVIRONMENT), **arguments)

    with pytest.raises((AssertionError, LochanError, pytest.fail.Exception)):
        test(broken(ENVIRONMENT), **arguments)


@pytest.mark.parametrize(
    ("broken", "noticed_by"),
    [
        (IgnoresTheDeclaredSize, "a_part_that_does_not_arrive_whole_is_no_part"),
        (IgnoresPreconditions, "the_end_of_an_upload_may_be_conditional"),
    ],
)
def test_a_promise_broken_for_uploads_is_noticed(
    broken: type[MemoryObjects], noticed_by: str
) -> None:
    test, store = getattr(Suite(), f"test_{noticed_by}"), broken(ENVIRONMENT)
    with pytest.raises((AssertionError, LochanError, pytest.fail.Exception)):
        test(store=store, uploads=store.uploads) if "end" in noticed_by else test(store.uploads)


@pytest.mark.parametrize(
    "broken",
    [
        *(IgnoresPreconditions, FindsEmptinessEverywhere, ForgetsThatMoreFollows, FoldsCase),
        *(DeletesByPrefix, ListsFromTheStart, ListsWholeSegments),
    ],
)
def test_the_state_machine_notices_a_broken_promise(broken: type[MemoryObjects]) -> None:
    # The same examples each time, and no search for a smaller one.
    quickly = settings(
        max_examples=300,
        stateful_step_count=30,
        phases=[Phase.generate],
        derandomize=True,
        database=None,
        deadline=None,
        print_blob=False,
    )
    with pytest.raises((AssertionError, LochanError, KeyError)):
        run_state_machine_as_test(
            lambda: ObjectMachine(broken(ENVIRONMENT)),  # type: ignore[arg-type]  # whatever makes a machine will do
            settings=quickly,
        )
