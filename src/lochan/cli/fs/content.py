# SPDX-License-Identifier: Apache-2.0
"""`lochan fs cat`, `presign` and `stage`: an object's bytes, and where they lie."""

import sys
from typing import Annotated

import typer

from lochan.cli.address import ObjectAddress, object_at
from lochan.cli.on_lake import on_lake
from lochan.cli.options import Force, Meta, pairs
from lochan.cli.show import Show
from lochan.cli.verb import new_app
from lochan.client.connect import INSIDE
from lochan.client.lake import Lake
from lochan.errors import InvalidInput

app = new_app()


@on_lake(app, "cat")
def cat(show: Show, lake: Lake, address: ObjectAddress) -> None:
    """Write an object's bytes to stdout; with --json its text.

    Example: lochan fs cat my-lake/main/raw/a.csv
    """
    place = object_at(lake, address)
    named = place.branch.object(place.path)
    if not show.json:
        named.download(sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    try:
        text = named.read().decode()
    except UnicodeDecodeError as error:
        message = f"{place.uri} is no text, and JSON holds nothing else; leave --json out"
        raise InvalidInput(message, code="not-text") from error
    show.value({"path": place.path, "text": text})


@on_lake(app, "presign")
def presign(show: Show, lake: Lake, address: ObjectAddress) -> None:
    """Give a URL by which anybody can read an object for a while.

    Example: curl "$(lochan fs presign my-lake/main/raw/a.csv)"
    """
    place = object_at(lake, address)
    found = place.branch.object(place.path).stat(presign=True)
    if found.physical_address.startswith(INSIDE):
        message = "with --lake no server listens to whom such a URL could lead; start one"
        raise InvalidInput(message, code="no-server")
    expiry = found.physical_address_expiry
    show.done(found.physical_address, url=found.physical_address, expires=expiry)


@on_lake(app, "stage")
def stage(  # noqa: PLR0913 - one an option
    show: Show,
    lake: Lake,
    address: ObjectAddress,
    *,
    location: Annotated[
        str, typer.Option("--location", help="Where the bytes lie, as s3://bucket/key.")
    ],
    size_bytes: Annotated[int, typer.Option("--size", min=0, help="How many bytes.")],
    checksum: Annotated[str, typer.Option("--checksum", help="What their store calls ETag.")],
    content_type: Annotated[str, typer.Option("--content-type", help="MIME type.")] = "",
    mtime: Annotated[
        int | None, typer.Option("--mtime", help="When it was written, seconds since 1970.")
    ] = None,
    meta: Meta = None,
    force: Force = False,
) -> None:
    """Make an object of bytes that lie in a store already; they are not copied.

    Example: lochan fs stage my-lake/main/a.csv --location s3://raw/a.csv --size 7 --checksum 9e107d
    """
    place = object_at(lake, address)
    made = place.branch.object(place.path).stage(
        location,
        checksum=checksum,
        size_bytes=size_bytes,
        content_type=content_type,
        mtime=mtime,
        metadata=pairs(meta),
        force=force,
    )
    if show.json:
        show.value(made)
    else:
        show.line(f"staged {place.uri}")
