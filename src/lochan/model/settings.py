# SPDX-License-Identifier: Apache-2.0
"""What a repository is told about itself as a whole: how long to keep things, and plain metadata.

Neither is read on the way of a request to an object, so each lies under a key of its own and not in
the repository's record. `unknown` keeps the fields of a newer program, as in `records`.
"""

from collections.abc import Mapping

import msgspec

from lochan.model.ids import BranchName


class GarbageCollectionRules(msgspec.Struct, frozen=True, kw_only=True):
    """For how many days a branch keeps what it no longer shows; the default is for all others."""

    default_retention_days: int
    branch_retention_days: Mapping[BranchName, int] = msgspec.field(default_factory=dict)
    unknown: bytes = b""


class RepositoryMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """Keys and values that people attach to a repository."""

    metadata: Mapping[str, str] = msgspec.field(default_factory=dict)
    unknown: bytes = b""
