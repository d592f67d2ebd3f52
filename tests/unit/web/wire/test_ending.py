# SPDX-License-Identifier: Apache-2.0
"""How many connections a listener serves at once, and how it ends."""

import socket
import threading
from contextlib import suppress
from pathlib import Path
from time import monotonic

import pytest

from lochan.config.values import Address
from lochan.environment import RealEnvironment
from lochan.web.wire.listener import Listener
from support.wired import GET, Crowded, Served, Slow, answer_of, serving, to_the_end


def test_who_was_refused_does_not_keep_it_from_ending(served: Served) -> None:
    with served.client() as client:
        client.sendall(b"nonsense\r\n\r\n")
        assert client.recv(1000).startswith(b"HTTP/1.1 400")
        began = monotonic()
        served.listener.close()
        assert monotonic() - began < 1.5


def test_a_thread_that_cannot_start_costs_its_connection_alone(tmp_path: Path) -> None:
    with serving(tmp_path, environment=Crowded()) as served:
        with served.client() as client:
            assert to_the_end(client) == b""
        with served.client() as client:
            client.sendall(GET % b"")
            assert answer_of(client, 5).startswith(b"HTTP/1.1 200")


def test_what_was_accepted_and_not_begun_is_ended_too(tmp_path: Path) -> None:
    slow = Slow()
    with serving(tmp_path, environment=slow) as served, served.client() as client:
        assert slow.is_late.wait(5)
        ending = threading.Thread(target=served.listener.close)
        ending.start()
        ending.join(0.2)
        assert ending.is_alive(), "it waits for who was accepted"
        slow.go_on.set()
        ending.join(5)
        assert not ending.is_alive()
        with suppress(ConnectionError):
            client.sendall(GET % b"")
            assert client.recv(1) == b""


def test_no_more_are_served_at_once_than_there_are_threads(tmp_path: Path) -> None:
    with serving(tmp_path, threads=1) as served, served.client() as first:
        first.sendall(GET % b"slow")
        assert served.application.begun.wait(5)
        with served.client() as second:
            second.sendall(GET % b"")
            second.settimeout(0.2)
            with pytest.raises(TimeoutError):
                second.recv(1)
            served.application.go_on.set()
            second.settimeout(5)
            found = to_the_end(second)
    assert b"hello" in found
    assert b"connection: close" in found, "others may wait for this thread"


def test_it_ends_after_the_last_answer_and_idle_connections_do_not_keep_it(
    tmp_path: Path,
) -> None:
    with serving(tmp_path) as served, served.client() as idle, served.client() as busy:
        idle.sendall(GET % b"")
        answer_of(idle, 5)
        busy.sendall(b"PUT /slow HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nab")
        assert served.application.begun.wait(5)
        ending = threading.Thread(target=served.listener.close)
        ending.start()
        assert idle.recv(1) == b""
        assert ending.is_alive()
        served.application.go_on.set()
        busy.sendall(b"c")
        found = to_the_end(busy)
        ending.join(5)
        assert not ending.is_alive()
    assert found.startswith(b"HTTP/1.1 201")
    assert b"connection: close" in found
    assert served.application.bodies == [b"abc"]
    with pytest.raises(ConnectionRefusedError), served.client():
        pass


def test_an_address_that_is_taken_is_an_error(served: Served, tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = Address("127.0.0.1", other.getsockname()[1])
        with pytest.raises(OSError, match="in use"):
            Listener(
                taken,
                served.application,
                RealEnvironment(),
                threads=1,
                pause_s=1.0,
                drain_s=1.0,
            )
