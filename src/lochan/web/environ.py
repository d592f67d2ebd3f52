# SPDX-License-Identifier: Apache-2.0
"""What a WSGI application is told of a request (PEP 3333), and one thing more.

WSGI folds header names: `x-lakefs-meta-my_key` and `x-lakefs-meta-my-key` become one. So the
headers also travel as they came, names in lower case, in their order, under HEADERS.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import IO, Any, Final
from urllib.parse import unquote_to_bytes

HEADERS: Final = "lochan.headers"

Headers = Sequence[tuple[str, str]]
Environ = dict[str, Any]
Wsgi = Callable[[Environ, Callable[..., object]], Iterable[bytes]]


def new_environ(  # noqa: PLR0913 - what HTTP says of a request
    *,
    method: str,
    path: str,
    query: str,
    headers: Headers,
    body: IO[bytes],
    scheme: str = "http",
    server: str = "localhost:80",
    client: str = "127.0.0.1:0",
) -> Environ:
    """Describe a request; `path` is decoded already, `query` is not.

    Bytes of the path that are no UTF-8 reach the application, which refuses them.
    """
    host, _, port = server.rpartition(":")
    environ: Environ = {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": _wsgi_text(path),
        "QUERY_STRING": query,
        "SERVER_NAME": host,
        "SERVER_PORT": port,
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": client.rpartition(":")[0],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scheme,
        "wsgi.input": body,
        "wsgi.input_terminated": True,
        "wsgi.errors": None,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        HEADERS: headers,
    }
    _add_headers(environ, headers)
    return environ


def _wsgi_text(path: str) -> str:
    if path.isascii():
        return path
    return path.encode(errors="surrogateescape").decode("latin-1")


def decoded_path(raw: str) -> str:
    """Decode a path's per cent escapes, once; what is no UTF-8 is escaped as Python does it."""
    return unquote_to_bytes(raw).decode(errors="surrogateescape") if "%" in raw else raw


def _add_headers(environ: Environ, headers: Iterable[tuple[str, str]]) -> None:
    for name, value in headers:
        if name == "content-type":
            environ["CONTENT_TYPE"] = value
        elif name == "content-length":
            environ["CONTENT_LENGTH"] = value
        elif "_" in name:
            continue  # a name with an underscore must never pass for one with a hyphen
        else:
            key = "HTTP_" + name.upper().replace("-", "_")
            before = environ.get(key)
            environ[key] = value if before is None else f"{before},{value}"
