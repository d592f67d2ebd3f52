# SPDX-License-Identifier: Apache-2.0
"""Repositories: list, make, look at, delete.

A list holds what the caller may both list and read, and nothing tells that there is more.
"""

from lochan.access.actions import (
    ATTACH_STORAGE_NAMESPACE,
    CREATE_REPOSITORY,
    LIST_REPOSITORIES,
    READ_REPOSITORY,
)
from lochan.access.arn import repository_arn, storage_namespace_arn
from lochan.access.needed import AllOf, Permission
from lochan.errors import InvalidInput
from lochan.model.ids import valid_branch_name, valid_repository_id
from lochan.model.records import Repository as Record
from lochan.operations import repositories as stories
from lochan.operations.create_repository import create_repository as make_repository
from lochan.operations.repositories import set_read_only
from lochan.operations.sample_data import add_sample_data
from lochan.operations.storage_namespaces import allowed_namespace
from lochan.refs.repositories import list_repositories as scan_repositories
from lochan.shapes.repositories import (
    CreateRepositoryQuery,
    DeleteRepositoryQuery,
    ListRepositoriesQuery,
    Repository,
    RepositoryCreation,
    RepositoryList,
)
from lochan.web.api.pages import named, page_of, start_of
from lochan.web.api.shown import committer_of, shown_repository
from lochan.web.call import Call
from lochan.web.needs import Need, each
from lochan.web.route import NOTHING, Routes

ROUTES = Routes("repositories")

_REPOSITORY = "arn:lakefs:fs:::repository/{repository}"


@ROUTES.get(
    "/repositories",
    needs=each(Need("fs:ListRepositories", _REPOSITORY), Need("fs:ReadRepository", _REPOSITORY)),
    query=ListRepositoriesQuery,
    answers={200: RepositoryList},
)
def list_repositories(call: Call) -> RepositoryList:
    """Give the repositories that the caller may see, by name."""
    asked = call.asked(ListRepositoriesQuery)
    found = scan_repositories(call.lake.store, start=start_of(asked))
    seen = (
        record
        for record in named(found, asked, _name)
        if asked.search in record.repository_id and _may_see(call, record)
    )
    page, pagination = page_of(seen, asked, _name)
    return RepositoryList(pagination=pagination, results=[shown_repository(each) for each in page])


@ROUTES.post(
    "/repositories",
    needs=each(
        Need("fs:CreateRepository", "arn:lakefs:fs:::repository/{body.name}"),
        Need("fs:AttachStorageNamespace", "arn:lakefs:fs:::namespace/{body.storage_namespace}"),
    ),
    query=CreateRepositoryQuery,
    body=RepositoryCreation,
    answers={201: Repository},
)
def create_repository(call: Call) -> Repository:
    """Make a repository, in a storage namespace that no other one uses."""
    asked, told = call.asked(CreateRepositoryQuery), call.told(RepositoryCreation)
    name = valid_repository_id(told.name)
    call.require(Permission(CREATE_REPOSITORY, repository_arn(name)))
    if told.storage_id:
        raise InvalidInput(f"there is no storage {told.storage_id!r}; leave it out")
    places = call.services.settings.namespace_prefixes
    namespace = allowed_namespace(told.storage_namespace, name, places)
    # The place is judged by its one spelling, not by how it was written.
    call.require(Permission(ATTACH_STORAGE_NAMESPACE, storage_namespace_arn(namespace)))
    with_samples = told.sample_data and not asked.bare
    made = make_repository(
        call.lake,
        name,
        namespace,
        valid_branch_name(told.default_branch),
        committer=committer_of(call),
        bare=asked.bare,
        read_only=told.read_only and not with_samples,
    )
    if with_samples:
        add_sample_data(call.lake, made, committer_of(call))
        made = set_read_only(call.lake, made, read_only=told.read_only)
    call.services.repositories.forget(name)
    return shown_repository(made)


@ROUTES.get(
    "/repositories/{repository}",
    needs=Need("fs:ReadRepository", _REPOSITORY),
    answers={200: Repository},
)
def get_repository(call: Call) -> Repository:
    """Give a repository."""
    return shown_repository(call.services.repositories.fresh(call.path["repository"]))


@ROUTES.delete(
    "/repositories/{repository}",
    needs=Need("fs:DeleteRepository", _REPOSITORY),
    query=DeleteRepositoryQuery,
    answers={204: NOTHING},
)
def delete_repository(call: Call) -> None:
    """Delete a repository; what it stored stays in its namespace."""
    try:
        stories.delete_repository(call.lake, call.repository)
    finally:
        call.services.repositories.forget(call.path["repository"])


def _may_see(call: Call, record: Record) -> bool:
    arn = repository_arn(record.repository_id)
    return call.may(AllOf(Permission(LIST_REPOSITORIES, arn), Permission(READ_REPOSITORY, arn)))


def _name(record: Record) -> str:
    return record.repository_id
