# SPDX-License-Identifier: Apache-2.0
"""The processes of a server: one that listens, and workers that serve.

Granian's parent opens the port and starts the workers, each with a lake, an application and threads
of its own. SIGTERM reaches the parent: workers stop accepting, finish what they have in hand within
`drain_seconds`, close the stores last and end; so does the parent, with status 0. A second SIGTERM
ends all at once. A worker that dies is started again.
"""

from collections.abc import Awaitable, Callable
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from granian.constants import HTTPModes, Interfaces, Loops
from granian.http import HTTP1Settings
from granian.server import Server

from lochan.bootstrap.background import Background
from lochan.bootstrap.lake import prepare_process
from lochan.bootstrap.server import open_services
from lochan.config.server import Settings
from lochan.environment import RealEnvironment
from lochan.logs.log import capture_standard_logging
from lochan.web.adapter import Adapter
from lochan.web.application import new_application

_HEADER_BYTES = 64 << 10
_HEADER_MS = 30_000


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
        super().__init__(
            new_application(services),
            environment,
            threads=settings.threads,
            most_waiting=settings.limits.queue,
        )
        background.start()
        prepare_process()

    def __rsgi_del__(self, loop: object) -> None:
        """Close the lake after the last request."""
        super().__rsgi_del__(loop)
        self._opened.close()


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT. Settings were checked before."""
    with TemporaryDirectory(prefix="lochan-workers-") as folder:
        tls = settings.tls
        Server(
            "lochan",
            address=settings.listen.host,
            port=settings.listen.port,
            interface=Interfaces.RSGI,
            workers=settings.workers,
            loop=Loops.auto,
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
    # Granian looks for __rsgi__ and its companions on what it is given.
    return cast("Callable[..., Awaitable[None]]", Worker(settings, folder))
