# SPDX-License-Identifier: Apache-2.0
"""A process that has imported the server and forks one for each line that asks for it.

{"start": {variable: value, ...}}      the new server's process id
{"wait": process id, "seconds": n}     its status, or null when it has not ended by then
"""

import json
import os
import sys
import time

from lochan.bootstrap.process import serve
from lochan.config.read import server_settings


def start(variables: dict[str, str]) -> int:
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)  # the tests' lines are not the server's
        os.dup2(2, 1)
        os.environ.update(variables)
        serve(server_settings())
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    finally:
        os._exit(status)


def wait(pid: int, seconds: float) -> int | None:
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    return None


if __name__ == "__main__":
    for line in sys.stdin:
        asked = json.loads(line)
        answer = (
            start(asked["start"]) if "start" in asked else wait(asked["wait"], asked["seconds"])
        )
        print(json.dumps(answer), flush=True)
