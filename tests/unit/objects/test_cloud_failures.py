# SPDX-License-Identifier: Apache-2.0
"""What the cloud driver says when a server misbehaves: real sockets that answer wrongly or not."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from urllib.parse import urlencode

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import (
    InvalidInput,
    LochanError,
    NotFound,
    PermissionDenied,
    PredicateFailed,
    Unauthenticated,
    Unavailable,
    UnknownOutcome,
)
from lochan.objects.open import open_objects
from lochan.objects.store import ALWAYS, IF_ABSENT, IfMatch, ObjectStore, Part, SupportsMultipart

ENVIRONMENT = RealEnvironment()


def answer(status: int, body: bytes = b"", headers: str = "") -> bytes:
    head = f"HTTP/1.1 {status} Answer\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
    return head.encode() + body


def coded(status: int, code: str) -> bytes:
    return answer(status, f"<Error><Code>{code}</Code></Error>".encode())


FOUND = 'ETag: "e"\r\nLast-Modified: Mon, 16 Nov 2026 08:00:00 GMT\r\n'


@contextmanager
def serving(reply: bytes | None, *more: bytes | None, hang: bool = False) -> Iterator[str]:
    """Answer connections with these bytes in turn, the last for ever; None cuts without a word."""
    replies = [reply, *more]
    listener = socket.create_server(("127.0.0.1", 0))
    held: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            held.append(connection)
            connection.recv(65536)
            if (next_one := replies.pop(0) if len(replies) > 1 else replies[0]) is not None:
                connection.sendall(next_one)
            if not hang:
                connection.shutdown(socket.SHUT_RDWR)

    thread = Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
        for connection in held:
            connection.close()


def connected(endpoint: str, scheme: str = "s3", **options: object) -> ObjectStore:
    keys = {"access_key_id": "k", "secret_access_key": "s3cr3t"}
    if scheme == "az":
        keys = {"account_name": "a", "account_key": "czNjcjN0"}
    told = {"endpoint": endpoint, "timeout_s": 0.5, "retries": 0, **keys, **options}
    return open_objects(f"{scheme}://bucket/p?{urlencode(told)}", ENVIRONMENT)


def create(store: ObjectStore) -> object:
    return store.put("data/1/a", b"body", when=IF_ABSENT)


def replace(store: ObjectStore) -> object:
    return store.put("data/1/a", b"body", when=IfMatch("e"))


def head(store: ObjectStore) -> object:
    return store.head("data/1/a")


def get(store: ObjectStore) -> object:
    return store.get("data/1/a").read()


def listing(store: ObjectStore) -> object:
    return store.list("data/")


def complete(store: ObjectStore) -> object:
    assert isinstance(store, SupportsMultipart)
    return store.uploads.complete("data/1/a", "id", [Part(1, "e", 1)], when=IF_ABSENT)


CASES: list[tuple[Callable[[ObjectStore], object], bytes | None, type[LochanError]]] = [
    *((create, coded(status, "X"), PredicateFailed) for status in (412,)),
    *((create, coded(status, "X"), Unavailable) for status in (409, 429, 503)),
    *((create, coded(status, "X"), UnknownOutcome) for status in (500, 502, 504)),
    (create, None, UnknownOutcome),
    (create, coded(400, "X"), InvalidInput),
    (create, coded(401, "X"), Unauthenticated),
    (create, coded(403, "X"), PermissionDenied),
    (create, coded(404, "NoSuchBucket"), NotFound),
    (replace, coded(412, "X"), PredicateFailed),
    (replace, None, UnknownOutcome),
    (head, answer(404), NotFound),
    *((head, answer(status), Unavailable) for status in (500, 503)),
    (head, answer(403), PermissionDenied),
    (head, None, Unavailable),
    (get, coded(404, "NoSuchKey"), NotFound),
    (get, None, Unavailable),
    (get, answer(200, b"1234567890", FOUND)[:-3], Unavailable),
    (listing, coded(404, "NoSuchBucket"), NotFound),
    (listing, coded(503, "SlowDown"), Unavailable),
    (listing, coded(403, "AccessDenied"), PermissionDenied),
    (listing, None, Unavailable),
    (complete, coded(412, "PreconditionFailed"), PredicateFailed),
    (complete, coded(409, "ConditionalRequestConflict"), Unavailable),
    (complete, coded(404, "NoSuchUpload"), NotFound),
    (complete, coded(400, "InvalidPart"), InvalidInput),
    (complete, coded(200, "InternalError"), UnknownOutcome),
    (complete, coded(500, "InternalError"), UnknownOutcome),
    (complete, None, UnknownOutcome),
]


@pytest.mark.parametrize(("call", "reply", "raised"), CASES)
def test_an_answer_becomes_the_error_that_says_what_is_known(
    call: Callable[[ObjectStore], object], reply: bytes | None, raised: type[LochanError]
) -> None:
    with serving(reply) as endpoint, pytest.raises(LochanError) as caught:
        call(connected(endpoint))

    assert type(caught.value) is raised
    assert "s3cr3t" not in str(caught.value)


@pytest.mark.parametrize("call", [create, head, listing, complete])
def test_a_store_that_cannot_be_reached_is_unavailable(
    call: Callable[[ObjectStore], object],
) -> None:
    with serving(None) as endpoint:
        pass
    with pytest.raises(Unavailable) as caught:
        call(connected(endpoint))

    assert type(caught.value) is Unavailable


@pytest.mark.parametrize(("call", "raised"), [(create, UnknownOutcome), (get, Unavailable)])
def test_a_silent_store_is_given_up_in_bounded_time(
    call: Callable[[ObjectStore], object], raised: type[LochanError]
) -> None:
    begun = ENVIRONMENT.monotonic()
    with serving(None, hang=True) as endpoint, pytest.raises(raised) as caught:
        call(connected(endpoint))

    assert type(caught.value) is raised
    assert ENVIRONMENT.monotonic() - begun < 5


@pytest.mark.parametrize("call", [create, replace, complete])
def test_a_write_whose_answer_was_lost_is_not_repeated_to_meet_its_own_effect(
    call: Callable[[ObjectStore], object],
) -> None:
    applied = coded(
        412, "PreconditionFailed"
    )  # what a repeat would hear after the first was applied
    with serving(None, applied) as endpoint, pytest.raises(UnknownOutcome):
        call(connected(endpoint, retries=3))


def test_a_read_is_repeated_until_it_is_answered() -> None:
    found = answer(200, b"body", FOUND)
    with serving(None, coded(503, "SlowDown"), found) as endpoint:
        assert get(connected(endpoint, retries=3, timeout_s=10)) == b"body"


def test_azure_says_conflict_where_others_say_precondition() -> None:
    with serving(coded(409, "BlobAlreadyExists")) as endpoint, pytest.raises(PredicateFailed):
        create(connected(endpoint, "az"))


def test_a_write_that_was_repeated_is_never_certainly_not_applied() -> None:
    with serving(coded(503, "SlowDown")) as endpoint, pytest.raises(UnknownOutcome):
        connected(endpoint, retries=1).put("data/1/a", b"body", when=ALWAYS)


@pytest.mark.parametrize("address", ["a//b", "/a", "a/", "x/./y", "..", "a\tb", "a\\b", "a\uffff"])
def test_an_address_that_cannot_be_sent_is_refused_before_anything_is(address: str) -> None:
    store = connected("http://127.0.0.1:1")  # nobody listens there: asking would be Unavailable
    assert isinstance(store, SupportsMultipart)
    calls: list[Callable[[], object]] = [
        lambda: store.put(address, b""),
        lambda: store.get(address),
        lambda: store.head(address),
        lambda: store.delete("data/1/a", address),
        lambda: store.copy("data/1/a", address),
        lambda: store.uploads.create(address),
    ]
    for call in calls:
        with pytest.raises(InvalidInput):
            call()
