# SPDX-License-Identifier: Apache-2.0
"""`lochan refs`: all branches, tags and commits as files of the repository's store, and back."""

import sys
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer

from lochan.cli.address import RepositoryAddress, repository_at
from lochan.cli.on_lake import on_lake
from lochan.cli.options import Force
from lochan.cli.show import Show
from lochan.cli.verb import new_app
from lochan.client.lake import Lake
from lochan.errors import InvalidInput
from lochan.shapes.refs import RefsDump

app = new_app("Write all refs of a repository to files of its store, and read them back.")
_STDIN: Final = Path("-")


@on_lake(app, "dump")
def dump(show: Show, lake: Lake, repository: RepositoryAddress) -> None:
    """Write all refs to files, and name these in JSON: keep it for `refs restore`.

    Example: lochan refs dump my-lake > my-lake.refs.json
    """
    with show.count_bar("writing refs"):
        found = repository_at(lake, repository).settings.dump_refs()
    show.value(found)


@on_lake(app, "restore")
def restore(
    show: Show,
    lake: Lake,
    repository: RepositoryAddress,
    *,
    file: Annotated[Path, typer.Option("--file", help="What `refs dump` wrote; - reads stdin.")],
    force: Force = False,
) -> None:
    """Read all refs into a repository that was made bare.

    Example: lochan refs restore my-lake --file my-lake.refs.json
    """
    text = sys.stdin.read() if file == _STDIN else file.read_text()
    try:
        told = msgspec.json.decode(text, type=RefsDump)
    except msgspec.DecodeError as error:
        message = f"{file} is not what `lochan refs dump` wrote: {error}"
        raise InvalidInput(message, code="not-a-dump") from error
    named = repository_at(lake, repository)
    with show.count_bar("reading refs"):
        named.settings.restore_refs(told, force=force)
    show.done(f"restored the refs of {named.id}", id=named.id)
