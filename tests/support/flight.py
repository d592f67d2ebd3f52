# SPDX-License-Identifier: Apache-2.0
"""Many requests at once, each on a connection of its own, from one thread."""

import json
import selectors
import socket
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, NamedTuple
from urllib.parse import urlencode

from support.server import KEY_ID, KEY_SECRET

AUTHORIZATION = "Basic " + b64encode(f"{KEY_ID}:{KEY_SECRET}".encode()).decode()


class Request(NamedTuple):
    """A request to the API."""

    method: str
    path: str
    body: bytes = b""
    content_type: str = "application/json"

    def encoded(self) -> bytes:
        head = (
            f"{self.method} /api/v1{self.path} HTTP/1.1\r\nhost: x\r\n"
            f"authorization: {AUTHORIZATION}\r\ncontent-type: {self.content_type}\r\n"
            f"content-length: {len(self.body)}\r\n\r\n"
        )
        return head.encode() + self.body


class Answer(NamedTuple):
    """What came back, whole."""

    status: int
    body: bytes

    def json(self) -> Any:  # noqa: ANN401 - JSON
        return json.loads(self.body)


def upload(repository: str, branch: str, path: str, data: bytes) -> Request:
    """Write an object."""
    place = f"/repositories/{repository}/branches/{branch}/objects?{urlencode({'path': path})}"
    return Request("POST", place, data, "application/octet-stream")


def commit(repository: str, branch: str, message: str) -> Request:
    """Commit, though nothing may have changed."""
    body = json.dumps({"message": message, "allow_empty": True}).encode()
    return Request("POST", f"/repositories/{repository}/branches/{branch}/commits", body)


@dataclass
class _Line:
    connection: socket.socket
    came: bytearray = field(default_factory=bytearray)
    answer: Answer | None = None

    def is_over(self) -> bool:
        """Read what is there; say whether the answer is whole or the connection at its end."""
        try:
            data = self.connection.recv(1 << 16)
        except ConnectionResetError:
            data = b""
        self.came += data
        head, blank, rest = bytes(self.came).partition(b"\r\n\r\n")
        if blank:
            fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
            if len(rest) >= int(fields.get(b"content-length", 0)):
                self.answer = Answer(int(head[9:12]), rest)
                return True
        return not data


class Flight:
    """Connections that the server has accepted, and the requests that are sent on them."""

    def __init__(self, port: int, requests: Sequence[Request]) -> None:
        self._requests = [request.encoded() for request in requests]
        self._lines = [
            _Line(socket.create_connection(("127.0.0.1", port), timeout=30)) for _ in requests
        ]
        # An answered request shows that the connection is the worker's, not only the kernel's.
        for line in self._lines:
            line.connection.sendall(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n")
        self.land()
        for line in self._lines:
            assert line.answer is not None
            assert line.answer.status == 200
            line.came, line.answer = bytearray(), None

    def start(self) -> None:
        """Send every request, whole."""
        for line, request in zip(self._lines, self._requests, strict=True):
            line.connection.sendall(request)

    def land(self, *, most: int | None = None, seconds: float = 60) -> int:
        """Read answers until so many have come, or all connections are at an end; give how many."""
        give_up = monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            for line in self._lines:
                if line.answer is None:
                    selector.register(line.connection, selectors.EVENT_READ, line)
            while selector.get_map() and (most is None or self.count < most):
                assert monotonic() < give_up, f"{len(selector.get_map())} requests hang"
                for key, _ in selector.select(1):
                    if key.data.is_over():
                        selector.unregister(key.fileobj)
        return self.count

    @property
    def count(self) -> int:
        """Give how many answers have come."""
        return sum(line.answer is not None for line in self._lines)

    def answers(self) -> list[Answer | None]:
        """Give what became of each request; None where nothing came back. Ends the connections."""
        for line in self._lines:
            line.connection.close()
        return [line.answer for line in self._lines]
