# SPDX-License-Identifier: Apache-2.0
"""A small load driver: some connections, each sending its next request when the answer is there.

One thread and epoll. Requests are bytes made before, so that the driver takes as little of the two
cores as it can; what it takes counts against the yardstick just as much.
"""

import select
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

_HEAD_END = b"\r\n\r\n"
_LENGTH = b"content-length: "


@dataclass(frozen=True, slots=True)
class Load:
    """What a load was answered with."""

    rate: float
    seconds: Sequence[float]  # of every answer, sorted
    refused: int  # answers of another status than 2xx

    def percentile(self, share: float) -> float:
        """Give the time within which so many answers came."""
        return self.seconds[min(len(self.seconds) - 1, int(share * len(self.seconds)))]


def load(
    port: int, requests: Iterator[bytes], *, connections: int, seconds: float, warm_up: float = 0.5
) -> Load:
    """Send requests over so many connections for so long."""
    poll = select.epoll()
    clients = {}
    for _ in range(connections):
        client = socket.create_connection(("127.0.0.1", port))
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        poll.register(client.fileno(), select.EPOLLIN)
        clients[client.fileno()] = _Connection(client)
    took: list[float] = []
    refused = 0
    begin = perf_counter()
    counted, end = begin + warm_up, begin + warm_up + seconds
    for connection in clients.values():
        connection.send(next(requests))
    while (now := perf_counter()) < end:
        for number, _ in poll.poll(1.0):
            connection = clients[number]
            if connection.receive():
                now = perf_counter()
                if now >= counted:
                    took.append(now - connection.sent)
                    refused += not connection.succeeded
                connection.send(next(requests))
    for connection in clients.values():
        connection.socket.close()
    poll.close()
    return Load(len(took) / seconds, sorted(took), refused)


class _Connection:
    """One connection and the answer that it waits for."""

    __slots__ = ("got", "need", "sent", "socket", "succeeded")

    def __init__(self, client: socket.socket) -> None:
        self.socket = client
        self.got = b""
        self.need = -1
        self.sent = 0.0
        self.succeeded = False

    def send(self, request: bytes) -> None:
        self.got, self.need = b"", -1
        self.sent = perf_counter()
        self.socket.sendall(request)

    def receive(self) -> bool:
        """Take what is there; say whether the answer is complete."""
        data = self.socket.recv(1 << 20)
        if not data:
            raise ConnectionError(f"the server closed a connection after {self.got[:200]!r}")
        self.got = self.got + data if self.got else data
        if self.need < 0:
            head = self.got.find(_HEAD_END)
            if head < 0:
                return False
            at = self.got.lower().find(_LENGTH, 0, head)
            length = int(self.got[at + len(_LENGTH) : self.got.index(b"\r", at)]) if at >= 0 else 0
            self.need = head + len(_HEAD_END) + length
            self.succeeded = self.got[9:10] == b"2"
        return len(self.got) >= self.need
