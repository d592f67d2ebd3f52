# SPDX-License-Identifier: Apache-2.0
"""A tiny WSGI application behind the client's in-process transport, with a clock that jumps."""

import json
from collections.abc import Callable, Iterable
from typing import IO, Any

import httpx

from lochan.client.in_process import Environ, Headers, InProcess
from lochan.client.transport import Transport
from lochan.environment import RealEnvironment

Answer = tuple[int, dict[str, str], Iterable[bytes]]
Handler = Callable[[Environ], Answer]


class JumpingEnvironment(RealEnvironment):
    """Sleeping takes no time, and is written down."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def now(self) -> float:
        return 1_000_000.0


def describe(
    *, method: str, raw_path: str, query: str, headers: Headers, body: IO[bytes]
) -> Environ:
    return {
        "REQUEST_METHOD": method,
        "PATH_INFO": raw_path,
        "QUERY_STRING": query,
        "wsgi.input": body,
        "headers": headers,
    }


def application(handler: Handler) -> Callable[[Environ, Callable[..., Any]], Iterable[bytes]]:
    def answer(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        status, headers, body = handler(environ)
        start_response(f"{status} Said", list(headers.items()))
        return body

    return answer


def transport(
    handler: Handler, environment: RealEnvironment | None = None, *, retries: int = 4
) -> Transport:
    """Give a transport to a handler of requests."""
    http = httpx.Client(
        base_url="http://tiny", transport=InProcess(application(handler), describe), timeout=None
    )
    return Transport(http, environment or JumpingEnvironment(), retries=retries, budget_s=30.0)


def said(value: object, status: int = 200, **headers: str) -> Answer:
    """Answer with JSON."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return status, {"content-type": "application/json", **named}, [json.dumps(value).encode()]
