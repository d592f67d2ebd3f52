# SPDX-License-Identifier: Apache-2.0
"""Where a folder belongs: `.lakefs_ref.yaml`, the file that lakectl writes, too.

    src: lakefs://my-lake/main/raw/      what the folder mirrors
    at_head: 5d2f...                     the commit with which it was last alike

Either program can go on with a folder that the other one linked. A name that lakectl left under
`active_operation` tells that it was interrupted: all but a forced checkout are refused then.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer
import yaml

from lochan.client.branch import Branch
from lochan.client.lake import Lake
from lochan.client.repository import Repository
from lochan.environment import Environment
from lochan.errors import Conflict, InvalidInput, NotFound
from lochan.model.uri import Uri, parse_uri

LINK_FILE: Final = ".lakefs_ref.yaml"
OWN_FOLDER: Final = ".lochan"  # beside it: what is remembered of files

Folder = Annotated[Path, typer.Argument(help="A linked folder, or one below it; else this one.")]
HERE: Final = Path()


class Link(NamedTuple):
    """A folder, the address that it mirrors, and the commit with which it was last alike."""

    root: Path
    source: Uri
    at_head: str
    interrupted: str = ""

    @property
    def prefix(self) -> str:
        """Give what all keys of the folder begin with."""
        path = self.source.path
        return path if not path or path.endswith("/") else f"{path}/"

    def repository(self, lake: Lake) -> Repository:
        """Name the repository."""
        return lake.repository(self.source.repository)

    def branch(self, lake: Lake) -> Branch:
        """Name the branch."""
        return self.repository(lake).branch(self.source.ref)


def link_of(folder: Path, *, even_interrupted: bool = False) -> Link:
    """Read the link of a folder, or of the nearest above it. Raises NotFound, InvalidInput."""
    start = folder.resolve()
    for at in (start, *start.parents):
        if (at / LINK_FILE).is_file():
            found = _read(at)
            if found.interrupted and not even_interrupted:
                message = (
                    f"{found.interrupted!r} was interrupted in {at};"
                    " `lochan local checkout --force` makes the folder what its commit is"
                )
                raise Conflict(message, code="interrupted")
            return found
    message = (
        f"{folder.absolute()} is linked to no branch; `lochan local clone` makes such a folder"
    )
    raise NotFound(message, code="not-linked")


def links_below(folder: Path) -> Iterator[Link]:
    """Give all links in a folder and below it."""
    for at, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in {OWN_FOLDER, ".git"})
        if LINK_FILE in files:
            yield _read(Path(at))


def write_link(link: Link, environment: Environment) -> None:
    """Write a link; it is replaced as a whole."""
    source = str(link.source) if link.source.path else f"{link.source}/"  # as lakectl reads it
    told = {"src": source, "at_head": link.at_head}
    fresh = link.root / OWN_FOLDER / environment.new_id()
    fresh.parent.mkdir(exist_ok=True)
    fresh.write_text(yaml.safe_dump(told, sort_keys=False))
    fresh.replace(link.root / LINK_FILE)


def new_link(root: Path, source: str, lake: Lake) -> Link:
    """Link a folder to an address, as of now. Raises NotFound for what is no branch."""
    found = parse_uri(source if "://" in source else f"lochan://{source}")
    if not found.ref:
        raise InvalidInput(f"{source!r} names no branch; write lochan://repository/branch/prefix/")
    place = Uri(repository=found.repository, ref=found.ref, path=found.path, scheme="lakefs")
    link = Link(root, place, "")
    address = place.path and link.prefix
    placed = Uri(repository=place.repository, ref=place.ref, path=address, scheme="lakefs")
    return Link(root, placed, link.branch(lake).get_commit().id)


def _read(root: Path) -> Link:
    file = root / LINK_FILE
    try:
        told = yaml.safe_load(file.read_text())
        source, head = parse_uri(told["src"]), str(told["at_head"])
        return Link(root, source, head, str(told.get("active_operation") or ""))
    except (yaml.YAMLError, TypeError, KeyError, InvalidInput) as error:
        message = (
            f"{file} is damaged; write `src: lakefs://repository/branch/` and `at_head:` in it"
        )
        raise InvalidInput(message, code="damaged-link") from error
