# SPDX-License-Identifier: Apache-2.0
"""`lochan worker`: run the jobs of pipelines beside the servers of a lake, or instead of them."""

import signal
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Annotated

import typer

from lochan.bootstrap.scheduling import Scheduling
from lochan.cli.settings import Config, Kv, LakeFolder, lake_settings, opened_lake
from lochan.cli.show import Show
from lochan.cli.verb import new_app, verb
from lochan.environment import RealEnvironment
from lochan.logs import Lines, open_log

app = new_app()


@verb(app, "worker")
def worker(
    show: Show,
    *,
    once: Annotated[bool, typer.Option("--once", help="End when there is nothing to do.")] = False,
    config: Config = None,
    lake: LakeFolder = None,
    kv: Kv = None,
) -> None:
    """Decide what must run, and run it, until SIGTERM or Ctrl-C.

    Each job has a runner and a driver in processes of their own. Any number of workers and servers
    may look after one lake.

    Example: lochan worker --lake ./lake --once
    """
    settings = lake_settings(lake, kv, config)
    environment = RealEnvironment()
    with opened_lake(settings) as opened, TemporaryDirectory(prefix="lochan-worker-") as folder:
        lines = Lines(settings.logging.file)
        log = open_log(lines, environment, level=settings.logging.level, format="auto")
        scheduling = Scheduling(opened, settings, log, Path(folder))
        ending = _signalled()
        show.note("looking after pipelines")
        try:
            while not ending.is_set() and (scheduling.turn() or not once):
                ending.wait(settings.pipelines.pause_seconds)
        finally:
            scheduling.close()
            lines.close()


def _signalled() -> Event:
    """Give what is set when somebody asks for the end; runners are ended first, then we are."""
    ending = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ending.set())
    return ending
