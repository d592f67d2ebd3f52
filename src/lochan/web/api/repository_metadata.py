# SPDX-License-Identifier: Apache-2.0
"""Metadata of a repository: keys and values, as a plain object."""

from lochan.operations import repository_metadata as stories
from lochan.shapes.repositories import RepositoryMetadataKeys, RepositoryMetadataSet
from lochan.web.call import Call
from lochan.web.needs import Need
from lochan.web.reply import Reply
from lochan.web.route import NOTHING, Routes

ROUTES = Routes("repositories")

_REPOSITORY = "arn:lakefs:fs:::repository/{repository}"
_PATH = "/repositories/{repository}/metadata"


@ROUTES.get(_PATH, needs=Need("fs:ReadRepository", _REPOSITORY), answers={200: dict[str, str]})
def get_repository_metadata(call: Call) -> Reply:
    """Give all keys and values."""
    return Reply(dict(stories.get_repository_metadata(call.lake, call.repository)))


@ROUTES.post(
    _PATH,
    needs=Need("fs:UpdateRepository", _REPOSITORY),
    body=RepositoryMetadataSet,
    answers={201: NOTHING},
)
def set_repository_metadata(call: Call) -> None:
    """Add keys, or replace their values; others stay."""
    told = call.told(RepositoryMetadataSet)
    stories.set_repository_metadata(call.lake, call.repository, told.metadata)


@ROUTES.delete(
    _PATH,
    needs=Need("fs:UpdateRepository", _REPOSITORY),
    body=RepositoryMetadataKeys,
    answers={204: NOTHING},
)
def delete_repository_metadata(call: Call) -> None:
    """Take keys away."""
    told = call.told(RepositoryMetadataKeys)
    stories.delete_repository_metadata(call.lake, call.repository, told.keys)
