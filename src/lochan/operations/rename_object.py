# SPDX-License-Identifier: Apache-2.0
"""Rename one object by metadata alone: its entry goes to the new key, and its bytes stay.

    1. copy by reference to the new key, which is logged (H19), unless something is there
    2. a tombstone at the old key, unless that was written anew, or the new key shows nothing

Step 2 begins when step 1 was acknowledged, so the object can always be reached under one key or the
other, and under both for a moment, unless somebody resets or deletes the new one alone. After a
failure in between, the same call with `overwrite` ends it. What somebody writes to the old key
after it was copied comes after the rename, and stays. A reset between the steps forgets the copy:
the tombstone would take a committed object away, so the new key is looked at whenever the old one
is. Where nobody can tell whether the tombstone was written (`stage_if`), the old key is looked at
again.
"""

from collections.abc import Callable

import msgspec

from lochan.errors import AlreadyExists, Conflict, InvalidInput, PredicateFailed, Unavailable
from lochan.kernel.records import Record
from lochan.model.codec import decode_entry
from lochan.model.entry import Entry
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.records import Repository, StagedEntry
from lochan.operations.conditions import Condition, if_absent
from lochan.operations.copy_object import Source, copy_object
from lochan.operations.lake import Lake
from lochan.operations.stage_if import ATTEMPTS, stage_if
from lochan.operations.view import find_record, read_stably
from lochan.refs.outcomes import begun


def rename_object(
    lake: Lake,
    repository: Repository,
    branch: BranchName,
    source: ObjectKey,
    destination: ObjectKey,
    *,
    overwrite: bool = False,
) -> None:
    """Move an object of a branch to another key.

    Raises: NotFound for the source; AlreadyExists, unless it may be overwritten; InvalidInput when
    both keys are one; Refused; Conflict when a merge or a reset came between, or somebody came to
    the new key; UnknownOutcome when the object may be there under both.
    """
    if source == destination:
        raise InvalidInput(f"{source!r} is renamed to itself", code="prefixes-overlap")
    condition = None if overwrite else if_absent
    try:
        copied = copy_object(
            lake, repository, branch, destination, Source(branch, source), condition=condition
        )
    except PredicateFailed as error:
        message = f"there is an object {destination!r} on {branch!r}; choose another key"
        raise AlreadyExists(message, code="object-exists") from error

    def is_there() -> bool:
        return read_stably(
            lake,
            repository,
            branch,
            lambda one: find_record(lake, repository, one, destination) is not None,
        )

    is_still_copied = _gone_or(copied, is_there)
    with begun(f"the rename of {source!r}"):
        for _ in range(ATTEMPTS):
            try:
                stage_if(lake, repository, branch, StagedEntry(source), is_still_copied)
            except Conflict as error:
                if not is_there():
                    raise _forgotten(branch, source, destination) from error
                if isinstance(error, PredicateFailed):  # a newcomer is under the old key
                    return
            else:
                return
        raise Unavailable(f"object {source!r} was written {ATTEMPTS} times meanwhile")


def _gone_or(copied: Entry, is_there: Callable[[], bool]) -> Condition:
    """Make the condition that a key still shows what was copied and is there, or nothing.

    Also where nothing is shown a tombstone is written: what hides the object may be in no commit.
    """

    def met(shown: Record | None) -> bool:
        if shown is None:
            return True
        found = decode_entry(shown.value)
        same = msgspec.structs.replace(found, last_modified=copied.last_modified) == copied
        return same and is_there()

    return met


def _forgotten(branch: BranchName, source: ObjectKey, destination: ObjectKey) -> Conflict:
    return Conflict(
        f"{destination!r} was reset or deleted on {branch!r} while {source!r} was renamed to it;"
        f" {source!r} is as the branch shows it now: look, then rename it again",
        code="rename-overtaken",
    )
