# SPDX-License-Identifier: Apache-2.0
"""`lochan fs upload`: files of this machine become objects of a branch."""

import mimetypes
import sys
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer

from lochan.cli.address import FolderAddress, Place, place_at
from lochan.cli.files import LocalFile, checksum_of, files_below, seen_at
from lochan.cli.on_lake import on_lake
from lochan.cli.options import PARALLEL, Force, Meta, Parallel, Recursive, pairs
from lochan.cli.show import Show, size
from lochan.cli.shown import counted
from lochan.cli.transfers import Share, each
from lochan.cli.verb import new_app
from lochan.client.lake import Lake
from lochan.errors import InvalidInput
from lochan.shapes.objects import ObjectStats

app = new_app()
STDIN: Final = Path("-")


class Options(NamedTuple):
    """How files are uploaded."""

    content_type: str
    metadata: dict[str, str]
    presign: bool
    force: bool


@on_lake(app, "upload")
def upload(  # noqa: PLR0913 - one an option
    show: Show,
    lake: Lake,
    source: Annotated[Path, typer.Argument(help="File, or folder with -r; - reads stdin.")],
    destination: FolderAddress,
    *,
    recursive: Recursive = False,
    sync: Annotated[
        bool, typer.Option("--sync", help="Skip files that the branch has already, alike.")
    ] = False,
    presign: Annotated[
        bool, typer.Option("--presign", help="Send bytes to the object store, past the server.")
    ] = False,
    parallel: Parallel = PARALLEL,
    content_type: Annotated[
        str, typer.Option("--content-type", help="MIME type; else by the file's name.")
    ] = "",
    meta: Meta = None,
    force: Force = False,
) -> None:
    """Upload a file, or with -r a folder, to a branch. A slash at the end keeps the file's name.

    Example: lochan fs upload ./raw my-lake/main/raw/ -r --sync
    """
    place = place_at(lake, destination)
    options = Options(content_type, pairs(meta), presign, force)
    if source == STDIN:
        _from_stdin(show, place, options)
        return
    if source.is_dir() != recursive:
        what = "is a folder; give -r" if source.is_dir() else "is no folder; leave -r out"
        raise InvalidInput(f"{source} {what}", code="wrong-kind")
    if recursive:
        place = place.as_folder()
        folder, found = source, sorted(files_below(source))
    else:
        folder, found = source.parent, [_one(source)]
    named = {file.path: _key(place, file.path, keep=recursive) for file in found}
    wanted = _without_alike(place, folder, found, named) if sync else found
    total = sum(file.size for file in wanted)

    def send(file: LocalFile) -> ObjectStats:
        share = Share(bar)
        return _send(place, named[file.path], folder / file.path, options, share)

    with show.bytes_bar(f"uploading {counted(len(wanted), 'file')}", total) as bar:
        made = each(lake.transport.environment, parallel, send, wanted)
    skipped = len(found) - len(wanted)
    unchanged = f", {skipped} unchanged" if skipped else ""
    where = place.uri if len(made) != 1 else f"{place.branch.uri}/{made[0].path}"
    show.done(
        f"uploaded {counted(len(made), 'file')}, {size(total)}, to {where}{unchanged}",
        uploaded=made,
        skipped=skipped,
        size_bytes=total,
    )


def _one(source: Path) -> LocalFile:
    found = seen_at(source.parent, source.name)
    if found is None:
        raise InvalidInput(f"there is no file {source}", code="no-file")
    if source.is_symlink():  # who names a link means what it leads to
        return found._replace(size=source.stat().st_size)
    return found


def _from_stdin(show: Show, place: Place, options: Options) -> None:
    if not place.path or place.path.endswith("/"):
        raise InvalidInput("stdin has no name; write lochan://repository/branch/path")
    with show.bytes_bar("uploading") as bar:
        made = place.branch.object(place.path).upload(
            iter(lambda: sys.stdin.buffer.read(1 << 20), b""),
            content_type=options.content_type or _type_of(place.path),
            metadata=options.metadata,
            presign=options.presign,
            progress=bar.reach,
            force=options.force,
        )
    amount = made.size_bytes or 0
    show.done(
        f"uploaded {size(amount)} to {place.uri}", uploaded=[made], skipped=0, size_bytes=amount
    )


def _send(place: Place, key: str, file: Path, options: Options, share: Share) -> ObjectStats:
    return place.branch.object(key).upload(
        file,
        content_type=options.content_type or _type_of(file.name),
        metadata=options.metadata,
        presign=options.presign,
        progress=share,
        force=options.force,
    )


def _without_alike(
    place: Place, folder: Path, found: list[LocalFile], named: dict[str, str]
) -> list[LocalFile]:
    there = {one.path: one for one in place.branch.objects(place.path, user_metadata=False)}

    def is_alike(file: LocalFile) -> bool:
        other = there.get(named[file.path])
        return (
            other is not None
            and other.size_bytes == file.size
            and other.checksum == checksum_of(folder / file.path)
        )

    return [file for file in found if not is_alike(file)]


def _key(place: Place, path: str, *, keep: bool) -> str:
    if keep or not place.path or place.path.endswith("/"):
        return f"{place.path}{path}"
    return place.path


def _type_of(name: str) -> str:
    return mimetypes.guess_type(name)[0] or ""
