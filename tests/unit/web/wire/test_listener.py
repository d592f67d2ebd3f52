# SPDX-License-Identifier: Apache-2.0
"""Connections to an address that threads serve, over real sockets."""

import socket
from contextlib import suppress
from pathlib import Path
from time import sleep

import pytest

from support.wired import FILE, GET, Served, answer_of, serving, to_the_end


def test_a_connection_serves_one_request_after_the_other(served: Served) -> None:
    with served.client() as client:
        for _ in range(3):
            client.sendall(GET % b"")
            head, _, body = answer_of(client, 5).partition(b"\r\n\r\n")
            assert head == b"HTTP/1.1 200 OK\r\ncontent-length: 5"
            assert body == b"hello"


def test_requests_that_come_together_are_answered_in_their_order(served: Served) -> None:
    last = b"GET /pieces HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
    with served.client() as client:
        client.sendall(GET % b"" + b"\r\n" + last)
        found = to_the_end(client)
    assert found.index(b"hello") < found.index(b"one two")
    assert found.count(b"HTTP/1.1 200") == 2


def test_what_has_no_length_ends_with_the_connection(served: Served) -> None:
    with served.client() as client:
        client.sendall(GET % b"pieces")
        found = to_the_end(client)
    assert b"connection: close" in found
    assert found.endswith(b"\r\n\r\none two")


def test_an_answer_that_breaks_off_ends_the_connection(served: Served) -> None:
    with served.client() as client:
        client.sendall(GET % b"broken" + GET % b"")
        found = to_the_end(client)
    assert found.endswith(b"\r\n\r\none two"), "the next answer would be taken for the rest"


def test_a_file_is_sent_from_where_it_was_asked(served: Served) -> None:
    with served.client() as client:
        for _ in range(2):
            client.sendall(GET % b"file")
            assert answer_of(client, len(FILE) - 5).partition(b"\r\n\r\n")[2] == FILE[5:]
    assert all(sent.is_closed.wait(5) for sent in served.application.files)


def test_a_head_is_answered_without_a_body(served: Served) -> None:
    with served.client() as client:
        client.sendall(b"HEAD / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        assert to_the_end(client).endswith(b"content-length: 5\r\nconnection: close\r\n\r\n")


def test_who_hangs_up_within_a_file_frees_it(served: Served) -> None:
    with served.client() as client:
        client.sendall(GET % b"file")
        client.recv(1000)
    (sent,) = served.application.files
    assert sent.is_closed.wait(5)


def test_who_reads_nothing_for_too_long_is_left(tmp_path: Path) -> None:
    with serving(tmp_path, pause_s=0.2) as served, served.client() as client:
        client.sendall(GET % b"file")
        client.recv(1)
        (sent,) = served.application.files
        assert sent.is_closed.wait(5)


def test_a_client_that_waits_to_be_asked_is_asked(served: Served) -> None:
    head = b"PUT /body HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\nexpect: 100-continue\r\n\r\n"
    with served.client() as client:
        client.sendall(head)
        assert client.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b"abc")
        assert client.recv(1000).startswith(b"HTTP/1.1 201")
    assert served.application.bodies == [b"abc"]


def test_a_body_that_nobody_wants_costs_the_connection_but_not_the_answer(served: Served) -> None:
    with served.client() as client:
        client.sendall(b"PUT / HTTP/1.1\r\nhost: x\r\ncontent-length: 3000000\r\n\r\n")
        client.sendall(bytes(3_000_000))
        found = to_the_end(client)
    assert found.startswith(b"HTTP/1.1 200")
    assert b"connection: close" in found


@pytest.mark.parametrize("sent", [b"content-length: 5\r\n\r\nabc", b"content-length: 5\r\n\r\n"])
def test_half_a_body_is_no_body(served: Served, sent: bytes) -> None:
    with served.client() as client:
        client.sendall(b"PUT /body HTTP/1.1\r\nhost: x\r\n" + sent)
        client.shutdown(socket.SHUT_WR)
        to_the_end(client)
    assert served.application.bodies == ["body-incomplete"]


def test_what_is_no_request_is_refused_with_a_word(served: Served) -> None:
    with served.client() as client:
        client.sendall(b"nonsense\r\n\r\n" + GET % b"")
        found = to_the_end(client)
    assert found.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b"hello" not in found


def test_a_head_without_an_end_is_refused(served: Served) -> None:
    with served.client() as client:
        client.sendall(b"GET / HTTP/1.1\r\nx: " + b"a" * (17 << 10))
        assert to_the_end(client).startswith(b"HTTP/1.1 431")


def test_rel_S18_a_head_that_comes_drop_by_drop_is_not_waited_for(tmp_path: Path) -> None:
    with serving(tmp_path, pause_s=0.3) as served, served.client() as client:
        drops = 0
        client.settimeout(0.05)
        for drop in b"GET / HTTP/1.1\r\nhost: " + b"x" * 1000:
            try:
                client.sendall(bytes([drop]))
                drops += 1
                assert client.recv(1) == b""
                break
            except TimeoutError:
                continue
            except ConnectionError:
                break
        assert drops < 100


def test_empty_lines_between_requests_are_passed_over(served: Served) -> None:
    with served.client() as client:
        for _ in range(2):
            client.sendall(GET % b"")
            assert answer_of(client, 5).startswith(b"HTTP/1.1 200")
            client.sendall(b"\r\n")


def test_rel_S18_who_was_refused_and_goes_on_sending_is_left_soon(served: Served) -> None:
    with served.client() as client:
        client.sendall(b"nonsense\r\n\r\n")
        assert client.recv(1000).startswith(b"HTTP/1.1 400")
        client.settimeout(0.05)
        drops = 0
        with suppress(ConnectionError):
            while drops < 200:
                client.sendall(b"x")
                drops += 1
                with suppress(TimeoutError):
                    client.recv(1)
                    sleep(0.05)
        assert drops < 200


def test_a_bug_or_a_header_of_two_lines_ends_a_connection_and_no_more(served: Served) -> None:
    for path, answer in ((b"bug", b""), (b"evil", b""), (b"", b"HTTP/1.1 200")):
        with served.client() as client:
            client.sendall(GET % path)
            client.shutdown(socket.SHUT_WR)
            assert to_the_end(client)[:12] == answer
