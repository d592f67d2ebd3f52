# SPDX-License-Identifier: Apache-2.0
"""What is sent, what is sent again, and what is never sent again."""

from collections.abc import Iterator
from typing import Any

import httpx
import msgspec
import pytest

from lochan.client.content import content_of
from lochan.client.repeat import Repeats, retry_after_s
from lochan.client.transport import Transport, url_of
from lochan.errors import InvalidInput, Throttled, Unavailable, UnknownOutcome
from lochan.shapes.commits import LogCommitsQuery
from lochan.shapes.refs import Ref
from support.tiny_server import Answer, JumpingEnvironment, said, transport

BUSY = {"message": "busy", "code": "unavailable"}
REF = {"id": "main", "commit_id": "c"}


class Scripted:
    """Gives one answer after another, and remembers the requests."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, bytes]] = []

    def __call__(self, environ: dict[str, Any]) -> Answer:
        self.asked.append((environ["REQUEST_METHOD"], environ["wsgi.input"].read()))
        return self.answers.pop(0)


def test_a_busy_server_is_asked_again_after_the_time_it_asks_for() -> None:
    environment = JumpingEnvironment()
    server = Scripted(said(BUSY, 503, retry_after="2"), said(BUSY, 429), said(REF))

    found = transport(server, environment).call("GET", ("x",), Ref)

    assert found.commit_id == "c"
    assert 2.0 <= environment.slept[0] <= 2.1
    assert 0.0 <= environment.slept[1] <= 0.2


def test_an_upload_that_can_be_read_again_is_sent_again_whole() -> None:
    server = Scripted(said(BUSY, 503), said(REF))

    transport(server).upload("POST", ("x",), content_of(b"abc"))

    assert server.asked == [("POST", b"abc"), ("POST", b"abc")]


def test_bytes_that_are_no_text_are_refused_before_anything_is_sent() -> None:
    server = Scripted()
    for body in (Ref(id="\udcff", commit_id="c"), [Ref(id="main", commit_id="caf\udce9")]):
        with pytest.raises(InvalidInput, match="is not UTF-8: write it in UTF-8"):
            transport(server).send("POST", ("x",), body=body)
    with pytest.raises(InvalidInput, match="is not UTF-8: write it in UTF-8"):
        transport(server).send("GET", ("\udcff",))
    assert server.asked == []


@pytest.mark.parametrize("headers", [{"if-none-match": "*"}, {"if-match": '"x"'}])
def test_a_conditional_upload_is_not_repeated_blindly(headers: dict[str, str]) -> None:
    server = Scripted(said(BUSY, 503), said(REF))

    with pytest.raises(Unavailable):
        transport(server).upload("POST", ("x",), content_of(b"abc"), headers=headers)


def test_chunks_that_are_gone_are_not_sent_again() -> None:
    server = Scripted(said(BUSY, 503), said(REF))

    with pytest.raises(Unavailable):
        transport(server).upload("POST", ("x",), content_of(iter([b"a", b"b"])))
    assert server.asked == [("POST", b"ab")]


def test_a_post_is_not_repeated() -> None:
    server = Scripted(said(BUSY, 503), said(REF))

    with pytest.raises(Unavailable):
        transport(server).call("POST", ("x",), Ref)


def test_repeats_end_with_the_last_answer() -> None:
    server = Scripted(*[said({"message": "slow down", "code": "throttled"}, 429)] * 3)

    with pytest.raises(Throttled, match="slow down"):
        transport(server, retries=2).call("GET", ("x",), Ref)
    assert len(server.asked) == 3


def test_a_server_that_asks_for_more_patience_than_there_is_gets_none() -> None:
    environment = JumpingEnvironment()
    server = Scripted(said(BUSY, 503, retry_after="3600"))

    with pytest.raises(Unavailable):
        transport(server, environment).call("GET", ("x",), Ref)
    assert environment.slept == []


class Breaking(httpx.BaseTransport):
    """A network that fails so many times."""

    def __init__(self, error: httpx.TransportError, times: int) -> None:
        self.error, self.times, self.asked = error, times, 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        del request
        self.asked += 1
        if self.asked <= self.times:
            raise self.error
        return httpx.Response(200, content=msgspec.json.encode(REF))


def over(network: Breaking) -> Transport:
    http = httpx.Client(base_url="http://tiny:1", transport=network)
    return Transport(http, JumpingEnvironment(), retries=3, budget_s=30)


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_whatever_was_never_sent_is_sent_again(method: str) -> None:
    assert over(Breaking(httpx.ConnectError("refused"), 2)).call(method, ("x",), Ref)


def test_a_read_is_repeated_when_the_connection_breaks() -> None:
    assert over(Breaking(httpx.ReadError("reset"), 2)).call("GET", ("x",), Ref)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_a_write_whose_answer_was_lost_is_of_unknown_outcome(method: str) -> None:
    network = Breaking(httpx.ReadError("reset"), 1)

    with pytest.raises(UnknownOutcome, match="look before you repeat"):
        over(network).call(method, ("x",), Ref)
    assert network.asked == 1


def test_no_server_is_one_line_that_says_what_to_do() -> None:
    with pytest.raises(Unavailable, match="no server answers at http://tiny:1: refused; start it"):
        over(Breaking(httpx.ConnectError("refused"), 99)).call("GET", ("x",), Ref)


def test_something_that_is_no_lake_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="something else than expected"):
        transport(Scripted((200, {}, [b"<html>"]))).call("GET", ("x",), Ref)


def test_names_cannot_leave_their_segment_of_the_path() -> None:
    assert url_of(("refs", "a/b", "main~2?#%")) == "/api/v1/refs/a%2Fb/main~2%3F%23%25"
    for wrong in ("", ".", "..", "\ud800"):
        with pytest.raises(InvalidInput):
            url_of(("refs", wrong))


def test_a_query_spells_flags_and_repeats_as_the_server_reads_them() -> None:
    query = LogCommitsQuery(objects=("a b", "c&d"), first_parent=True)

    assert url_of(("x",), query) == "/api/v1/x?objects=a+b&objects=c%26d&first_parent=true"


def test_a_body_is_sent_and_an_answer_read_without_holding_either_whole() -> None:
    at_once = [0, 0]

    def chunks() -> Iterator[bytes]:
        for _ in range(64):
            at_once[0] += 1
            at_once[1] = max(at_once)
            yield b"x" * 65536

    def echo(environ: dict[str, Any]) -> Answer:
        def pieces() -> Iterator[bytes]:
            while piece := environ["wsgi.input"].read(65536):
                at_once[0] -= 1
                yield piece

        return 200, {}, pieces()

    asked = transport(echo)
    response = asked.upload("POST", ("x",), content_of(chunks()))

    assert len(response.content) == 64 * 65536
    assert at_once[1] == 1


def test_header_names_keep_their_underscores() -> None:
    seen: list[tuple[str, str]] = []

    def handler(environ: dict[str, Any]) -> Answer:
        seen.extend(environ["headers"])
        return said(REF)

    transport(handler).call("GET", ("x",), Ref, headers={"X-Lakefs-Meta-My_Key": "1"})

    assert ("x-lakefs-meta-my_key", "1") in seen


def test_an_answer_that_ends_early_is_an_error() -> None:
    server = Scripted((200, {"content-length": "10"}, [b"short"]))

    with pytest.raises(Unavailable, match="5 bytes too early"):
        transport(server).call("GET", ("x",), Ref)


def test_the_pauses_grow_and_are_never_the_same_for_all() -> None:
    environment = JumpingEnvironment()
    for _ in range(50):
        repeats = Repeats(environment, most=3, budget_s=60)
        assert [repeats.wait() for _ in range(4)] == [True, True, True, False]
    first, second, third = (environment.slept[n::3] for n in range(3))

    assert max(first) <= 0.1 < max(second) <= 0.2 < max(third) <= 0.4
    assert len(set(first)) > 40


@pytest.mark.parametrize(
    ("text", "seconds"),
    [(None, 0), ("3", 3), ("Mon, 12 Jan 1970 13:46:50 GMT", 10), ("soon", 0), ("-1", 0)],
)
def test_retry_after_is_seconds_or_a_date(text: str | None, seconds: float) -> None:
    assert retry_after_s(text, 1_000_000.0) == seconds
