# SPDX-License-Identifier: Apache-2.0
import msgspec
import pytest

from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput, NotFound, PredicateFailed, Unavailable, UnknownOutcome
from lochan.faults import Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Faulty, fail_nth
from lochan.kv.open import open_store
from lochan.kv.set_many import set_many
from lochan.kv.table import Table

ENVIRONMENT = RealEnvironment()


class Tag(msgspec.Struct, frozen=True):
    commit_id: str
    moves: int = 0


@pytest.fixture
def tags() -> Table[Tag]:
    decoder = msgspec.json.Decoder(Tag)
    store = MemoryStore(ENVIRONMENT)
    return Table(store, b"repo-1", b"tags/", msgspec.json.encode, decoder.decode)


def test_a_table_keeps_typed_records_under_its_prefix(tags: Table[Tag]) -> None:
    tags.set(b"v1", Tag("c1"))
    assert tags.get(b"v1").record == Tag("c1")
    assert [key for key, _ in tags.store.scan(b"repo-1")] == [b"tags/v1"]
    assert tags.find(b"v2") is None
    with pytest.raises(NotFound):
        tags.get(b"v2")


def test_a_table_scans_its_own_records_only(tags: Table[Tag]) -> None:
    tags.store.set(b"repo-1", b"tags", b"not a tag")
    tags.store.set(b"repo-1", b"tagsx", b"not a tag")
    for name in (b"a", b"b", b"c"):
        tags.set(name, Tag(name.decode()))
    assert list(tags.scan()) == [(b"a", Tag("a")), (b"b", Tag("b")), (b"c", Tag("c"))]
    assert [name for name, _ in tags.scan(after=b"a")] == [b"b", b"c"]


def test_a_table_swaps_and_deletes_what_was_read(tags: Table[Tag]) -> None:
    tags.set_if(b"v1", Tag("c1"), None)
    stored = tags.get(b"v1")
    tags.set_if(b"v1", Tag("c2"), stored.predicate)
    with pytest.raises(PredicateFailed):
        tags.delete_if(b"v1", stored.predicate)
    tags.delete_if(b"v1", tags.get(b"v1").predicate)
    tags.delete(b"v1")
    assert tags.find(b"v1") is None


def test_a_table_updates_by_a_pure_function(tags: Table[Tag]) -> None:
    def move(tag: Tag | None) -> Tag:
        return Tag("c1") if tag is None else Tag(tag.commit_id, tag.moves + 1)

    assert tags.update(b"v1", move, ENVIRONMENT) == Tag("c1")
    assert tags.update(b"v1", move, ENVIRONMENT) == Tag("c1", 1)
    assert tags.update(b"v2", lambda _: None, ENVIRONMENT) is None


def test_an_update_of_unknown_outcome_asks_the_typed_record(tags: Table[Tag]) -> None:
    tags.set(b"v1", Tag("c1"))
    faulty = Faulty(tags.store, fail_nth(2, Fault.LOST_RESPONSE), ENVIRONMENT)
    seen: list[Tag | None] = []

    def landed(tag: Tag | None) -> bool:
        seen.append(tag)
        return True

    def move(_: Tag | None) -> Tag:
        tags.set(b"v1", Tag("other"))  # loses the race, so that the record is a third one
        return Tag("c2")

    table = Table(faulty, b"repo-1", b"tags/", tags.encode, tags.decode)
    table.update(b"v1", move, ENVIRONMENT, landed=landed)
    assert seen == [Tag("other")]


@pytest.mark.parametrize(
    ("number", "error", "stored"),
    [(1, Unavailable, []), (2, UnknownOutcome, [b"a"]), (3, UnknownOutcome, [b"a", b"b"])],
)
def test_a_set_many_that_fails_midway_says_that_some_may_be_stored(
    number: int, error: type[Exception], stored: list[bytes]
) -> None:
    inner = MemoryStore(ENVIRONMENT)
    faulty = Faulty(inner, fail_nth(number, Fault.ERROR), ENVIRONMENT)
    with pytest.raises(error) as caught:
        set_many(faulty, b"p", {b"a": b"1", b"b": b"2", b"c": b"3"})
    assert caught.type is error
    assert [key for key, _ in inner.scan(b"p")] == stored


@pytest.mark.parametrize(
    "url", ["", "kv.db", "://x", "nothing://x", "memory://name", "sqlite://", "sqlite:///a?b=c"]
)
def test_an_address_that_says_nothing_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput):
        open_store(url, ENVIRONMENT)


def test_two_memory_stores_share_nothing() -> None:
    first, second = (open_store("memory://", ENVIRONMENT) for _ in range(2))
    first.set(b"p", b"k", b"v")
    assert list(second.scan(b"p")) == []
