# SPDX-License-Identifier: Apache-2.0
"""A TCP proxy that can lose a server's answer: the request arrives, the response does not."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class LossyProxy:
    """Passes bytes both ways; once `lose_answers` is set, an answer ends its connection."""

    def __init__(self, host: str, port: int) -> None:
        self._server = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.lose_answers = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._server)
            for source, target, answers in ((client, server, False), (server, client, True)):
                pump = threading.Thread(
                    target=self._pump,
                    args=(source, target),
                    kwargs={"answers": answers},
                    daemon=True,
                )
                pump.start()

    def _pump(self, source: socket.socket, target: socket.socket, *, answers: bool) -> None:
        with suppress(OSError):  # the other direction may have ended the connection
            while (data := source.recv(65536)) and not (answers and self.lose_answers.is_set()):
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):  # the other direction may have ended it
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@contextmanager
def lossy_proxy(host: str, port: int) -> Iterator[LossyProxy]:
    proxy = LossyProxy(host, port)
    try:
        yield proxy
    finally:
        proxy.close()
