# SPDX-License-Identifier: Apache-2.0
"""The groups and policies of a new lake: lakeFS's names, with what they mean there."""

from typing import Final

from lochan.access import actions
from lochan.access.arn import ANY, user_arn
from lochan.access.decide import ALLOW, USER
from lochan.model.access import Statement

ADMINS: Final = "Admins"
SUPER_USERS: Final = "SuperUsers"
DEVELOPERS: Final = "Developers"
VIEWERS: Final = "Viewers"


def _allow(*action: str, resource: str = ANY) -> tuple[Statement, ...]:
    return (Statement(ALLOW, action, resource),)


POLICIES: Final = {
    "FSFullAccess": _allow("fs:*"),
    "FSReadWriteAll": _allow(
        "fs:Read*",
        "fs:List*",
        actions.WRITE_OBJECT,
        actions.DELETE_OBJECT,
        actions.REVERT_BRANCH,
        actions.CREATE_BRANCH,
        actions.CREATE_TAG,
        actions.DELETE_BRANCH,
        actions.DELETE_TAG,
        actions.CREATE_COMMIT,
    ),
    "FSReadAll": _allow("fs:List*", "fs:Read*"),
    "RepoManagementFullAccess": _allow(
        "ci:*", "retention:*", "branches:*", "pr:*", actions.READ_CONFIG
    ),
    "RepoManagementReadAll": _allow(
        "ci:Read*", "retention:Get*", "branches:Get*", "pr:Read*", "pr:List*", actions.READ_CONFIG
    ),
    "PRReadWriteAll": _allow("pr:*"),
    "CatalogReadAll": _allow(
        actions.LIST_NAMESPACES,
        actions.GET_NAMESPACE,
        actions.LIST_TABLES,
        actions.READ_TABLE,
        actions.LIST_VIEWS,
        actions.READ_VIEW,
    ),
    "CatalogReadWriteAll": _allow("catalog:*"),
    "PipelinesFullAccess": _allow("pipelines:*"),
    "PipelinesReadAll": _allow("pipelines:Read*"),
    "AuthFullAccess": _allow("auth:*"),
    "AuthManageOwnCredentials": _allow(
        actions.CREATE_CREDENTIALS,
        actions.DELETE_CREDENTIALS,
        actions.LIST_CREDENTIALS,
        actions.READ_CREDENTIALS,
        resource=user_arn(USER),
    ),
}

GROUPS: Final = {
    ADMINS: (
        "FSFullAccess",
        "CatalogReadWriteAll",
        "AuthFullAccess",
        "RepoManagementFullAccess",
        "PipelinesFullAccess",
    ),
    SUPER_USERS: (
        "FSFullAccess",
        "CatalogReadWriteAll",
        "AuthManageOwnCredentials",
        "RepoManagementReadAll",
        "PipelinesFullAccess",
    ),
    DEVELOPERS: (
        "FSReadWriteAll",
        "PRReadWriteAll",
        "CatalogReadWriteAll",
        "AuthManageOwnCredentials",
        "RepoManagementReadAll",
        "PipelinesFullAccess",
    ),
    VIEWERS: ("FSReadAll", "CatalogReadAll", "AuthManageOwnCredentials", "PipelinesReadAll"),
}
