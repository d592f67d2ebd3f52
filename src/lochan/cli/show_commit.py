# SPDX-License-Identifier: Apache-2.0
"""`lochan show`: a commit, and what it changed."""

from collections.abc import Iterator

from lochan.cli.address import RefAddress, reference_at
from lochan.cli.on_lake import on_lake
from lochan.cli.options import Prefix
from lochan.cli.show import Show, plain
from lochan.cli.shown import show_changes, show_commit
from lochan.cli.verb import new_app
from lochan.client.lake import Lake
from lochan.shapes.refs import Diff

app = new_app()


@on_lake(app, "show")
def show_ref(show: Show, lake: Lake, ref: RefAddress, prefix: Prefix = "") -> None:
    """Show a commit and what it changed; a merge is compared with its first parent.

    Example: lochan show my-lake/main~1
    """
    reference = reference_at(lake, ref)
    commit = reference.get_commit()
    repository = lake.repository(reference.repository_id)
    changes: Iterator[Diff] = iter(())
    if commit.parents:  # the first commit of a repository has no content
        before = repository.ref(commit.parents[0])
        changes = before.diff(commit, type_="two_dot", prefix=prefix)
    if show.json:
        show.value({"commit": commit.record, "changes": [plain(one) for one in changes]})
        return
    show_commit(show, commit)
    show.line("")
    show_changes(show, changes, nothing="it changed no objects")
