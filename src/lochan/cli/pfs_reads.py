# SPDX-License-Identifier: Apache-2.0
"""The verbs of 2016 that read: commits, files at a commit, and what came between two commits."""

import sys
from typing import Annotated

import typer

from lochan.cli.address import RepositoryAddress, repository_at
from lochan.cli.on_lake import on_lake
from lochan.cli.options import Limit
from lochan.cli.show import Columns, Show, size, when
from lochan.cli.shown import SHORT, first_line
from lochan.cli.verb import new_app
from lochan.client.lake import Lake
from lochan.errors import InvalidInput
from lochan.shapes.pfs import CommitInfo, FileInfo

app = new_app()

AnyCommit = Annotated[
    str, typer.Argument(help="Hash, repo/branch/int, any ref, or the id of an open commit.")
]
FilePath = Annotated[str, typer.Argument(help="Path of the file.")]
Since = Annotated[str, typer.Option("--from", help="Leave out what was there at this commit.")]

_COMMIT: Columns[CommitInfo] = {
    "commit": lambda one: one.ID,
    "hash": lambda one: one.id[:SHORT],
    "started": lambda one: when(one.started.timestamp()),
    "finished": lambda one: when(one.finished.timestamp()) if one.finished else "",
    "error": lambda one: one.error,
}
_FILE: Columns[FileInfo] = {
    "kind": lambda one: one.kind,
    "size": lambda one: size(one.size),
    "modified": lambda one: when(one.modified.timestamp()) if one.modified else "",
    "path": lambda one: one.path,
}


@on_lake(app, "inspect-commit")
def inspect_commit(
    show: Show, lake: Lake, repository: RepositoryAddress, commit: AnyCommit
) -> None:
    """Describe a commit, open or finished.

    Example: lochan pfs inspect-commit my-lake my-lake/main/3
    """
    show.record(repository_at(lake, repository).pfs.inspect_commit(commit), _COMMIT)


@on_lake(app, "list-commit")
def list_commit(
    show: Show,
    lake: Lake,
    repository: RepositoryAddress,
    *,
    branch: Annotated[str, typer.Option("--branch", help="Of this branch alone.")] = "",
    limit: Limit = None,
) -> None:
    """List the commits of a branch, or of all; along each line parents come first.

    Example: lochan pfs list-commit my-lake --branch main
    """
    found = repository_at(lake, repository).pfs.list_commit(branch, max_amount=limit)
    show.rows(found, _COMMIT)


@on_lake(app, "get-file")
def get_file(
    show: Show,
    lake: Lake,
    repository: RepositoryAddress,
    commit: AnyCommit,
    path: FilePath,
    since: Since = "",
) -> None:
    """Write a file's bytes to stdout, or those that came after a commit; with --json its text.

    Example: lochan pfs get-file my-lake main log.txt --from main~1
    """
    pfs = repository_at(lake, repository).pfs
    if not show.json:
        pfs.download_file(path, commit, sys.stdout.buffer, since=since)
        sys.stdout.buffer.flush()
        return
    try:
        text = pfs.get_file(path, commit, since=since).decode()
    except UnicodeDecodeError as error:
        message = f"{path} is no text, and JSON holds nothing else; leave --json out"
        raise InvalidInput(message, code="not-text") from error
    show.value({"path": path, "text": text})


@on_lake(app, "inspect-file")
def inspect_file(
    show: Show,
    lake: Lake,
    repository: RepositoryAddress,
    commit: AnyCommit,
    path: FilePath,
    since: Since = "",
) -> None:
    """Describe a file or directory at a commit, or what came to it after another.

    Example: lochan pfs inspect-file my-lake main log.txt
    """
    found = repository_at(lake, repository).pfs.inspect_file(path, commit, since=since)
    show.record(found, {**_FILE, "checksum": lambda one: one.checksum})


@on_lake(app, "list-file")
def list_file(
    show: Show,
    lake: Lake,
    repository: RepositoryAddress,
    commit: AnyCommit,
    path: Annotated[str, typer.Argument(help="The directory; else the root.")] = "",
    limit: Limit = None,
) -> None:
    """List what lies directly in a directory of a commit.

    Example: lochan pfs list-file my-lake main raw
    """
    found = repository_at(lake, repository).pfs.list_file(commit, path, max_amount=limit)
    show.rows(found, _FILE)


@on_lake(app, "history")
def history(
    show: Show,
    lake: Lake,
    repository: RepositoryAddress,
    commit: AnyCommit,
    *,
    since: Since = "",
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse a --from that is no ancestor.")
    ] = False,
    limit: Limit = None,
) -> None:
    """List the commits up to one, without those that are behind another.

    Example: lochan pfs history my-lake main --from main~3
    """
    pfs = repository_at(lake, repository).pfs
    found = pfs.history(commit, since=since, strict=strict, max_amount=limit)
    if show.json:
        show.rows(one.record for one in found)
        return
    show.rows(
        found,
        {
            "commit": lambda one: one.id[:SHORT],
            "date": lambda one: when(one.record.creation_date),
            "author": lambda one: one.committer,
            "message": lambda one: first_line(one.message),
        },
    )
