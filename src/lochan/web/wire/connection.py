# SPDX-License-Identifier: Apache-2.0
"""One client's connection: its requests one after the other, each answered before the next is read.

    head  ->  application(environ, start_response)  ->  head of the answer, then its bytes

An answer that has a `file` goes from the disk's pages to the socket without a copy of it. A client
that hangs up within is nothing special: Hadoop's asks for all to the end, and takes what it needs.
"""

import logging
import os
import re
import socket
import struct
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import chain
from typing import IO, Final, cast

from lochan.config.values import Address
from lochan.environment import Environment
from lochan.web.environ import Wsgi, new_environ
from lochan.web.wire.head import HEAD_BYTES, Head, Refused, head_of
from lochan.web.wire.incoming import Incoming
from lochan.web.wire.received import Broken, Received, TooLong

_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_BAD: Final = '{"message":"%s","code":"bad-request"}\n'
_LARGE: Final = '{"message":"the headers have more than 16 KiB","code":"headers-too-large"}\n'
_BREAKS: Final = re.compile(r"[\r\n\0]")
_MORE: Final = getattr(socket, "MSG_MORE", 0)  # a head goes out with the first of its body
# Of a body that nobody wants so much is taken, for so long, that its sender sees why.
_LEFT_BYTES: Final = 8 << 20
_LEFT_S: Final = 2.0
# What waits in the kernel for a client that has hung up was sent for nothing.
_SEND_BUFFER: Final = 512 << 10

_log = logging.getLogger(__name__)


class Connection:
    """A socket that was accepted, until either side has enough."""

    def __init__(
        self, accepted: socket.socket, application: Wsgi, environment: Environment, pause_s: float
    ) -> None:
        """Serve by an application; a client may pause for so long."""
        self._socket = accepted
        self._application = application
        self._pause_s = pause_s
        self._received = Received(accepted, environment.monotonic, pause_s)
        self._is_idle = True
        self._is_ending = False
        self._server = _named(accepted.getsockname())
        self._client = _named(accepted.getpeername())
        self._monotonic = environment.monotonic
        self._limit(pause_s)
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def serve(self, stays: Callable[[], bool]) -> None:
        """Answer requests until the client ends, breaks off, or `stays` says no."""
        with suppress(Broken, OSError):
            while (head := self._next()) is not None and self._answer(head, stays):
                self._is_idle = True
                if self._is_ending:  # looked at after, as `end` looks the other way round
                    return

    def _next(self) -> Head | None:
        """Read the next request; None if there is none. What cannot be read is refused."""
        try:
            raw = self._received.head(HEAD_BYTES)
            self._is_idle = False
            return head_of(raw) if raw else None
        except TooLong:
            self._refuse("431 Request Header Fields Too Large", _LARGE)
        except Refused as error:
            self._refuse("400 Bad Request", _BAD % error)
        return None

    def end(self) -> None:
        """Take no further request; one that is under way is answered."""
        self._is_ending = True
        if self._is_idle:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RD)

    def _answer(self, head: Head, stays: Callable[[], bool]) -> bool:
        """Answer one request, and say whether another may follow."""
        asked = self._ask if head.expects else _nothing
        body = Incoming(self._received, head.length, self._pause_s, asked)
        environ = new_environ(
            method=head.method,
            path=head.path,
            query=head.query,
            headers=head.headers,
            body=cast("IO[bytes]", body),  # a raw stream has all that a reader of bytes calls
            server=self._server,
            client=self._client,
        )
        answer = _Answer(self._socket)
        chunks = self._application(environ, answer.start)
        try:
            answer.stays = head.stays and body.is_over and stays() and not self._is_ending
            answer.send(chunks, has_body=head.method != "HEAD")
        finally:
            if hasattr(chunks, "close"):
                chunks.close()
        if not body.is_over:
            self._take_rest()
        return answer.stays

    def _limit(self, seconds: float) -> None:
        """Wait no longer for the client, whichever way; known to sendfile, too."""
        limit = struct.pack("ll", int(seconds), int(seconds % 1 * 1e6))
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            self._socket.setsockopt(socket.SOL_SOCKET, option, limit)

    def _ask(self) -> None:
        self._socket.sendall(_CONTINUE)

    def _refuse(self, status: str, body: str) -> None:
        answer = _Answer(self._socket)
        answer.start(status, [("content-type", "application/json")])
        answer.send([body.encode()], has_body=True)
        self._take_rest()

    def _take_rest(self) -> None:
        """Take some of what was sent for nothing: with bytes unread, closing loses the answer."""
        until, left = self._monotonic() + _LEFT_S, _LEFT_BYTES
        self._is_idle = True  # nobody waits for anything: `end` may cut it short
        with suppress(Broken, OSError):
            self._limit(_LEFT_S)
            self._socket.shutdown(socket.SHUT_WR)
            while left > 0 and self._monotonic() < until and not self._is_ending:
                if self._received.is_empty and not self._received.more():
                    return
                left -= len(self._received.some(left))


