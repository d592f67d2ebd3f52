# SPDX-License-Identifier: Apache-2.0
"""Finish a commit: no more files, one tree, one commit on its branch.

    1. freeze    compare-and-swap of the open commit's record: writers find it closed (see writing)
    2. build     its rows, read as changes, over the head's tree; files that begin here get the
                 commit's own clock as their epoch
    3. publish   the branch's compare-and-swap; when the head has moved, build again on the new one,
                 or give up if the commit was to go right behind its parent
    4. close     the record names the commit, and no longer the token

After a crash finish_commit is called again, by anybody: it goes on where the first one stopped, and
finds the commit if step 3 came to its end. Before the swap the record is read once more: who closed
it meanwhile may have had the rows wiped under our scan.
"""

from collections.abc import Iterator, Mapping

import msgspec

from lochan.errors import Conflict, NotFound, NotUnique
from lochan.model.ids import EMPTY_TREE, OpenCommitId
from lochan.model.instant import from_seconds
from lochan.model.records import Commit, OpenCommit, Repository, Slot
from lochan.operations.allowed import Action
from lochan.operations.lake import Lake
from lochan.operations.open_commits.change_since import Decide, always
from lochan.operations.open_commits.file_tree import FileTrees
from lochan.operations.open_commits.land import Growth, begin, land
from lochan.operations.open_commits.published import MARK, close, find_on_branch, find_published
from lochan.operations.open_commits.slot import branch_taken, slot_taken
from lochan.operations.open_commits.staged_change import change_of
from lochan.operations.open_commits.writing import not_open
from lochan.operations.request import Said
from lochan.refs.commits import get_commit
from lochan.refs.open_commits import State, get_open_commit, open_commits, state_of
from lochan.refs.outcomes import begun


def finish_commit(
    lake: Lake,
    repository: Repository,
    open_id: OpenCommitId,
    *,
    message: str = "",
    metadata: Mapping[str, str] | None = None,
) -> Commit:
    """Publish an open commit on its branch; an empty one, too.

    Raises: NotFound; Conflict, code not-open for one that is finished or failed, slot-taken for one
    that lost its place (it has failed by that), file-and-directory; Refused; UnknownOutcome: repeat
    it.
    """
    opened = _freeze(lake, repository, open_id, message, metadata or {})
    with begun(f"finishing commit {open_id}"):
        try:
            made = _Finishing(lake, repository, opened).publish()
        except Conflict as error:
            if error.code == "slot-taken":
                close(lake, repository, opened, error=error.message)
            raise
        close(lake, repository, opened, commit_id=made.id)
    return made


def _freeze(
    lake: Lake,
    repository: Repository,
    open_id: OpenCommitId,
    message: str,
    metadata: Mapping[str, str],
) -> OpenCommit:
    opened = get_open_commit(lake.store, repository, open_id).record
    generation = _generation(lake, repository, opened)
    now = from_seconds(lake.environment.now())

    def frozen(current: OpenCommit | None) -> OpenCommit:
        if current is None:
            raise NotFound(f"commit {open_id} is not open any more", code="open-commit-not-found")
        if state_of(current) in {State.PUBLISHED, State.FAILED}:
            raise not_open(current)
        if state_of(current) is State.FINISHING:
            return current  # somebody else's finish: go on with what that one said
        return msgspec.structs.replace(
            current, finished=now, generation=generation, message=message, metadata=metadata
        )

    found = open_commits(lake.store, repository).update(
        open_id.encode(), frozen, lake.environment, landed=_is_frozen
    )
    assert found is not None  # noqa: S101 - frozen never gives None
    return found


def _is_frozen(now: OpenCommit | None) -> bool | None:
    return None if now is None else state_of(now) is not State.OPEN


def _generation(lake: Lake, repository: Repository, opened: OpenCommit) -> int:
    """Give the generation that the commit will surely be above."""
    tables, below = lake.tables(repository), opened.parent
    if opened.slot is not Slot.BEGINS:
        below = lake.branches.fresh(repository, opened.branch).record.commit_id
    return get_commit(tables, below).generation if below else 0


class _Finishing:
    """Publishes one frozen commit; `found` is the commit that came of it, whoever published it."""

    def __init__(self, lake: Lake, repository: Repository, opened: OpenCommit) -> None:
        self._lake = lake
        self._repository = repository
        self._opened = opened
        self._found: Commit | None = None

    def publish(self) -> Commit:
        where = (self._lake, self._repository, self._opened.branch)
        if self._opened.slot is Slot.BEGINS:
            self._begin()
        else:
            land(*where, Action.COMMIT, self._grow)
        assert self._found is not None  # noqa: S101 - _grow and _begin find it or raise
        return self._found

    def _begin(self) -> None:
        lake, repository, opened = self._lake, self._repository, self._opened
        tables = lake.tables(repository)
        if tables.branches.find(opened.branch.encode()) is None:
            parent = get_commit(tables, opened.parent) if opened.parent else None
            try:
                begin(lake, repository, opened.branch, parent, Action.COMMIT, self._grow)
            except NotUnique:
                pass  # by whom is seen below
            else:
                return
        self._found = find_on_branch(lake, repository, opened)
        if self._found is None:
            raise branch_taken(opened.branch)

    def _grow(self, growth: Growth) -> None:
        opened, head = self._opened, growth.head
        self._found = find_published(self._lake, self._repository, opened, head)
        if self._found is not None:
            return
        if opened.slot is Slot.CONTINUES and head is not None and head.id != opened.parent:
            raise slot_taken(opened.parent, opened.branch)
        trees = FileTrees(self._lake, self._repository, opened.finished)
        base = head.meta_range_id if head else EMPTY_TREE
        tree = trees.changed(base, self._changes(), growth.clocks[-1])
        self._found = self._closed_meanwhile()
        if self._found is None:
            self._found = growth.add(tree, self._said())

    def _changes(self) -> Iterator[tuple[bytes, Decide]]:
        for row in self._lake.staging.scan(self._opened.staging_token):
            yield row.key, always(change_of(row))

    def _closed_meanwhile(self) -> Commit | None:
        """Give the commit that somebody else has made of this one. Raises Conflict for a failed."""
        current = get_open_commit(self._lake.store, self._repository, self._opened.id).record
        if current.commit_id:
            return get_commit(self._lake.tables(self._repository), current.commit_id)
        if state_of(current) is State.FAILED:
            raise not_open(current)
        return None

    def _said(self) -> Said:
        opened = self._opened
        return Said(
            opened.committer,
            opened.message,
            {**opened.metadata, MARK: opened.id},
            opened.finished,
            started=opened.started,
            finished=opened.finished,
            provenance=opened.provenance,
        )
