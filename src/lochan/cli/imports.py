# SPDX-License-Identifier: Apache-2.0
"""`lochan import`: objects that lie elsewhere come onto a branch, and are not copied."""

from pathlib import Path
from typing import Annotated

import typer

from lochan.cli.address import place_at
from lochan.cli.on_lake import on_lake
from lochan.cli.options import Force, Meta, pairs
from lochan.cli.show import Show
from lochan.cli.shown import tell_commit
from lochan.cli.verb import new_app
from lochan.client.connect import INSIDE
from lochan.client.lake import Lake
from lochan.errors import InvalidInput

app = new_app()


@on_lake(app, "import")
def import_objects(  # noqa: PLR0913 - one an option
    show: Show,
    lake: Lake,
    *,
    source: Annotated[
        str,
        typer.Option("--from", help="Where they lie, as s3://bucket/prefix/ or file:///folder/."),
    ],
    destination: Annotated[
        str, typer.Option("--to", help="Where they go, as lochan://repository/branch/prefix/.")
    ],
    message: Annotated[str, typer.Option("--message", "-m", help="What the commit is about.")] = "",
    meta: Meta = None,
    one: Annotated[
        bool, typer.Option("--object", help="It is one object, not all below a prefix.")
    ] = False,
    inventory: Annotated[
        str,
        typer.Option(
            "--inventory",
            metavar="FILE",
            help="Address of a Parquet or CSV file that lists what lies there.",
        ),
    ] = "",
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Begin it, and do not wait for its end.")
    ] = False,
    force: Force = False,
) -> None:
    """Bring objects that lie elsewhere onto a branch by one commit; no bytes are copied.

    Example: lochan import --from s3://raw/2024/ --to my-lake/main/raw/2024/ -m "load 2024"
    """
    place = place_at(lake, destination)
    told = place.branch.import_data(message, pairs(meta), force=force)
    if inventory and one:
        raise InvalidInput("--object is one object, which no --inventory need list")
    if inventory:
        told.inventory(_address(inventory), source, place.path)
    elif one:
        told.object(source, place.path)
    else:
        told.prefix(source, place.path)
    if no_wait:
        if lake.transport.endpoint == INSIDE:
            message = "with --lake the import is done by this process, which must wait for it"
            raise InvalidInput(message, code="must-wait")
        begun = told.start()
        show.done(f"import {begun} has begun", id=begun)
        return
    with show.count_bar("importing objects") as bar:
        made = told.run(bar.reach)
    tell_commit(show, made, "imported as")


def _address(file: str) -> str:
    return file if "://" in file else Path(file).absolute().as_uri()
