# SPDX-License-Identifier: Apache-2.0
"""`lochan fs cp`, `mv` and `rm`: objects get other places, or none; no bytes move."""

from typing import Annotated

import typer

from lochan.cli.address import ObjectAddress, Place, object_at, place_at
from lochan.cli.on_lake import on_lake
from lochan.cli.options import PARALLEL, Force, Parallel, Recursive, Yes, sure
from lochan.cli.show import Show
from lochan.cli.shown import counted
from lochan.cli.transfers import each
from lochan.cli.verb import new_app
from lochan.client.lake import Lake
from lochan.errors import InvalidInput, NotFound

app = new_app()

Destination = Annotated[
    str, typer.Argument(help="lochan://repository/branch/path; a slash at its end keeps the name.")
]


@on_lake(app, "cp")
def cp(
    show: Show,
    lake: Lake,
    source: ObjectAddress,
    destination: Destination,
    *,
    recursive: Recursive = False,
    parallel: Parallel = PARALLEL,
    force: Force = False,
) -> None:
    """Copy an object, or all in a folder, within a repository: from any ref to a branch.

    Example: lochan fs cp my-lake/v1.0/raw/a.csv my-lake/main/old/
    """
    begins, ends = place_at(lake, source), place_at(lake, destination)
    _require_same_repository(begins, ends)
    if not recursive:
        path = _named(begins, ends)
        made = ends.branch.object(path).copy_from(begins.path, begins.branch.id, force=force)
        show.done(f"copied to {ends.branch.uri}/{path}", copied=1, objects=[made])
        return
    begins, ends = begins.as_folder(), ends.as_folder()
    paths = _paths(begins)

    def copy(path: str) -> None:
        target = f"{ends.path}{path[len(begins.path) :]}"
        ends.branch.object(target).copy_from(path, begins.branch.id, force=force)
        bar.advance(1)

    with show.count_bar("copying", len(paths)) as bar:
        each(lake.transport.environment, parallel, copy, paths)
    show.done(f"copied {counted(len(paths), 'object')} to {ends.uri}", copied=len(paths))


@on_lake(app, "mv")
def mv(
    show: Show,
    lake: Lake,
    source: ObjectAddress,
    destination: Destination,
    *,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")] = False,
    force: Force = False,
) -> None:
    """Give an object of a branch another path, or with slashes at both ends all in a folder.

    Example: lochan fs mv my-lake/main/raw/ my-lake/main/bronze/
    """
    begins, ends = object_at(lake, source), place_at(lake, destination)
    _require_same_repository(begins, ends)
    if begins.branch.id != ends.branch.id:
        message = "objects move within a branch; between branches copy them, then delete them"
        raise InvalidInput(message, code="other-branch")
    path = ends.path if begins.path.endswith("/") else _named(begins, ends)
    count = begins.branch.rename(begins.path, path, overwrite=overwrite, force=force)
    show.done(f"moved {counted(count, 'object')} to {ends.branch.uri}/{path}", renamed=count)


@on_lake(app, "rm")
def rm(
    show: Show,
    lake: Lake,
    address: ObjectAddress,
    *,
    recursive: Recursive = False,
    yes: Yes = False,
    force: Force = False,
) -> None:
    """Delete an object of a branch, or all in a folder, which asks before.

    Example: lochan fs rm my-lake/main/raw/ -r --yes
    """
    place = place_at(lake, address)
    if not recursive:
        named = object_at(lake, address)
        found = named.branch.object(named.path)
        found.stat()
        found.delete(force=force)
        show.done(f"deleted {place.uri}", deleted=1)
        return
    place = place.as_folder()
    paths = _paths(place)
    sure(f"Delete {counted(len(paths), 'object')} below {place.uri}?", yes=yes)
    with show.count_bar("deleting", len(paths)) as bar:

        def told(path: str) -> str:
            bar.advance(1)
            return path

        place.branch.delete_objects(map(told, paths), force=force)
    show.done(f"deleted {counted(len(paths), 'object')} below {place.uri}", deleted=len(paths))


def _paths(place: Place) -> list[str]:
    found = [one.path for one in place.branch.objects(place.path, user_metadata=False)]
    if not found:
        raise NotFound(f"there is no object below {place.uri}")
    return found


def _named(source: Place, destination: Place) -> str:
    if destination.path and not destination.path.endswith("/"):
        return destination.path
    return f"{destination.path}{source.path.rpartition('/')[2]}"


def _require_same_repository(source: Place, destination: Place) -> None:
    if source.branch.repository_id != destination.branch.repository_id:
        message = (
            "objects are shared within a repository alone; between two of them use"
            " `lochan fs download` and `lochan fs upload`"
        )
        raise InvalidInput(message, code="other-repository")
