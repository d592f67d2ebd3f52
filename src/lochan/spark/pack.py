# SPDX-License-Identifier: Apache-2.0
"""Our package in one file: with all that it needs of this environment, or its own Python alone.

    <cache>/environment-<digest>.tar.gz    site-packages of lochan and what it requires, pyarrow too
    <cache>/sources-<digest>.zip           the *.py of lochan, and its entry points

The digest is that of names and versions, and of sizes and times of our own files: each archive is
made once.
"""

import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Final

import lochan

_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")
_ALSO: Final = ("pyarrow", "obstore")  # where they are installed
_LEFT_OUT: Final = frozenset({"__pycache__"})
_POINTS: Final = frozenset({"METADATA", "entry_points.txt"})
_FASTEST: Final = 1


def packed_environment(cache: Path) -> Path:
    """Give an archive of the packages that executors of the same platform need."""
    found = list(_distributions())
    names = sorted(f"{one.name}=={one.version}" for one in found)

    def fill(target: Path) -> None:
        with tarfile.open(target, "w:gz", compresslevel=_FASTEST) as archive:
            for place, name in [*_installed(found), *_own("*"), *_own_points()]:
                archive.add(place, name, recursive=False)

    return _made(cache, "environment", ".tar.gz", [*names, *_own_versions()], fill)


def packed_sources(cache: Path) -> Path:
    """Give an archive of our own Python files."""

    def fill(target: Path) -> None:
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for place, name in [*_own("*.py"), *_own_points()]:
                archive.write(place, name)

    return _made(cache, "sources", ".zip", list(_own_versions()), fill)


def _made(
    cache: Path, name: str, suffix: str, known_by: list[str], fill: Callable[[Path], None]
) -> Path:
    digest = sha256("\n".join(known_by).encode()).hexdigest()[:16]
    target = cache / f"{name}-{digest}{suffix}"
    if not target.exists():
        draft = target.with_name(f".{target.name}.new")
        fill(draft)
        draft.replace(target)
    return target


def _distributions() -> Iterator[metadata.Distribution]:
    """Give what our package requires, and what that requires, once each."""
    seen: set[str] = set()
    waiting = ["lochan", *_ALSO]
    while waiting:
        name = waiting.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        if key in seen:
            continue
        seen.add(key)
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # of another platform, or an extra
            continue
        if key != "lochan":
            yield found
        for needed in found.requires or ():
            said, _, marker = needed.partition(";")
            if "extra" not in marker and (match := _NAME.match(said.strip())):
                waiting.append(match[0])


def _installed(found: list[metadata.Distribution]) -> Iterator[tuple[Path, str]]:
    for one in found:
        for file in one.files or ():
            place = Path(str(one.locate_file(file)))
            is_wanted = ".." not in file.parts and _LEFT_OUT.isdisjoint(file.parts)
            if is_wanted and place.is_file():
                yield place, str(file)


def _own(pattern: str) -> Iterator[tuple[Path, str]]:
    top = Path(lochan.__file__).parent
    for place in sorted(top.rglob(pattern)):
        if place.is_file() and _LEFT_OUT.isdisjoint(place.parts):
            yield place, str(place.relative_to(top.parent))


def _own_points() -> Iterator[tuple[Path, str]]:
    """Give what our package says of itself: drivers are found by it."""
    for file in metadata.distribution("lochan").files or ():
        if file.name in _POINTS and file.parts[0].endswith(".dist-info"):
            yield Path(str(file.locate())), str(file)


def _own_versions() -> Iterator[str]:
    for place, name in [*_own("*"), *_own_points()]:
        known = place.stat()
        yield f"{name} {known.st_size} {known.st_mtime_ns}"
