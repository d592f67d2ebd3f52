# SPDX-License-Identifier: Apache-2.0
"""The processes of a server: one that listens, and workers that serve.

Granian's parent opens the port and starts the workers, each with a lake, an application and threads
of its own. SIGTERM reaches the parent: for `drain_notice_seconds` only /readyz says that the server
is ending. Then workers stop accepting, finish what they have in hand within
`drain_seconds`, close the stores last and end; so does the parent, with status 0. A second SIGTERM
ends all at once. A worker that dies is started again; workers whose parent died end by themselves,
as by SIGTERM, the youngest first: each holds its elders' lines to the parent open.
"""

import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, closing
from functools import partial
from multiprocessing import parent_process
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any, cast

from granian import loops
from granian.constants import HTTPModes, Interfaces, Loops
from granian.http import HTTP1Settings
from granian.server.mp import MPServer

from lochan.bootstrap.background import Background
from lochan.bootstrap.lake import prepare_process
from lochan.bootstrap.scheduling import Scheduling
from lochan.bootstrap.server import open_services
from lochan.config.server import Settings
from lochan.config.values import Address
from lochan.environment import RealEnvironment
from lochan.logs.log import capture_standard_logging
from lochan.web.adapter import Adapter, new_loop
from lochan.web.application import new_application
from lochan.web.beside import files_alone, metrics_alone
from lochan.web.environ import Wsgi
from lochan.web.readiness import DRAINING
from lochan.web.wire.listener import Listener

_HEADER_BYTES = 64 << 10
_HEADER_MS = 30_000
FILE_CONNECTIONS = 256  # of one worker at the address for the bytes of files: a thread each
METRICS_CONNECTIONS = 16
_ENDED_AT_ONCE = 128 + signal.SIGTERM  # what a shell says of a process that a signal ended


class Worker(Adapter):
    """One worker's door, which opens its lake with the loop and closes it with it."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        """Serve by these settings; `folder` is shared by the workers of this run."""
        self._opened = ExitStack()
        environment = RealEnvironment()
        services = self._opened.enter_context(open_services(settings, environment, folder))
        capture_standard_logging(services.log)
        self._services = services
        background = Background(services.lake, services.log, services.metrics)
        self._opened.enter_context(closing(background))
        scheduling = Scheduling(services.lake, settings, services.log, folder)
        self._opened.enter_context(closing(scheduling))
        application = new_application(services)
        super().__init__(
            application,
            environment,
            at_once=application.at_once,
            threads=settings.threads,
            most_waiting=settings.limits.queue,
            queue_s=settings.limits.queue_seconds,
            body_s=settings.limits.body_seconds,
        )
        self._listeners: list[Listener] = []
        self._listen(settings.webhdfs.listen, files_alone(application), FILE_CONNECTIONS)
        self._listen(settings.metrics.listen, metrics_alone(services), METRICS_CONNECTIONS)
        background.start()
        scheduling.start()
        environment.spawn(_end_with_parent, name="lochan parent")
        prepare_process()

    def drain(self) -> None:
        """Take no more at the other addresses either."""
        for listener in self._listeners:
            listener.stop()

    def _listen(self, address: Address | None, application: Wsgi, connections: int) -> None:
        """Serve at an address beside the main one, if there is one."""
        if address is not None:
            settings = self._services.settings
            listener = Listener(
                address,
                application,
                self._services.lake.environment,
                threads=connections,
                pause_s=settings.limits.body_seconds,
                drain_s=settings.drain_seconds,
            )
            self._opened.enter_context(closing(listener))
            self._listeners.append(listener)
            listener.start()

    def __rsgi_del__(self, loop: object) -> None:
        """Close the lake after the last request."""
        super().__rsgi_del__(loop)
        self._opened.close()


class _Processes(MPServer):
    """Granian's parent, which gives notice before it drains; a second signal ends all at once."""

    def __init__(self, settings: Settings, folder: Path, **rest: Any) -> None:  # noqa: ANN401 - Granian's
        """Serve by these settings; `folder` is shared with the workers."""
        super().__init__("lochan", **rest)
        self._notice_s = settings.drain_notice_seconds
        self._draining = folder / DRAINING

    def signal_handler_interrupt(self, *_: object, **__: object) -> None:
        """Begin to drain, or end all."""
        if self.interrupt_signal:
            for worker in self.wrks:
                worker.kill()  # type: ignore[no-untyped-call]  # Granian's
            raise SystemExit(_ENDED_AT_ONCE)
        super().signal_handler_interrupt()  # type: ignore[no-untyped-call]  # Granian's

    def _stop_workers(self) -> None:
        if self.interrupt_signal:
            self._draining.touch()
            Event().wait(self._notice_s)
        super()._stop_workers()  # type: ignore[no-untyped-call]  # Granian's
        if self.interrupt_signal:
            # A signal to the whole group may have ended a worker before we asked it to: no failure.
            self.interrupt_children.clear()


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT. Settings were checked before."""
    loops.register(Loops.asyncio.value)(new_loop)
    with TemporaryDirectory(prefix="lochan-workers-") as folder:
        tls = settings.tls
        _Processes(
            settings,
            Path(folder),
            address=settings.listen.host,
            port=settings.listen.port,
            interface=Interfaces.RSGI,
            workers=settings.workers,
            loop=Loops.asyncio,
            http=HTTPModes.http1,
            http1_settings=HTTP1Settings(
                header_read_timeout=_HEADER_MS, max_buffer_size=_HEADER_BYTES
            ),
            websockets=False,
            backlog=2048,
            backpressure=2 * (settings.threads + settings.limits.queue),
            log_enabled=False,
            ssl_cert=tls.cert_file,
            ssl_key=tls.key_file,
            respawn_failed_workers=True,
            respawn_interval=0.5,
            workers_kill_timeout=int(settings.drain_seconds) + 1,
        ).serve(target_loader=partial(_worker, settings, Path(folder)))


def _worker(settings: Settings, folder: Path, _target: str) -> Callable[..., Awaitable[None]]:
    # Until Granian sets a worker's own handlers, a forked one has its parent's, which only note the
    # signal: asked to end while it starts, it would go on until it is killed.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    # Granian looks for __rsgi__ and its companions on what it is given.
    return cast("Callable[..., Awaitable[None]]", Worker(settings, folder))


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
