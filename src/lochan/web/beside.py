# SPDX-License-Identifier: Apache-2.0
"""What is served at addresses beside the main one (`wire`): less than there.

    webhdfs.listen    the bytes of files, for Hadoop's clients; who asks must show credentials
    metrics.listen    /metrics, for a network that only Prometheus reaches; without credentials

Each is for one purpose, and knows no other address.
"""

from collections.abc import Callable, Iterable
from typing import Final

from lochan.metrics.expose import CONTENT_TYPE, exposed
from lochan.web.environ import Environ, Wsgi
from lochan.web.hdfs.operation import PREFIX
from lochan.web.services import Services

_NOWHERE: Final = b'{"message":"there is nothing at this address","code":"no-such-address"}\n'
_JSON: Final = ("content-type", "application/json")


def files_alone(application: Wsgi) -> Wsgi:
    """Serve nothing of an application but the file system."""

    def serve(environ: Environ, start: Callable[..., object]) -> Iterable[bytes]:
        if environ["PATH_INFO"].startswith(f"{PREFIX}/"):
            return application(environ, start)
        return _nowhere(start)

    return serve


def metrics_alone(services: Services) -> Wsgi:
    """Serve the figures of all workers, and nothing else."""

    def serve(environ: Environ, start: Callable[..., object]) -> Iterable[bytes]:
        if (environ["REQUEST_METHOD"], environ["PATH_INFO"]) != ("GET", "/metrics"):
            return _nowhere(start)
        start("200 OK", [("content-type", CONTENT_TYPE), ("x-content-type-options", "nosniff")])
        return [exposed(services.metrics.families, services.workers.numbers())]

    return serve


def _nowhere(start: Callable[..., object]) -> list[bytes]:
    start("404 Not Found", [_JSON])
    return [_NOWHERE]
