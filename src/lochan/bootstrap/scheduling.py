# SPDX-License-Identifier: Apache-2.0
"""The scheduler of a server, or of `lochan worker`: a thread that takes turns.

Of the workers of one server one has the scheduler: the one that got the lock on a file which they
share. It goes with the process, so another worker takes over. Several servers have one each; what
they decide and drive is kept apart by the store.
"""

import fcntl
from collections.abc import Sequence
from pathlib import Path
from threading import Event, Thread
from typing import IO, Final

from lochan.bootstrap.job_runner import Order, Runner, start_runner
from lochan.config.server import Settings
from lochan.config.values import Address
from lochan.errors import LochanError
from lochan.logs.log import Log
from lochan.operations.lake import Lake
from lochan.pipelines.model.records import Job
from lochan.pipelines.schedule.scheduler import Scheduler

LOCK: Final = "scheduler.lock"
_LOCK_S: Final = 2.0
_END_S: Final = 5.0


class Scheduling:
    """The scheduler's thread, between `start` and `close`."""

    def __init__(self, lake: Lake, settings: Settings, log: Log, folder: Path) -> None:
        """Look after a lake's pipelines; `folder` is shared by the workers of this server."""
        self._lake = lake
        self._settings = settings
        self._log = log
        self._folder = folder
        self._stopping = Event()
        self._runners: list[Runner] = []
        self._scheduler = Scheduler(
            lake, self._start, self._failed, at_once=settings.pipelines.jobs_at_once
        )
        self._thread = Thread(target=self._run, name="lochan schedule", daemon=True)

    def start(self) -> None:
        """Begin, if settings want it."""
        if self._settings.pipelines.enabled:
            self._thread.start()

    def close(self) -> None:
        """Take no further turn, and end the runners; other schedulers take their jobs up."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(_END_S)
        for runner in self._runners:
            if runner.is_alive():
                runner.end(_END_S)

    def turn(self) -> Sequence[str]:
        """Look once; gives the jobs that are driven from here."""
        self._scheduler.turn()
        return self._scheduler.driven

    def _run(self) -> None:
        with (self._folder / LOCK).open("wb") as lock:
            while not self._stopping.is_set():
                if not _locked(lock):
                    self._stopping.wait(_LOCK_S)
                    continue
                self._turns()

    def _turns(self) -> None:
        while not self._stopping.wait(self._settings.pipelines.pause_seconds):
            try:
                self._scheduler.turn()
            except Exception:  # noqa: BLE001 - the next turn may do better, whatever this was
                self._log.exception("the scheduler failed")

    def _start(self, job: Job) -> Runner:
        settings = self._settings
        secret = settings.auth.encrypt.secret_key
        path = self._folder / f"job-{job.id}.log"
        order = Order(
            job=job.id,
            kv_url=settings.kv_url,
            readable=tuple(map(str, settings.blockstore.readable_folders)),
            places=settings.pipelines.egress_places,
            log=str(path),
            cores=settings.pipelines.cores,
            server=_server(settings),
            secret=secret.derive("access").hex() if secret else "",
        )
        with path.open("ab") as log:
            runner = start_runner(order, log)
        self._runners = [*(one for one in self._runners if one.is_alive()), runner]
        self._log.info("job started", job=job.id, pipeline=job.pipeline, log=str(path))
        return runner

    def _failed(self, error: LochanError) -> None:
        if not self._stopping.is_set():  # a store that closes is no news
            self._log.warning("scheduling was put off", error=error.message)


def _server(settings: Settings) -> str:
    """Say how a driver on this machine reaches the server."""
    if settings.public_url:
        return settings.public_url
    scheme = "https" if settings.tls.cert_file else "http"
    host = settings.listen.host
    reached = "127.0.0.1" if host in {"0.0.0.0", "::"} else host  # noqa: S104 - to connect to
    return f"{scheme}://{Address(reached, settings.listen.port)}"


def _locked(lock: IO[bytes]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
