# SPDX-License-Identifier: Apache-2.0
"""`lochan spark`: a shell, a script, or a program for a cluster, with Java, Python and lake found.

    lochan spark shell --lake ./lake
    lochan spark run --lake ./lake report.py 2026-11-16
    lochan spark submit --master spark://host:7077 report.py -- --conf spark.executor.memory=2g

A script gets its session by `lochan.spark.session()`, which takes lake and master from here.
"""

import code
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from lochan.cli.on_lake import on_lake
from lochan.cli.show import Show
from lochan.cli.verb import new_app, verb
from lochan.client.lake import Lake
from lochan.config.surroundings import tell_children
from lochan.errors import NotFound

app = new_app("Run Spark on a lake.")
_SESSION: Final = "lochan.spark.session"
Master = Annotated[
    str, typer.Option("--master", help="local[4], spark://host:7077, yarn, sc://host:15002, ...")
]
LakePlace = Annotated[
    Path | None, typer.Option("--lake", help="Folder of a lake; without, the settings' server.")
]
Words = Annotated[list[str], typer.Argument(metavar="SCRIPT [WORD]...", help="What runs.")]


@on_lake(app, "shell")
def shell(show: Show, lake: Lake, *, master: Master = "") -> None:
    """Open a Python shell with `spark` and `lake` in it.

    Example: lochan spark shell --lake ./lake
    """
    spark = _sessions().session(lake, master=master or None)
    show.note(f"Spark {spark.version} as `spark`, {lake!r} as `lake`")
    names = {"spark": spark, "lake": lake, "lochan": import_module("lochan")}
    try:
        code.interact(banner="", local=names, exitmsg="")
    finally:
        spark.stop()


@verb(app, "run")
def run(show: Show, words: Words, *, lake: LakePlace = None, master: Master = "") -> None:
    """Run a Python script beside the driver.

    Example: lochan spark run --lake ./lake report.py -- --day 2026-11-16
    """
    _tell(lake, master)
    _started(show, [sys.executable, *words])


@verb(app, "submit")
def submit(show: Show, words: Words, *, lake: LakePlace = None, master: Master = "") -> None:
    """Hand a script to spark-submit; words that it understands may go before the script.

    Example: lochan spark submit --master spark://host:7077 -- --name nightly report.py
    """
    _tell(lake, master)
    found = find_spec("pyspark")
    home = Path(str(found and found.origin)).parent
    options = [word for key, value in _sessions().settings().items() for word in _conf(key, value)]
    chosen = ["--master", master] if master else []
    _started(show, [str(home / "bin" / "spark-submit"), *chosen, *options, *words])


def _conf(key: str, value: str) -> tuple[str, str]:
    return "--conf", f"{key}={value}"


def _started(show: Show, command: list[str]) -> None:
    """Run a program in front of the user; its status is ours."""
    del show
    status = subprocess.run(command, check=False).returncode  # noqa: S603 - what the user asked for
    if status:
        raise typer.Exit(status)


def _tell(lake: Path | None, master: str) -> None:
    sessions = _sessions()
    sessions.tell_processes()
    told = {sessions.LAKE_VARIABLE: str(lake.absolute())} if lake else {}
    if master:
        told[sessions.MASTER_VARIABLE] = master
    tell_children(told)


def _sessions() -> Any:  # noqa: ANN401 - a module, imported where PySpark is there
    if find_spec("pyspark") is None:
        message = "Spark is not installed: pip install 'lochan[spark]'"
        raise NotFound(message, code="spark-not-installed")
    import_module(_SESSION)
    return sys.modules[_SESSION]
