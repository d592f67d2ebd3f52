# SPDX-License-Identifier: Apache-2.0
"""The names of resources in policies and in what requests need; lakeFS's, letter for letter.

    arn:lakefs:fs:::repository/<repository>[/object/<key> | /branch/<branch> | /tag/<tag>]
    arn:lakefs:fs:::namespace/<storage namespace>
    arn:lakefs:auth:::user/<user>
    arn:lakefs:auth:::group/<group>
    arn:lakefs:auth:::policy/<policy>
    arn:lakefs:pipelines:::pipeline/<pipeline>

Nothing is escaped: a request's resource is compared letter for letter, so a star in a key is a
star. Two different resources never share a name, since names of repositories, branches and tags
hold no slash and each other kind of thing is the last part of its name.
"""

from typing import Final

ANY: Final = "*"
PREFIX: Final = "arn:lakefs:"
_REPOSITORY: Final = "arn:lakefs:fs:::repository/"


def repository_arn(repository: str) -> str:
    """Name a repository."""
    return _REPOSITORY + repository


def object_arn(repository: str, key: str) -> str:
    """Name an object's path, on whatever branch."""
    return f"{_REPOSITORY}{repository}/object/{key}"


def branch_arn(repository: str, branch: str) -> str:
    """Name a branch."""
    return f"{_REPOSITORY}{repository}/branch/{branch}"


def storage_namespace_arn(uri: str) -> str:
    """Name a place in an object store."""
    return f"arn:lakefs:fs:::namespace/{uri}"


def user_arn(user: str) -> str:
    """Name a user."""
    return f"arn:lakefs:auth:::user/{user}"


def pipeline_arn(pipeline: str) -> str:
    """Name a pipeline, and its jobs with it."""
    return f"arn:lakefs:pipelines:::pipeline/{pipeline}"
