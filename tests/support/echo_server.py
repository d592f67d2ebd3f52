# SPDX-License-Identifier: Apache-2.0
"""A small WSGI application behind our adapter and a real Granian, for tests of the adapter."""

import hashlib
import json
import resource
import sys
from collections.abc import Callable, Iterable
from typing import Any

from granian.constants import Interfaces
from granian.server import Server

from lochan.environment import RealEnvironment
from lochan.errors import LochanError
from lochan.web.adapter import Adapter
from lochan.web.environ import HEADERS

CHUNK = 1 << 20
stored: dict[str, str] = {}


def application(environ: dict[str, Any], start: Callable[..., object]) -> Iterable[bytes]:
    path = environ["PATH_INFO"]
    if path == "/told":
        shown = {"path": path, "query": environ["QUERY_STRING"], "headers": environ[HEADERS]}
        return _json(start, shown)
    if path == "/stored":
        return _json(start, stored)
    if path == "/memory":
        return _json(start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    if path.startswith("/give/"):
        start("200 OK", [("content-type", "application/octet-stream")])
        return (b"\0" * CHUNK for _ in range(int(path.removeprefix("/give/"))))
    if path.startswith("/refuse"):
        return _json(start, "not read")
    digest = hashlib.md5(usedforsecurity=False)
    count = 0
    try:
        while chunk := environ["wsgi.input"].read(CHUNK):
            digest.update(chunk)
            count += len(chunk)
    except LochanError as error:
        stored[path] = error.code
        return _json(start, error.code)
    stored[path] = digest.hexdigest()
    return _json(start, count)


def _json(start: Callable[..., object], value: object) -> list[bytes]:
    start("200 OK", [("content-type", "application/json")])
    return [json.dumps(value).encode()]


def load(_: str) -> Callable[..., Any]:
    adapter: Any = Adapter(application, RealEnvironment(), threads=4, most_waiting=64)
    return adapter  # type: ignore[no-any-return]  # Granian calls its __rsgi__


if __name__ == "__main__":
    Server("echo", address="127.0.0.1", port=int(sys.argv[1]), interface=Interfaces.RSGI).serve(
        target_loader=load
    )
