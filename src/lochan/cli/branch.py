# SPDX-License-Identifier: Apache-2.0
"""`lochan branch`: lines of work of a repository."""

from typing import Annotated

import typer

from lochan.cli import protect
from lochan.cli.address import (
    BranchAddress,
    RepositoryAddress,
    branch_at,
    ref_beside,
    repository_at,
)
from lochan.cli.on_lake import on_lake
from lochan.cli.options import Force, Limit, Prefix, Yes, sure
from lochan.cli.reset import ResetObject, ResetPrefix, drop_staged
from lochan.cli.show import Show
from lochan.cli.shown import REF_COLUMNS, SHORT, show_commit, shown_ref
from lochan.cli.verb import new_app
from lochan.client.lake import Lake

app = new_app("Make, list, delete, reset and protect branches.")
app.add_typer(protect.app, name="protect")


@on_lake(app, "create")
def create(
    show: Show,
    lake: Lake,
    branch: BranchAddress,
    *,
    source: Annotated[
        str, typer.Option("--source", "-s", help="Where it begins: any ref of the repository.")
    ] = "",
    hidden: Annotated[bool, typer.Option("--hidden", help="Leave it out of lists.")] = False,
) -> None:
    """Make a branch at a ref; without one, at the default branch.

    Example: lochan branch create my-lake/fix --source main
    """
    made = branch_at(lake, branch)
    repository = lake.repository(made.repository_id)
    begins = source or repository.properties.default_branch
    made.create(ref_beside(lake, made.repository_id, begins), hidden=hidden)
    made.commit_id = made.head.id
    show.done(f"created branch {made.id} at {made.commit_id[:SHORT]}", **shown_ref(made))


@on_lake(app, "list")
def list_branches(
    show: Show,
    lake: Lake,
    repository: RepositoryAddress,
    *,
    prefix: Prefix = "",
    all_: Annotated[bool, typer.Option("--all", "-a", help="Hidden ones, too.")] = False,
    limit: Limit = None,
) -> None:
    """List the branches of a repository, by name.

    Example: lochan branch list my-lake --all
    """
    named = repository_at(lake, repository)
    found = named.branches(prefix, max_amount=limit, show_hidden=all_)
    show.rows(map(shown_ref, found), REF_COLUMNS)


@on_lake(app, "show")
def show_branch(show: Show, lake: Lake, branch: BranchAddress) -> None:
    """Show the commit that a branch is at.

    Example: lochan branch show my-lake/main
    """
    show_commit(show, branch_at(lake, branch).head)


@on_lake(app, "delete")
def delete(
    show: Show, lake: Lake, branch: BranchAddress, *, yes: Yes = False, force: Force = False
) -> None:
    """Delete a branch, and what is staged on it; its commits stay. It asks before.

    Example: lochan branch delete my-lake/fix --yes
    """
    named = branch_at(lake, branch)
    sure(f"Delete branch {named.id} and what is not committed on it?", yes=yes)
    named.delete(force=force)
    show.done(f"deleted branch {named.id}", id=named.id)


@on_lake(app, "reset")
def reset(
    show: Show,
    lake: Lake,
    branch: BranchAddress,
    *,
    prefix: ResetPrefix = "",
    object_: ResetObject = "",
    yes: Yes = False,
    force: Force = False,
) -> None:
    """Drop what is not committed: all, below a prefix, or of one object. It asks before.

    Example: lochan branch reset my-lake/fix --prefix raw/ --yes
    """
    drop_staged(show, branch_at(lake, branch), prefix, object_, yes=yes, force=force)


@on_lake(app, "hard-reset")
def hard_reset(
    show: Show,
    lake: Lake,
    branch: BranchAddress,
    ref: Annotated[str, typer.Argument(help="Where to: any ref of the repository.")],
    *,
    yes: Yes = False,
    force: Force = False,
) -> None:
    """Set a branch to another commit; commits that no other ref has are left behind. It asks.

    Example: lochan branch hard-reset my-lake/main main~1 --yes
    """
    named = branch_at(lake, branch)
    target = ref_beside(lake, named.repository_id, ref)
    sure(f"Set branch {named.id} to {target}?", yes=yes)
    named.reset_to(target, force=force)
    named.commit_id = named.head.id
    show.done(f"branch {named.id} is at {named.commit_id[:SHORT]}", **shown_ref(named))
