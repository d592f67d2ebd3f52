# SPDX-License-Identifier: Apache-2.0
"""The yardstick of the REST API: bare handlers behind the same adapter and the same Granian.

They are sent the very requests that Lochan is, and answer with the bytes that it answered with,
headers too, which lie in the folder:

GET .../stat      stat.json
GET .../objects   get.json, with the body read from the file `object` each time
POST              put.json, after temp, fsync, link, fsync of the folder
"""

import os
import sys
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
from granian import loops
from granian.constants import HTTPModes, Interfaces, Loops
from granian.server import Server

from lochan.environment import RealEnvironment
from lochan.web.adapter import Adapter, new_loop
from lochan.web.at_once import Answer, Fetch
from lochan.web.environ import Headers

FOLDER = Path(sys.argv[1])
_numbers = count()


def _answer(name: str) -> Answer:
    return msgspec.json.decode((FOLDER / name).read_bytes(), type=Answer)


_stat, _get, _put_answer = map(_answer, ("stat.json", "get.json", "put.json"))


def application(environ: dict[str, Any], start: Callable[..., object]) -> Iterable[bytes]:
    """Do the least that a PUT can mean."""
    _put(environ["wsgi.input"].read())
    start(f"{_put_answer.status} Created", _put_answer.headers)
    return [_put_answer.body]


def at_once(path: str, _query: str, _headers: Headers) -> Answer | Fetch:
    """Do the least that a GET can mean: without a thread, or only the reading in one."""
    return _stat if path.endswith("/stat") else _fetch


def _fetch() -> Answer:
    return Answer(_get.status, _get.headers, (FOLDER / "object").read_bytes())


def _put(data: bytes) -> None:
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
