# SPDX-License-Identifier: Apache-2.0
"""`lochan fs download`: objects become files of this machine."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from lochan.cli.address import ObjectAddress, Place, object_at, place_at
from lochan.cli.files import can_be_file, checksum_of, target_of
from lochan.cli.fs.resume import FROM_BYTES, download_by_pieces
from lochan.cli.on_lake import on_lake
from lochan.cli.options import PARALLEL, Parallel, Recursive
from lochan.cli.show import Show, size
from lochan.cli.shown import counted
from lochan.cli.transfers import Share, each
from lochan.cli.verb import new_app
from lochan.client.lake import Lake
from lochan.errors import InvalidInput, NotFound
from lochan.shapes.objects import ObjectStats

app = new_app()


@on_lake(app, "download")
def download(
    show: Show,
    lake: Lake,
    source: ObjectAddress,
    destination: Annotated[
        Path | None, typer.Argument(help="File or folder; else the object's name, here.")
    ] = None,
    *,
    recursive: Recursive = False,
    sync: Annotated[
        bool, typer.Option("--sync", help="Skip files that are there already, alike.")
    ] = False,
    parallel: Parallel = PARALLEL,
) -> None:
    """Download an object, or with -r all below a folder; a large one goes on where it broke off.

    Example: lochan fs download my-lake/main/raw/ ./raw -r
    """
    if recursive:
        place = place_at(lake, source).as_folder()
        folder = destination or Path(place.path.rstrip("/").rpartition("/")[2] or ".")
        wanted = _below(show, place, folder)
    else:
        place = object_at(lake, source)
        found = place.branch.object(place.path).stat()
        wanted = [(found, _file(place, destination))]
    if sync:
        listed, wanted = wanted, [(one, file) for one, file in wanted if not _is_alike(one, file)]
        skipped = len(listed) - len(wanted)
    else:
        skipped = 0
    total = sum(one.size_bytes or 0 for one, _ in wanted)

    def fetch(job: tuple[ObjectStats, Path]) -> None:
        one, file = job
        named = place.branch.object(one.path)
        if (one.size_bytes or 0) >= FROM_BYTES:
            download_by_pieces(named, file, Share(bar))
        else:
            named.download(file, progress=Share(bar))

    with show.bytes_bar(f"downloading {counted(len(wanted), 'object')}", total) as bar:
        each(lake.transport.environment, parallel, fetch, wanted)
    unchanged = f", {skipped} unchanged" if skipped else ""
    show.done(
        f"downloaded {counted(len(wanted), 'object')}, {size(total)}{unchanged}",
        files=[str(file) for _, file in wanted],
        skipped=skipped,
        size_bytes=total,
    )


def _file(place: Place, destination: Path | None) -> Path:
    name = place.path.rstrip("/").rpartition("/")[2]
    if destination is not None and not destination.is_dir():
        return destination
    if not can_be_file(name):
        raise InvalidInput(f"no file can be called {name!r}; say how the file is to be called")
    return (destination or Path()) / name


def _below(show: Show, place: Place, folder: Path) -> list[tuple[ObjectStats, Path]]:
    found = list(place.branch.objects(place.path, user_metadata=False))
    if not found:
        raise NotFound(f"there is no object below {place.uri}")
    usable = [one for one in found if can_be_file(one.path[len(place.path) :])]
    if left := len(found) - len(usable):
        show.note(f"{left} objects are left out: no file can be called as they are")
    return list(_targets(usable, len(place.path), folder))


def _targets(
    found: Iterable[ObjectStats], start: int, folder: Path
) -> Iterable[tuple[ObjectStats, Path]]:
    folder.mkdir(parents=True, exist_ok=True)
    for one in found:
        yield one, target_of(folder, one.path[start:])


def _is_alike(found: ObjectStats, file: Path) -> bool:
    return (
        file.is_file()
        and file.stat().st_size == found.size_bytes
        and checksum_of(file) == found.checksum
    )
