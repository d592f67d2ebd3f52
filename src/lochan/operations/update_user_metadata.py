# SPDX-License-Identifier: Apache-2.0
"""Replace what people say of an object: another entry for the same bytes.

The entry that is replaced must still be the one that was read, or another writer's object would be
undone; so the write is conditional, and looks again where it lost.
"""

from collections.abc import Mapping

import msgspec

from lochan.errors import Conflict, NotFound, PredicateFailed
from lochan.kernel.records import Record
from lochan.model.codec import decode_entry
from lochan.model.entry import Entry
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.records import Repository
from lochan.operations.lake import Lake
from lochan.operations.put_object import stage_entry
from lochan.operations.view import find_record, read_stably

ATTEMPTS = 100  # each lost one means that somebody else wrote the object


def update_user_metadata(
    lake: Lake,
    repository: Repository,
    branch: BranchName,
    key: ObjectKey,
    metadata: Mapping[str, str],
) -> Entry:
    """Give an object of a branch other metadata; its bytes, type and time stay.

    Raises: NotFound; Refused for a branch that takes no writes; Conflict when it kept changing.
    """
    for _ in range(ATTEMPTS):
        found = read_stably(
            lake, repository, branch, lambda one: find_record(lake, repository, one, key)
        )
        if found is None:
            name = key.decode(errors="replace")
            raise NotFound(f"no object {name!r} in {branch!r}", code="object-not-found")
        entry = msgspec.structs.replace(decode_entry(found.value), metadata=dict(metadata))
        try:
            stage_entry(lake, repository, branch, key, entry, condition=_Still(found))
        except PredicateFailed:
            continue
        return entry
    raise Conflict(f"object {key!r} of {branch!r} kept changing; try again")


class _Still:
    """The condition that nobody wrote the object since it was read."""

    def __init__(self, found: Record) -> None:
        self._found = found

    def __call__(self, shown: Record | None) -> bool:
        return shown is not None and shown.value == self._found.value
