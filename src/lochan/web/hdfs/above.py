# SPDX-License-Identifier: Apache-2.0
"""The directories above what a ref shows: the repositories, and the branches of one."""

from lochan.access.actions import LIST_BRANCHES, LIST_REPOSITORIES, READ_REPOSITORY
from lochan.access.arn import repository_arn
from lochan.access.needed import AllOf, Permission
from lochan.refs.branches import list_branches
from lochan.refs.repositories import list_repositories
from lochan.web.call import Call
from lochan.web.hdfs.place import Place


def names_in(call: Call, place: Place) -> list[str]:
    """Give the repositories that the caller may see, or the branches of one, by name.

    Raises: PermissionDenied, RepositoryNotFound.
    """
    if place.repository:
        call.require(Permission(LIST_BRANCHES, repository_arn(place.repository)))
        return [branch.branch_id for branch in list_branches(call.lake.tables(call.repository))]
    found = (record.repository_id for record in list_repositories(call.lake.store))
    return [name for name in found if call.may(_seeing(name))]


def require_repository(call: Call, place: Place) -> None:
    """Refuse a caller that may not see a repository, or one that is not there."""
    if place.repository:
        call.require(Permission(READ_REPOSITORY, repository_arn(place.repository)))
        call.repository  # noqa: B018 - raises for one that is not there


def _seeing(repository: str) -> AllOf:
    resource = repository_arn(repository)
    return AllOf(Permission(LIST_REPOSITORIES, resource), Permission(READ_REPOSITORY, resource))
