# SPDX-License-Identifier: Apache-2.0
"""`lochan repo`: repositories are made, listed, described, deleted."""

from typing import Annotated

import typer

from lochan.cli.address import RepositoryAddress, repository_at
from lochan.cli.on_lake import on_lake
from lochan.cli.options import Force, Limit, Prefix, Yes, pairs, sure
from lochan.cli.show import Columns, Show, when
from lochan.cli.verb import new_app
from lochan.client.lake import Lake
from lochan.client.repository import Repository
from lochan.shapes import repositories

app = new_app("Make, list, describe and delete repositories.")

Namespace = Annotated[
    str,
    typer.Option("--namespace", help="Where its data goes, as s3://bucket/prefix; else chosen."),
]
DefaultBranch = Annotated[
    str, typer.Option("--default-branch", help="The branch that cannot be deleted.")
]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Refuse writes that are not forced.")]

_COLUMNS: Columns[repositories.Repository] = {
    "repository": lambda one: one.id,
    "default branch": lambda one: one.default_branch,
    "created": lambda one: when(one.creation_date),
    "storage namespace": lambda one: one.storage_namespace,
    "read only": lambda one: "yes" if one.read_only else "",
}


@on_lake(app, "create", makes=True)
def create(
    show: Show,
    lake: Lake,
    repository: RepositoryAddress,
    *,
    namespace: Namespace = "",
    default_branch: DefaultBranch = "main",
    read_only: ReadOnly = False,
    sample_data: Annotated[
        bool, typer.Option("--sample-data", help="Put a few example objects in.")
    ] = False,
) -> None:
    """Make a repository, with a branch and a first commit.

    Example: lochan repo create my-lake --sample-data
    """
    made = repository_at(lake, repository).create(
        namespace,
        default_branch=default_branch,
        include_samples=sample_data,
        read_only=read_only,
    )
    _tell_made(show, made)


@on_lake(app, "create-bare", makes=True)
def create_bare(
    show: Show,
    lake: Lake,
    repository: RepositoryAddress,
    *,
    namespace: Namespace = "",
    default_branch: DefaultBranch = "main",
    read_only: ReadOnly = False,
) -> None:
    """Make a repository without branch and commit, to restore refs into.

    Example: lochan repo create-bare my-lake --namespace s3://bucket/my-lake
    """
    made = repository_at(lake, repository).create(
        namespace, default_branch=default_branch, bare=True, read_only=read_only
    )
    _tell_made(show, made)


@on_lake(app, "list")
def list_repositories(show: Show, lake: Lake, prefix: Prefix = "", limit: Limit = None) -> None:
    """List the repositories, by name.

    Example: lochan repo list --prefix team-
    """
    found = (one.record or one.properties for one in lake.repositories(prefix, max_amount=limit))
    show.rows(found, _COLUMNS)


@on_lake(app, "show")
def show_repository(show: Show, lake: Lake, repository: RepositoryAddress) -> None:
    """Describe a repository.

    Example: lochan repo show my-lake
    """
    show.record(repository_at(lake, repository).properties, _COLUMNS)


@on_lake(app, "delete")
def delete(
    show: Show,
    lake: Lake,
    repository: RepositoryAddress,
    *,
    yes: Yes = False,
    force: Force = False,
) -> None:
    """Delete a repository, with its branches and history; it asks before.

    Example: lochan repo delete my-lake --yes
    """
    named = repository_at(lake, repository)
    sure(f"Delete repository {named.id} with all its branches and history?", yes=yes)
    named.delete(force=force)
    show.done(f"deleted repository {named.id}", id=named.id)


@on_lake(app, "metadata")
def metadata(
    show: Show,
    lake: Lake,
    repository: RepositoryAddress,
    *,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Attach a key and value."),
    ] = None,
    unset: Annotated[
        list[str] | None, typer.Option("--unset", metavar="KEY", help="Take a key away.")
    ] = None,
) -> None:
    """Show what people attached to a repository, after attaching or taking away.

    Example: lochan repo metadata my-lake --set owner=ann --unset draft
    """
    settings = repository_at(lake, repository).settings
    if set_:
        settings.set_metadata(pairs(set_))
    if unset:
        settings.delete_metadata(unset)
    show.record(settings.metadata())


def _tell_made(show: Show, made: Repository) -> None:
    known = made.properties
    if show.json:
        show.value(known)
    else:
        show.line(f"created repository {known.id} in {known.storage_namespace}")
