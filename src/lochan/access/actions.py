# SPDX-License-Identifier: Apache-2.0
"""The actions that policies speak of; the names are lakeFS's, so that its policies work unchanged.

An action is `service:Verb`. A policy may name actions by wildcards, a request never does.
"""

import re
from typing import Final

READ_REPOSITORY: Final = "fs:ReadRepository"
CREATE_REPOSITORY: Final = "fs:CreateRepository"
UPDATE_REPOSITORY: Final = "fs:UpdateRepository"
DELETE_REPOSITORY: Final = "fs:DeleteRepository"
LIST_REPOSITORIES: Final = "fs:ListRepositories"
ATTACH_STORAGE_NAMESPACE: Final = "fs:AttachStorageNamespace"
IMPORT_FROM_STORAGE: Final = "fs:ImportFromStorage"
IMPORT_CANCEL: Final = "fs:ImportCancel"
READ_OBJECT: Final = "fs:ReadObject"
WRITE_OBJECT: Final = "fs:WriteObject"
DELETE_OBJECT: Final = "fs:DeleteObject"
LIST_OBJECTS: Final = "fs:ListObjects"
CREATE_COMMIT: Final = "fs:CreateCommit"
READ_COMMIT: Final = "fs:ReadCommit"
LIST_COMMITS: Final = "fs:ListCommits"
CREATE_BRANCH: Final = "fs:CreateBranch"
DELETE_BRANCH: Final = "fs:DeleteBranch"
READ_BRANCH: Final = "fs:ReadBranch"
REVERT_BRANCH: Final = "fs:RevertBranch"
LIST_BRANCHES: Final = "fs:ListBranches"
CREATE_TAG: Final = "fs:CreateTag"
DELETE_TAG: Final = "fs:DeleteTag"
READ_TAG: Final = "fs:ReadTag"
LIST_TAGS: Final = "fs:ListTags"
READ_CONFIG: Final = "fs:ReadConfig"

READ_USER: Final = "auth:ReadUser"
CREATE_USER: Final = "auth:CreateUser"
DELETE_USER: Final = "auth:DeleteUser"
LIST_USERS: Final = "auth:ListUsers"
READ_GROUP: Final = "auth:ReadGroup"
CREATE_GROUP: Final = "auth:CreateGroup"
DELETE_GROUP: Final = "auth:DeleteGroup"
LIST_GROUPS: Final = "auth:ListGroups"
ADD_GROUP_MEMBER: Final = "auth:AddGroupMember"
REMOVE_GROUP_MEMBER: Final = "auth:RemoveGroupMember"
READ_POLICY: Final = "auth:ReadPolicy"
CREATE_POLICY: Final = "auth:CreatePolicy"
UPDATE_POLICY: Final = "auth:UpdatePolicy"
DELETE_POLICY: Final = "auth:DeletePolicy"
LIST_POLICIES: Final = "auth:ListPolicies"
ATTACH_POLICY: Final = "auth:AttachPolicy"
DETACH_POLICY: Final = "auth:DetachPolicy"
READ_CREDENTIALS: Final = "auth:ReadCredentials"
CREATE_CREDENTIALS: Final = "auth:CreateCredentials"
DELETE_CREDENTIALS: Final = "auth:DeleteCredentials"
LIST_CREDENTIALS: Final = "auth:ListCredentials"
CREATE_USER_EXTERNAL_PRINCIPAL: Final = "auth:CreateUserExternalPrincipal"
DELETE_USER_EXTERNAL_PRINCIPAL: Final = "auth:DeleteUserExternalPrincipal"
READ_EXTERNAL_PRINCIPAL: Final = "auth:ReadExternalPrincipal"

READ_ACTION: Final = "ci:ReadAction"

PREPARE_GARBAGE_COLLECTION_COMMITS: Final = "retention:PrepareGarbageCollectionCommits"
PREPARE_GARBAGE_COLLECTION_UNCOMMITTED: Final = "retention:PrepareGarbageCollectionUncommitted"
GET_GARBAGE_COLLECTION_RULES: Final = "retention:GetGarbageCollectionRules"
SET_GARBAGE_COLLECTION_RULES: Final = "retention:SetGarbageCollectionRules"

GET_BRANCH_PROTECTION_RULES: Final = "branches:GetBranchProtectionRules"
SET_BRANCH_PROTECTION_RULES: Final = "branches:SetBranchProtectionRules"

READ_PULL_REQUEST: Final = "pr:ReadPullRequest"
WRITE_PULL_REQUEST: Final = "pr:WritePullRequest"
LIST_PULL_REQUESTS: Final = "pr:ListPullRequests"

LIST_NAMESPACES: Final = "catalog:ListNamespaces"
GET_NAMESPACE: Final = "catalog:GetNamespace"
LIST_TABLES: Final = "catalog:ListTables"
READ_TABLE: Final = "catalog:ReadTable"
LIST_VIEWS: Final = "catalog:ListViews"
READ_VIEW: Final = "catalog:ReadView"

# Lochan's own; lakeFS has no pipelines.
CREATE_PIPELINE: Final = "pipelines:CreatePipeline"
UPDATE_PIPELINE: Final = "pipelines:UpdatePipeline"
DELETE_PIPELINE: Final = "pipelines:DeletePipeline"
READ_PIPELINE: Final = "pipelines:ReadPipeline"
RUN_PIPELINE: Final = "pipelines:RunPipeline"
READ_JOB: Final = "pipelines:ReadJob"
STOP_JOB: Final = "pipelines:StopJob"

SERVICES: Final = frozenset(
    {"fs", "auth", "ci", "retention", "branches", "pr", "catalog", "pipelines"}
)

# Everything that a request may need; what a route declares must be one of these.
ACTIONS: Final = frozenset(
    value for name, value in list(globals().items()) if name.isupper() and isinstance(value, str)
)

_PATTERN: Final = re.compile(r"([a-z]+):[A-Za-z*?]+", re.ASCII)


def is_action_pattern(text: str) -> bool:
    """Say whether a policy may name actions so: `*`, or a known service and a verb or wildcards."""
    if text == "*":
        return True
    found = _PATTERN.fullmatch(text)
    return found is not None and found[1] in SERVICES
