# SPDX-License-Identifier: Apache-2.0
"""The yardstick of the REST API: bare handlers behind the same adapter and the same Granian.

GET  /bytes     answers with the bytes of the file `answer` in the folder
GET  /file      reads `object` from disk and answers with it
PUT  /file      writes temp, fsync, link, fsync of the folder
"""

import os
import sys
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Any

from granian import loops
from granian.constants import HTTPModes, Interfaces, Loops
from granian.server import Server

from lochan.environment import RealEnvironment
from lochan.web.adapter import Adapter, new_loop
from lochan.web.at_once import Answer, Fetch
from lochan.web.environ import Headers

FOLDER = Path(sys.argv[1])
_JSON = [("content-type", "application/json")]
_numbers = count()


def application(environ: dict[str, Any], start: Callable[..., object]) -> Iterable[bytes]:
    """Do the least that a PUT can mean."""
    start("200 OK", _JSON)
    return [_put(environ["wsgi.input"].read())]


def at_once(path: str, _query: str, _headers: Headers) -> Answer | Fetch:
    """Do the least that a GET can mean: without a thread, or only the reading in one."""
    return Answer(200, _JSON, _answer) if path == "/bytes" else _fetch


def _fetch() -> Answer:
    return Answer(200, _JSON, (FOLDER / "object").read_bytes())


def _put(data: bytes) -> bytes:
    name = f"{os.getpid()}-{next(_numbers)}"
    temporary = FOLDER / "written" / f"{name}.tmp"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(handle, data)
    os.fsync(handle)
    os.close(handle)
    os.link(temporary, FOLDER / "written" / name)
    os.unlink(temporary)  # noqa: PTH108 - as bare as the rest
    folder = os.open(FOLDER / "written", os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)
    return b"{}"


_answer = (FOLDER / "answer").read_bytes()


def _loaded(_: str) -> Callable[..., Any]:
    adapter: Any = Adapter(
        application, RealEnvironment(), threads=16, most_waiting=1024, at_once=at_once
    )
    return adapter  # type: ignore[no-any-return]  # Granian calls its __rsgi__


if __name__ == "__main__":
    loops.register(Loops.asyncio.value)(new_loop)
    Server(
        "bare",
        address="127.0.0.1",
        port=int(sys.argv[2]),
        interface=Interfaces.RSGI,
        loop=Loops.asyncio,
        http=HTTPModes.http1,
        websockets=False,
        workers=2,
        log_enabled=False,
    ).serve(target_loader=_loaded)
