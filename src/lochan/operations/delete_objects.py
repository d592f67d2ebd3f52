# SPDX-License-Identifier: Apache-2.0
"""Delete objects from a branch: a tombstone each, whatever is there.

The tombstone is written blindly (H4). To look first and skip what seems gone would lose deletes: a
sealed token may hold our own late tombstone, which no commit will contain. Tombstones of absent
keys change nothing and go at the next commit.
"""

from collections.abc import Iterable

from lochan.model.ids import BranchName, ObjectKey
from lochan.model.records import Repository, StagedEntry
from lochan.operations.lake import Lake
from lochan.operations.stage import stage


def delete_objects(
    lake: Lake, repository: Repository, branch: BranchName, keys: Iterable[ObjectKey]
) -> None:
    """Remove keys from what a branch shows. Idempotent; an absent key is no error."""
    tombstones = [StagedEntry(key) for key in keys]
    stage(lake, repository, branch, lambda token: lake.staging.set_many(token, tombstones))
