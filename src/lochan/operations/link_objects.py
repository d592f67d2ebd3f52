# SPDX-License-Identifier: Apache-2.0
"""Link many objects that were uploaded past Lochan, in one go.

All are looked at first, and one that may not be linked stops all; then all are staged together.
Each entry is atomic by itself: who needs all or nothing links on a branch of its own and merges it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from lochan.model.ids import BranchName, ObjectKey
from lochan.model.records import Repository, StagedEntry
from lochan.operations.lake import Lake
from lochan.operations.link_object import Uploaded, checked_address, entry_of, require_object
from lochan.operations.put_object import staged_entry
from lochan.operations.stage import seen_writable, stage_rows

LOOKS = 16  # at once: a cloud takes some 20 ms for each


class Link(NamedTuple):
    """An object, and the path that it is linked to."""

    key: ObjectKey
    uploaded: Uploaded


def link_objects(
    lake: Lake, repository: Repository, branch: BranchName, links: Sequence[Link]
) -> None:
    """Stage the entries of uploaded objects. Raises as `link_object`, which says what of whom."""
    seen_writable(lake, repository, branch)

    def looked_at(link: Link) -> StagedEntry:
        address, kind = checked_address(
            lake, repository, link.uploaded.address, allow_foreign=False
        )
        require_object(lake, repository, address, link.uploaded.size)
        return staged_entry(link.key, entry_of(lake, link.uploaded, address, kind))

    with lake.environment.executor(min(LOOKS, len(links) or 1)) as pool:
        rows = list(pool.map(looked_at, links))
    if rows:
        stage_rows(lake, repository, branch, rows)
