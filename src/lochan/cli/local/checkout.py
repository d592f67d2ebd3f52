# SPDX-License-Identifier: Apache-2.0
"""`lochan local checkout`: a linked folder becomes what a ref is."""

from typing import Annotated

import typer

from lochan.cli.address import ref_beside
from lochan.cli.local.apply import bring, settle, updated
from lochan.cli.local.changes import Compared, changed_since, compare
from lochan.cli.local.index import Entry
from lochan.cli.local.link import HERE, Folder, link_of
from lochan.cli.on_lake import on_lake
from lochan.cli.options import PARALLEL, Parallel
from lochan.cli.show import Show
from lochan.cli.shown import SHORT, counted
from lochan.cli.verb import new_app
from lochan.client.lake import Lake
from lochan.errors import Conflict
from lochan.model.ids import valid_ref
from lochan.model.uri import Uri

app = new_app()


@on_lake(app, "checkout")
def checkout(
    show: Show,
    lake: Lake,
    folder: Folder = HERE,
    *,
    ref: Annotated[
        str, typer.Option("--ref", help="Mirror this ref of the repository from now on.")
    ] = "",
    force: Annotated[
        bool, typer.Option("--force", help="Lose what was changed here and is not committed.")
    ] = False,
    parallel: Parallel = PARALLEL,
) -> None:
    """Make a folder what its branch is, or another ref; changes that would be lost refuse it.

    Example: lochan local checkout ./raw --ref v1.0
    """
    link = link_of(folder, even_interrupted=force)
    found = compare(lake, link)
    if found.changes and not force:
        message = (
            f"{len(found.changes)} files were changed in {link.root}; commit them by"
            " `lochan local commit`, or give --force to lose them"
        )
        raise Conflict(message, code="local-changes", paths=list(found.changes))
    name = ref_beside(lake, link.source.repository, ref) if ref else link.source.ref
    head = link.repository(lake).ref(name).get_commit().id
    base = updated(found.index.base, changed_since(lake, link, head))
    wanted = _wanted(found, base)
    bring(show, lake, found, wanted, head, parallel)
    source = Uri(
        repository=link.source.repository,
        ref=valid_ref(name),
        path=link.source.path,
        scheme="lakefs",
    )
    settle(lake, link._replace(source=source, interrupted=""), found.index, head, base)
    show.done(
        f"{link.root} mirrors {source} at {head[:SHORT]}; {counted(len(wanted), 'file')} changed",
        folder=str(link.root),
        src=str(source),
        at_head=head,
        changed=sorted(wanted),
    )


def _wanted(found: Compared, base: dict[str, Entry]) -> dict[str, Entry | None]:
    """Give what is to be at each path at which the folder differs."""
    paths = found.files.keys() | base.keys()
    return {path: base.get(path) for path in paths if not found.is_like(path, base.get(path))}
