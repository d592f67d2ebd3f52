# SPDX-License-Identifier: Apache-2.0
"""`lochan local commit`: what was changed in a linked folder becomes a commit of its branch.

1  make a hidden branch at the commit of the folder
2  upload what was changed, delete what was removed, and commit there
3  merge into the branch: one new commit, or a conflict that leaves the branch as it was
4  delete the hidden branch, whatever happened
5  bring what others changed on the branch meanwhile
"""

from collections.abc import Iterator
from contextlib import contextmanager

from lochan.cli.local.apply import bring, settle, updated
from lochan.cli.local.changes import Compared, changed_since, compare
from lochan.cli.local.index import Seen
from lochan.cli.local.link import HERE, Folder, link_of
from lochan.cli.merge import CONFLICT, show_conflicts
from lochan.cli.on_lake import on_lake
from lochan.cli.options import PARALLEL, Message, Meta, Parallel, pairs
from lochan.cli.show import Show
from lochan.cli.shown import counted, tell_commit
from lochan.cli.transfers import Share, each
from lochan.cli.verb import new_app
from lochan.client.branch import Branch
from lochan.client.lake import Lake
from lochan.errors import Conflict, LochanError

app = new_app()


@on_lake(app, "commit")
def commit(
    show: Show,
    lake: Lake,
    folder: Folder = HERE,
    *,
    message: Message,
    meta: Meta = None,
    parallel: Parallel = PARALLEL,
) -> None:
    """Commit what was changed in a folder to its branch, by one commit.

    Files that the branch has changed since, too, and otherwise, are conflicts: nothing is done,
    code 4.

    Example: lochan local commit ./raw -m "mend prices"
    """
    link = link_of(folder)
    found = compare(lake, link)
    if not found.changes:
        show.done("nothing was changed here", committed=False)
        return
    branch = link.branch(lake)
    with _hidden(lake, branch, link.at_head) as hidden:
        _send(show, lake, found, hidden, parallel)
        hidden.commit(message, pairs(meta))
        try:
            made = hidden.merge_into(branch, message=message, metadata=pairs(meta), squash=True)
        except Conflict as error:
            if error.code == CONFLICT:
                show_conflicts(show, hidden, branch)
            raise
    there = changed_since(lake, link, made)
    differing = {path: entry for path, entry in there.items() if not found.is_like(path, entry)}
    bring(show, lake, found, differing, made, parallel)
    settle(lake, link, found.index, made, updated(found.index.base, there))
    tell_commit(show, link.repository(lake).commit(made), "committed")


def _send(show: Show, lake: Lake, found: Compared, hidden: Branch, parallel: int) -> None:
    link = found.link
    removed = [path for path, kind in found.changes.items() if kind == "removed"]
    coming = [found.files[path] for path, kind in found.changes.items() if kind != "removed"]

    def upload(path: str) -> tuple[str, Seen]:
        file = found.files[path]
        target = hidden.object(f"{link.prefix}{path}")
        stats = target.upload(link.root / path, progress=Share(bar))
        # Of a file that changes meanwhile this is not its state, and it counts as changed again.
        return path, Seen(file.size, file.mtime_ns, stats.checksum)

    with show.bytes_bar(
        f"uploading {counted(len(coming), 'file')}", sum(one.size for one in coming)
    ) as bar:
        sent = each(lake.transport.environment, parallel, upload, (one.path for one in coming))
    found.index.seen.update(sent)
    hidden.delete_objects(f"{link.prefix}{path}" for path in removed)


@contextmanager
def _hidden(lake: Lake, branch: Branch, at: str) -> Iterator[Branch]:
    name = f"local-{lake.transport.environment.new_id()}"
    hidden = lake.repository(branch.repository_id).branch(name)
    hidden.create(at, hidden=True)
    try:
        yield hidden
    except BaseException as error:
        _delete_after(hidden, error)
        raise
    hidden.delete()


def _delete_after(hidden: Branch, error: BaseException) -> None:
    """Delete the hidden branch of a commit that failed; that failure is the one to be told."""
    try:
        hidden.delete()
    except LochanError as second:
        error.add_note(f"the hidden branch {hidden.id} could not be deleted: {second}")
