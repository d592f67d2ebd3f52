# SPDX-License-Identifier: Apache-2.0
"""Rename one object by metadata alone: its entry goes to the new key, and its bytes stay.

    1. copy by reference to the new key, which is logged (H19), unless something is there
    2. a tombstone at the old key, unless that was written anew, or the new key shows nothing

Step 2 begins when step 1 was acknowledged, so the object can always be reached under one key or the
other, and under both for a moment, unless somebody resets or deletes the new one alone. After a
failure in between, the same call with `overwrite` ends it. What somebody writes to the old key
after it was copied comes after the rename, and stays; it is known by its time, since it may be the
same object. A reset between the steps forgets the copy: the tombstone would take a committed object
away, so the new key is looked at whenever the old one is.

Where nobody can tell whether the tombstone was written (`stage_if`), both keys are looked at. An
object that is still there may not have been taken away yet, or have been brought back: if nothing
but writers changed the branch since, it is the first.
"""

from dataclasses import dataclass

import msgspec

from lochan.errors import AlreadyExists, Conflict, InvalidInput, PredicateFailed, Unavailable
from lochan.kernel.records import Record
from lochan.model.codec import decode_entry
from lochan.model.entry import Entry, identity
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.instant import from_seconds
from lochan.model.records import Repository, StagedEntry
from lochan.operations.conditions import if_absent
from lochan.operations.copy_object import Source, hold_source
from lochan.operations.lake import Lake
from lochan.operations.put_object import stage_entry
from lochan.operations.stage import seen_writable
from lochan.operations.stage_if import ATTEMPTS, require_condition, stage_if
from lochan.operations.view import find_record, nothing_brought, read_stably
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
    both keys are one; Refused; Conflict when others came between; UnknownOutcome when the object
    may be there under both.
    """
    if source == destination:
        raise InvalidInput(f"{source!r} is renamed to itself", code="prefixes-overlap")
    seen_writable(lake, repository, branch)
    found = hold_source(lake, repository, Source(branch, source))
    copied = msgspec.structs.replace(found, last_modified=from_seconds(lake.environment.now()))
    condition = None if overwrite else if_absent
    try:
        if condition is not None:
            require_condition(lake, repository, branch, destination, condition)
        stage_entry(lake, repository, branch, destination, copied, condition=condition)
    except PredicateFailed as error:
        message = f"there is an object {destination!r} on {branch!r}; choose another key"
        raise AlreadyExists(message, code="object-exists") from error
    with begun(f"the rename of {source!r}"):
        _Taking(lake, repository, branch, source, destination, found).take()


@dataclass(frozen=True, slots=True)
class _Taking:
    """Step 2: the object that was found at the old key is taken away there, and no other."""

    lake: Lake
    repository: Repository
    branch: BranchName
    source: ObjectKey
    destination: ObjectKey
    found: Entry

    def take(self) -> None:
        """Leave nothing at the old key of what was found there. Raises: Conflict; Unavailable."""
        where = (self.lake, self.repository, self.branch)
        began = self.lake.branches.fresh(self.repository, self.branch).record
        for _ in range(ATTEMPTS):
            try:
                stage_if(*where, StagedEntry(self.source), self._is_to_go)
            except Conflict as error:
                if not self._is_copied():
                    raise self._forgotten() from error
                if not self._is_found(self._shown(self.source)):
                    return  # it is gone, or a newcomer is there
                now = self.lake.branches.fresh(self.repository, self.branch).record
                if not isinstance(error, PredicateFailed) and not nothing_brought(began, now):
                    raise
            else:
                return
        raise Unavailable(f"object {self.source!r} was written {ATTEMPTS} times meanwhile")

    def _is_to_go(self, shown: Record | None) -> bool:
        """Say whether a key still shows what was found and is copied, or nothing.

        Also where nothing is shown a tombstone is written: what hides the object may be in no
        commit.
        """
        return shown is None or (self._is_found(shown) and self._is_copied())

    def _is_found(self, shown: Record | None) -> bool:
        """Say whether this is what was found; a commit may have put its equal of before there."""
        if shown is None or shown.identity != identity(self.found):
            return False
        return decode_entry(shown.value).last_modified <= self.found.last_modified

    def _is_copied(self) -> bool:
        return self._shown(self.destination) is not None

    def _shown(self, key: ObjectKey) -> Record | None:
        return read_stably(
            self.lake,
            self.repository,
            self.branch,
            lambda one: find_record(self.lake, self.repository, one, key),
        )

    def _forgotten(self) -> Conflict:
        return Conflict(
            f"{self.destination!r} was reset or deleted on {self.branch!r} while {self.source!r}"
            f" was renamed to it; {self.source!r} is as the branch shows it now: look, then rename"
            " it again",
            code="rename-overtaken",
        )
