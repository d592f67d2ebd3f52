# SPDX-License-Identifier: Apache-2.0
"""Make files what a commit has: deletions first, then downloads, then the link and the index.

A file is replaced or deleted only as it was found: one that changed since, or came, ends it with a
Conflict. What was done until then is told by nothing but the files, and is found to be alike when
the command is run again.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from lochan.cli.files import LocalFile, seen_at, target_of
from lochan.cli.local.changes import Compared
from lochan.cli.local.index import Entry, Index, Seen, save_index
from lochan.cli.local.link import Link, write_link
from lochan.cli.show import Show
from lochan.cli.shown import counted
from lochan.cli.transfers import Share, each
from lochan.client.lake import Lake
from lochan.errors import Conflict


def bring(
    show: Show,
    lake: Lake,
    found: Compared,
    wanted: Mapping[str, Entry | None],
    commit: str,
    parallel: int,
) -> None:
    """Make paths of a folder what a commit has there; None is for nothing."""
    link = found.link
    for path, entry in wanted.items():
        if entry is None:
            _delete(link.root, path, found.files.get(path))
    coming = [(path, entry) for path, entry in wanted.items() if entry is not None]
    reference = link.repository(lake).ref(commit)

    def fetch(job: tuple[str, Entry]) -> tuple[str, Seen]:
        path, entry = job
        target = target_of(link.root, path)
        _require_as_found(link.root, path, found.files.get(path))
        reference.object(f"{link.prefix}{path}").download(target, progress=Share(bar))
        stamp = target.stat()
        return path, Seen(stamp.st_size, stamp.st_mtime_ns, entry.checksum)

    total = sum(entry.size for _, entry in coming)
    with show.bytes_bar(f"downloading {counted(len(coming), 'file')}", total) as bar:
        found.index.seen.update(each(lake.transport.environment, parallel, fetch, coming))


def settle(lake: Lake, link: Link, index: Index, commit: str, base: dict[str, Entry]) -> Link:
    """Note that a folder stands at a commit with these objects."""
    index.commit, index.base = commit, base
    moved = link._replace(at_head=commit)
    environment = lake.transport.environment
    save_index(moved, index, environment)
    write_link(moved, environment)
    return moved


def updated(base: Mapping[str, Entry], changes: Mapping[str, Entry | None]) -> dict[str, Entry]:
    """Give the objects of a commit from those of another and what differs."""
    joined = {**base, **changes}
    return {path: entry for path, entry in joined.items() if entry is not None}


def _delete(root: Path, path: str, expected: LocalFile | None) -> None:
    target = target_of(root, path)
    _require_as_found(root, path, expected)
    target.unlink(missing_ok=True)
    with suppress(OSError):  # the first that is not empty ends it
        for folder in target.parents:
            if folder == root:
                break
            folder.rmdir()


def _require_as_found(root: Path, path: str, expected: LocalFile | None) -> None:
    if seen_at(root, path) != expected and not (root / path).is_dir():
        message = f"{path} changed while this ran, and is left as it is; run it again"
        raise Conflict(message, code="file-changed", path=path)
