# SPDX-License-Identifier: Apache-2.0
"""Put an object: its bytes into the store, then its entry into the branch's staging area.

The object is there before its entry: an entry never names what is not whole. A put that fails in
between leaves an object that nobody names, for the collector.

A conditional put (H5) decides on a stable read and writes by compare-and-swap on the staged row, so
that of two puts with the same condition one wins. If a seal made it write again, its own entry of
the first time is no conflict, and a staged row that changed is looked at again: a refusal always
means that the condition fails on what somebody else wrote.
"""

from collections.abc import Mapping
from contextlib import suppress

from lochan.errors import InvalidInput, PredicateFailed, Unavailable
from lochan.kernel.records import Record
from lochan.model.codec import encode_entry
from lochan.model.entry import DEFAULT_CONTENT_TYPE, AddressType, Entry, identity
from lochan.model.ids import BranchName, ObjectKey, StagingToken
from lochan.model.instant import from_seconds
from lochan.model.records import Branch, Repository, StagedEntry
from lochan.objects.body import Measured
from lochan.objects.store import IF_ABSENT, Body
from lochan.operations.conditions import Condition
from lochan.operations.lake import Lake
from lochan.operations.stage import seen_writable, stage, stage_rows
from lochan.operations.view import find_record, is_same_view, read_stably, tokens_of
from lochan.refs.outcomes import begun

__all__ = ["Condition", "put_object", "require_condition", "stage_entry", "stage_if"]

# A lost race means that somebody else's write went through, so that this bounds only a storm.
ATTEMPTS = 100
# A listing holds a thousand entries in memory: metadata, type and checksum must have a bound (S18).
MAX_DESCRIPTION_BYTES = 64 << 10


def put_object(  # noqa: PLR0913 - what a caller may say of an object
    lake: Lake,
    repository: Repository,
    branch: BranchName,
    key: ObjectKey,
    body: Body,
    *,
    size: int | None = None,
    content_type: str = DEFAULT_CONTENT_TYPE,
    metadata: Mapping[str, str] | None = None,
    condition: Condition | None = None,
) -> Entry:
    """Store an object and stage its entry. Raises PredicateFailed where the condition fails."""
    seen_writable(lake, repository, branch)  # a branch that takes no writes takes no bytes
    if condition is not None:
        require_condition(lake, repository, branch, key, condition)
    storage = lake.storage(repository.storage_namespace)
    address = storage.addresses.new(key.decode(errors="replace"))
    measured = Measured(body)
    storage.objects.put(address, measured, size=size, when=IF_ABSENT)
    entry = Entry(
        address=address,
        last_modified=from_seconds(lake.environment.now()),
        size=measured.size,
        e_tag=measured.md5,
        metadata=metadata or {},
        address_type=AddressType.RELATIVE,
        content_type=content_type,
    )
    stage_entry(lake, repository, branch, key, entry, condition=condition)
    return entry


def stage_entry(
    lake: Lake,
    repository: Repository,
    branch: BranchName,
    key: ObjectKey,
    entry: Entry,
    *,
    condition: Condition | None = None,
) -> None:
    """Stage the entry of an object that is in the store already.

    Raises: InvalidInput, code description-too-large; PredicateFailed; as `stage`.
    """
    staged = staged_entry(key, entry)
    if condition is None:
        stage_rows(lake, repository, branch, [staged])
        return
    stage_if(lake, repository, branch, staged, condition)


def stage_if(
    lake: Lake,
    repository: Repository,
    branch: BranchName,
    staged: StagedEntry,
    condition: Condition,
) -> None:
    """Stage an entry, or a tombstone, where what the branch shows meets a condition.

    Raises: PredicateFailed; as `stage`.
    """
    stage(lake, repository, branch, _Conditional(lake, repository, branch, staged, condition))


def staged_entry(key: ObjectKey, entry: Entry) -> StagedEntry:
    """Write an entry as it is staged. Raises InvalidInput, code description-too-large."""
    staged = StagedEntry(key, identity(entry), encode_entry(entry))
    if len(staged.data) > MAX_DESCRIPTION_BYTES and not entry.blocks:
        message = f"what is said of object {key!r} has more than {MAX_DESCRIPTION_BYTES} bytes"
        raise InvalidInput(f"{message}; shorten its metadata", code="description-too-large")
    return staged


class _Conditional:
    """One conditional write, repeated under another token after a seal."""

    def __init__(
        self,
        lake: Lake,
        repository: Repository,
        branch: BranchName,
        staged: StagedEntry,
        condition: Condition,
    ) -> None:
        self._lake = lake
        self._where = (repository, branch)
        self._staged = staged
        self._condition = condition

    def __call__(self, token: StagingToken) -> None:
        """Write under a token if what the branch shows meets the condition, or is ours already."""
        repository, branch = self._where
        key = ObjectKey(self._staged.key)
        for _ in range(ATTEMPTS):
            row = self._lake.staging.find(token, key)
            judged = require_condition(self._lake, repository, branch, key, self._condition_or_ours)
            try:
                self._lake.staging.set_if(token, self._staged, row[1] if row else None)
            except PredicateFailed:  # what was written meanwhile may meet the condition
                continue
            if row is None:
                with begun(f"a write to branch {branch!r}"):
                    self._judge_below(token, judged)
            return
        raise Unavailable(f"object {self._staged.key!r} was written {ATTEMPTS} times meanwhile")

    def _judge_below(self, token: StagingToken, judged: Branch) -> None:
        """Judge again what our row covers, if the head was moved since the branch was judged.

        A merge moves it under the same tokens, and may have brought the object: then our row is
        taken back. A commit moves it by taking tokens, and brings nothing that was not there to be
        judged; what a sealed token holds is no reason to refuse (H4).
        """
        repository, branch = self._where
        current = self._lake.branches.fresh(repository, branch).record
        while current.commit_id != judged.commit_id and tokens_of(current) == tokens_of(judged):
            below = find_record(self._lake, repository, current, self._staged.key, ())
            judged, current = current, self._lake.branches.fresh(repository, branch).record
            if is_same_view(judged, current) and not self._condition_or_ours(below):
                self._take_back(token)
                raise _changed(ObjectKey(self._staged.key), branch)

    def _take_back(self, token: StagingToken) -> None:
        found = self._lake.staging.find(token, self._staged.key)
        if found is not None and found[0] == self._staged:
            with suppress(PredicateFailed):  # somebody wrote over it
                self._lake.staging.delete_if(token, self._staged.key, found[1])

    def _condition_or_ours(self, shown: Record | None) -> bool:
        ours = Record(self._staged.key, self._staged.identity, self._staged.data)
        return shown == ours or self._condition(shown)


def require_condition(
    lake: Lake, repository: Repository, branch: BranchName, key: ObjectKey, condition: Condition
) -> Branch:
    """Refuse unless what a branch shows for a key meets a condition; gives the branch so judged.

    Raises PredicateFailed.
    """
    record, shown = read_stably(
        lake, repository, branch, lambda one: (one, find_record(lake, repository, one, key))
    )
    if not condition(shown):
        raise _changed(key, branch)
    return record


def _changed(key: ObjectKey, branch: BranchName) -> PredicateFailed:
    return PredicateFailed(
        f"object {key!r} on {branch!r} is not as the request expects; read it and decide again",
        code="object-changed",
    )