class _Answer:
    """What the application answers, on its way out."""

    def __init__(self, out: socket.socket) -> None:
        self._out = out
        self.stays = False  # whether another request may follow
        self._status = "500 Internal Server Error"
        self._headers: list[tuple[str, str]] = []

    def start(self, status: str, headers: list[tuple[str, str]], _: object = None) -> None:
        """Take what PEP 3333 calls start_response; nothing is sent yet."""
        self._status, self._headers = status, headers

    def send(self, chunks: Iterable[bytes], *, has_body: bool) -> None:
        """Send the head, then the body. Raises OSError, Broken."""
        if isinstance(chunks, list) and len(chunks) <= 1:
            whole = b"".join(chunks)
            self._out.sendall(self._head(len(whole)) + (whole if has_body else b""))
            return
        head = self._head(None)
        file: tuple[int, int, int] | None = getattr(chunks, "file", None)
        self._out.sendall(head, _MORE if has_body else 0)
        if not has_body:
            return
        if file is not None:
            self._send_file(*file)
        else:
            self._send_pieces(chunks)

    def _send_pieces(self, pieces: Iterable[bytes]) -> None:
        count = 0
        for piece in pieces:
            self._out.sendall(piece)
            count += len(piece)
        said = dict(self._headers).get("content-length")
        if said is not None and int(said) != count:
            # What is asked next on this connection would be taken for the rest.
            _log.warning("an answer broke off while it was sent")
            raise Broken

    def _send_file(self, file: int, start: int, stop: int) -> None:
        sent = -1
        try:
            while sent and start < stop:
                sent = os.sendfile(self._out.fileno(), file, start, stop - start)
                start += sent
        except (ConnectionError, BlockingIOError):
            raise  # the client hung up, or fell silent
        except OSError as error:
            _log.warning("a file broke off while it was sent: %s", error.strerror)
            raise
        if start < stop:
            _log.warning("a file broke off while it was sent: it is shorter than it was")
            raise Broken

    def _head(self, length: int | None) -> bytes:
        names = {name.lower() for name, _ in self._headers}
        more: list[tuple[str, str]] = []
        if "content-length" not in names:
            if length is None:
                self.stays = False  # its end is the connection's
            elif self._status[:3] not in {"204", "304"}:
                more.append(("content-length", str(length)))
        if not self.stays:
            more.append(("connection", "close"))
        lines = [f"HTTP/1.1 {self._status}"]
        lines += [
            f"{name}: {value}"
            for name, value in chain(self._headers, more)
            if (name, value) != ("content-type", "")  # an answer without a type, as of `adapter`
        ]
        if any(_BREAKS.search(line) for line in lines):  # nobody writes a header into ours (S11)
            raise ValueError("a header would have more than one line")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _named(address: tuple[str, int] | tuple[str, int, int, int]) -> str:
    return str(Address(address[0], address[1]))


def _nothing() -> None:
    """Tell a client nothing that does not wait."""
