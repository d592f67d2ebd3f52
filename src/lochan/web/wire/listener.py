# SPDX-License-Identifier: Apache-2.0
"""An address that threads serve: each connection has one, and no more connections than that.

The workers of a server all listen at the same address, and the kernel gives each connection to one
of them. Beyond half of the threads, a connection ends with its answer, so that those who wait get
their turn; those who wait are not accepted yet. When it closes, connections that ask nothing end at
once, and the others have `drain_s` to end.
"""

import logging
import socket
from contextlib import closing, suppress
from functools import partial
from threading import BoundedSemaphore, Condition
from typing import Final

from lochan.config.values import Address
from lochan.environment import Environment
from lochan.web.environ import Wsgi
from lochan.web.wire.connection import Connection

_BACKLOG: Final = 1024
_PAUSE_S: Final = 0.1

_log = logging.getLogger(__name__)


class Listener:
    """One worker's share of an address."""

    def __init__(
        self,
        address: Address,
        application: Wsgi,
        environment: Environment,
        *,
        threads: int,
        pause_s: float,
        drain_s: float,
    ) -> None:
        """Listen, and serve from `start` on. Raises OSError where the address is not to be had."""
        self._application = application
        self._environment = environment
        self._threads = threads
        self._pause_s = pause_s
        self._drain_s = drain_s
        self._room = BoundedSemaphore(threads)
        self._open: set[Connection] = set()
        self._changed = Condition()
        self._is_stopping = False
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            self._socket.bind(address)
            self._socket.listen(_BACKLOG)
        except OSError:
            self._socket.close()
            raise

    def start(self) -> None:
        """Begin to accept."""
        self._environment.spawn(self._accept, name="lochan listener")

    def stop(self) -> None:
        """Accept no more, and end who asks nothing; waits for nobody."""
        with self._changed:
            self._is_stopping = True
            for connection in self._open:
                connection.end()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # ends `accept`
        self._socket.close()

    def close(self) -> None:
        """Stop, and wait for who is being answered, as long as may be."""
        self.stop()
        with self._changed:
            self._changed.wait_for(lambda: not self._open, self._drain_s)

    def _accept(self) -> None:
        while not self._is_stopping:
            self._room.acquire()
            try:
                self._take(self._socket.accept()[0])
            except (OSError, RuntimeError) as error:
                self._room.release()
                if not self._is_stopping:  # too many open files or threads, or the client is gone
                    _log.warning("a connection could not be taken: %s", error)
                    self._environment.sleep(_PAUSE_S)

    def _take(self, accepted: socket.socket) -> None:
        """Have a thread serve a connection. Raises OSError, RuntimeError; it is closed then."""
        try:
            made = Connection(accepted, self._application, self._environment, self._pause_s)
            with self._changed:
                if self._is_stopping:
                    made.end()
                self._open.add(made)
            try:
                work = partial(self._serve, accepted, made)
                self._environment.spawn(work, name="lochan connection")
            except BaseException:
                self._left(made)
                raise
        except BaseException:
            accepted.close()
            raise

    def _serve(self, accepted: socket.socket, connection: Connection) -> None:
        try:
            with closing(accepted):
                connection.serve(self._stays)
        except Exception:  # noqa: BLE001 - the next connection needs this room
            _log.exception("a request met a bug")
        finally:
            self._left(connection)
            self._room.release()

    def _left(self, connection: Connection) -> None:
        with self._changed:
            self._open.discard(connection)
            self._changed.notify_all()

    def _stays(self) -> bool:
        return len(self._open) <= self._threads // 2
