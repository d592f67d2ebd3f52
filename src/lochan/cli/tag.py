# SPDX-License-Identifier: Apache-2.0
"""`lochan tag`: names that commits keep."""

from typing import Annotated

import typer

from lochan.cli.address import (
    RefAddress,
    RepositoryAddress,
    TagAddress,
    ref_beside,
    repository_at,
    tag_at,
)
from lochan.cli.on_lake import on_lake
from lochan.cli.options import Force, Limit, Prefix, Yes, sure
from lochan.cli.show import Show
from lochan.cli.shown import REF_COLUMNS, show_commit, shown_ref
from lochan.cli.verb import new_app
from lochan.client.lake import Lake

app = new_app("Give commits names that they keep.")


@on_lake(app, "create")
def create(
    show: Show,
    lake: Lake,
    tag: TagAddress,
    ref: Annotated[str, typer.Argument(help="The commit, by any ref of the repository.")],
    *,
    force: Force = False,
) -> None:
    """Give a commit a name.

    Example: lochan tag create my-lake/v1.0 main
    """
    made = tag_at(lake, tag)
    made.create(ref_beside(lake, made.repository_id, ref), force=force)
    made.commit_id = made.get_commit().id
    show.done(f"tagged {made.commit_id[:12]} as {made.id}", **shown_ref(made))


@on_lake(app, "list")
def list_tags(
    show: Show,
    lake: Lake,
    repository: RepositoryAddress,
    prefix: Prefix = "",
    limit: Limit = None,
) -> None:
    """List the tags of a repository, by name.

    Example: lochan tag list my-lake --prefix v1.
    """
    found = repository_at(lake, repository).tags(prefix, max_amount=limit)
    show.rows(map(shown_ref, found), REF_COLUMNS)


@on_lake(app, "show")
def show_tag(show: Show, lake: Lake, tag: RefAddress) -> None:
    """Show the commit that a tag names.

    Example: lochan tag show my-lake/v1.0
    """
    show_commit(show, tag_at(lake, tag).get_commit())


@on_lake(app, "delete")
def delete(
    show: Show, lake: Lake, tag: TagAddress, *, yes: Yes = False, force: Force = False
) -> None:
    """Take a name away; the commit stays. It asks before.

    Example: lochan tag delete my-lake/v1.0 --yes
    """
    named = tag_at(lake, tag)
    sure(f"Delete tag {named.id}?", yes=yes)
    named.delete(force=force)
    show.done(f"deleted tag {named.id}", id=named.id)
