# SPDX-License-Identifier: Apache-2.0
"""`lochan fs ls`, `du` and `stat`: what objects there are."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import typer

from lochan.cli.address import FolderAddress, ObjectAddress, object_at, place_at
from lochan.cli.on_lake import on_lake
from lochan.cli.options import Limit, Recursive
from lochan.cli.show import Show, size, when
from lochan.cli.verb import new_app
from lochan.client.lake import Lake
from lochan.shapes.objects import ObjectStats

app = new_app()


@on_lake(app, "ls")
def ls(
    show: Show,
    lake: Lake,
    folder: FolderAddress,
    *,
    recursive: Recursive = False,
    long: Annotated[bool, typer.Option("--long", "-l", help="Sizes and times, too.")] = False,
    limit: Limit = None,
) -> None:
    """List objects whose paths begin with a prefix, and the folders among them.

    Example: lochan fs ls my-lake/main/raw/ -l
    """
    place = place_at(lake, folder)
    found = place.branch.objects(
        place.path, delimiter="" if recursive else "/", max_amount=limit, user_metadata=show.json
    )
    if show.json:
        show.rows(found)
    elif long:
        show.rows(
            found,
            {
                "size": lambda one: "" if one.size_bytes is None else size(one.size_bytes),
                "modified": lambda one: when(one.mtime) if _is_object(one) else "",
                "path": lambda one: one.path,
            },
        )
    else:
        for one in found:
            show.line(one.path, style="" if _is_object(one) else "blue")


@on_lake(app, "stat")
def stat(show: Show, lake: Lake, address: ObjectAddress) -> None:
    """Show what is known of an object.

    Example: lochan fs stat my-lake/main/raw/a.csv
    """
    place = object_at(lake, address)
    found = place.branch.object(place.path).stat()
    show.record(
        found,
        {
            "path": lambda one: one.path,
            "size": lambda one: f"{size(one.size_bytes or 0)} ({one.size_bytes} bytes)",
            "modified": lambda one: when(one.mtime),
            "checksum": lambda one: one.checksum,
            "content type": lambda one: one.content_type,
            "stored at": lambda one: one.physical_address,
            **{f"meta {key}": _given(value) for key, value in (found.metadata or {}).items()},
        },
    )


@on_lake(app, "du")
def du(show: Show, lake: Lake, folder: FolderAddress) -> None:
    """Count objects and bytes under a prefix, for each folder on its first level and in sum.

    Example: lochan fs du my-lake/main/
    """
    place = place_at(lake, folder)
    whole, parts = Used(place.path), dict[str, Used]()
    for one in place.branch.objects(place.path, user_metadata=False):
        name, slash, _ = one.path[len(place.path) :].partition("/")
        part = parts.setdefault(f"{place.path}{name}{slash}", Used(f"{place.path}{name}{slash}"))
        for used in (part, whole):
            used.objects += 1
            used.size_bytes += one.size_bytes or 0
    if show.json:
        show.value({"total": whole, "parts": list(parts.values())})
        return
    show.rows(
        [*parts.values(), whole],
        {
            "size": lambda one: size(one.size_bytes),
            "objects": lambda one: one.objects,
            "path": lambda one: "total" if one is whole else one.path,
        },
    )


@dataclass(slots=True)
class Used:
    """Objects and bytes below a prefix."""

    path: str
    objects: int = 0
    size_bytes: int = 0


def _is_object(found: ObjectStats) -> bool:
    return found.path_type == "object"


def _given(value: str) -> Callable[[ObjectStats], object]:
    return lambda _: value
