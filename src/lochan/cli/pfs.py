# SPDX-License-Identifier: Apache-2.0
"""`lochan pfs`: the verbs of 2016. A commit is started, gets files put into it, and is finished."""

import sys
from typing import Annotated

import typer

from lochan.cli import pfs_reads
from lochan.cli.address import RepositoryAddress, repository_at
from lochan.cli.on_lake import on_lake
from lochan.cli.options import Meta, pairs
from lochan.cli.show import Show
from lochan.cli.shown import SHORT, tell_commit
from lochan.cli.verb import new_app
from lochan.client.lake import Lake

app = new_app("The verbs of 2016: a commit is started, gets files put into it, and is finished.")
app.add_typer(pfs_reads.app)

OpenCommit = Annotated[str, typer.Argument(help="The id that start-commit gave.")]
FilePath = Annotated[str, typer.Argument(help="Path of the file.")]


@on_lake(app, "start-commit")
def start_commit(
    show: Show,
    lake: Lake,
    repository: RepositoryAddress,
    *,
    branch: Annotated[
        str | None, typer.Option("--branch", help="The branch it will be on.")
    ] = None,
    parent: Annotated[str | None, typer.Option("--parent", help="The commit before it.")] = None,
) -> None:
    """Start a commit on a branch, behind a parent, or both; with neither, on a new branch.

    Example: lochan pfs start-commit my-lake --branch main
    """
    opened = repository_at(lake, repository).pfs.start_commit(branch, parent=parent)
    if show.json:
        show.value(opened)
    else:
        show.line(opened.id)


@on_lake(app, "put-file")
def put_file(
    show: Show,
    lake: Lake,
    repository: RepositoryAddress,
    commit: OpenCommit,
    path: FilePath,
    *,
    file: Annotated[
        str, typer.Option("--file", "-f", help="File of this machine; - reads stdin.")
    ] = "-",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Instead of what the file has, not behind it.")
    ] = False,
) -> None:
    """Put bytes behind what a file of an open commit has.

    Example: echo one more line | lochan pfs put-file my-lake 5d2f log.txt
    """
    pfs = repository_at(lake, repository).pfs
    with (
        show.bytes_bar("putting") as bar,
        open(sys.stdin.fileno() if file == "-" else file, "rb", closefd=file != "-") as data,
    ):
        mode = "overwrite" if overwrite else "append"
        pfs.put_file(commit, path, data, mode=mode, progress=bar.reach)  # type: ignore[arg-type]
    show.done(f"put {path}", path=path, commit=commit)


@on_lake(app, "delete-file")
def delete_file(
    show: Show, lake: Lake, repository: RepositoryAddress, commit: OpenCommit, path: FilePath
) -> None:
    """Delete a file, or all that lies in a directory, in an open commit.

    Example: lochan pfs delete-file my-lake 5d2f log.txt
    """
    repository_at(lake, repository).pfs.delete_file(commit, path)
    show.done(f"deleted {path}", path=path, commit=commit)


@on_lake(app, "finish-commit")
def finish_commit(
    show: Show,
    lake: Lake,
    repository: RepositoryAddress,
    commit: OpenCommit,
    *,
    message: Annotated[str, typer.Option("--message", "-m", help="What it is about.")] = "",
    meta: Meta = None,
) -> None:
    """Publish an open commit; it takes no more files.

    Example: lochan pfs finish-commit my-lake 5d2f -m "today's log"
    """
    pfs = repository_at(lake, repository).pfs
    made = pfs.finish_commit(commit, message=message, metadata=pairs(meta))
    tell_commit(show, made, "finished")


@on_lake(app, "cancel-commit")
def cancel_commit(
    show: Show,
    lake: Lake,
    repository: RepositoryAddress,
    commit: OpenCommit,
    *,
    reason: Annotated[str, typer.Option("--reason", help="Why.")] = "cancelled",
) -> None:
    """Give an open commit up.

    Example: lochan pfs cancel-commit my-lake 5d2f --reason "wrong input"
    """
    repository_at(lake, repository).pfs.cancel_commit(commit, reason)
    show.done(f"cancelled {commit}", commit=commit)


@on_lake(app, "merge-commits")
def merge_commits(
    show: Show,
    lake: Lake,
    repository: RepositoryAddress,
    commits: Annotated[list[str], typer.Argument(help="Commits by hash, repo/branch/int or ref.")],
    *,
    branch: Annotated[str | None, typer.Option("--to", help="The branch they go to.")] = None,
    squash: Annotated[bool, typer.Option("--squash", help="Make one commit of all.")] = False,
    message: Annotated[str, typer.Option("--message", "-m", help="What it is about.")] = "",
) -> None:
    """Bring what commits did to a branch: a copy of each, or all as one.

    Example: lochan pfs merge-commits my-lake left right --to main --squash
    """
    pfs = repository_at(lake, repository).pfs
    made = pfs.merge_commits(commits, branch, squash=squash, message=message)
    if show.json:
        show.rows(commit.record for commit in made)
        return
    for commit in made:
        show.line(f"made {commit.id[:SHORT]}")
    if not made:
        show.line("everything was there already")
