# SPDX-License-Identifier: Apache-2.0
"""Finish a commit: no more files, one tree, one commit on its branch.

    1. freeze    compare-and-swap of the open commit's record: writers find it closed (see writing);
                 not while its branch is missing or takes no commits
    2. build     its rows, read as changes, over the head's tree; files that begin here get the
                 commit's own clock as their epoch
    3. attempt   compare-and-swap of the record, which names the commit that is to be published;
                 who closed it meanwhile may have had the rows wiped under our scan
    4. publish   the branch's compare-and-swap; when the head has moved, build again on the new one,
                 or give up if the commit was to go right behind its parent
    5. close     the record names the commit, and no longer the token

After a crash finish_commit is called again, by anybody: it goes on where the first one stopped, and
finds the commit if step 4 came to its end.

Published once: who builds on a head reads the record after the head, and finds none of its attempts
published. One that is published after that changes the branch's record, which never comes back, so
our swap is lost. An attempt that is not on the head, and was in the record before the head was
read, has lost for ever, and goes from the record with the next one. (Where a branch is begun the
swap expects its absence, and that comes back: a process that stands still between 3 and 4 while
others publish the commit and delete its branch makes the branch again.)
"""

from collections.abc import Iterator, Mapping

import msgspec

from lochan.errors import Conflict, NotFound, NotUnique, Refused
from lochan.model.ids import EMPTY_TREE, CommitId, OpenCommitId
from lochan.model.instant import from_seconds
from lochan.model.records import Commit, OpenCommit, Repository, Slot
from lochan.operations.allowed import Action, require_allowed
from lochan.operations.lake import Lake
from lochan.operations.open_commits.file_change import Decide, always
from lochan.operations.open_commits.file_tree import FileTrees
from lochan.operations.open_commits.land import Growth, begin, land
from lochan.operations.open_commits.published import MARK, attempts_of, close, find_published
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
        finishing = _Finishing(lake, repository, opened)
        try:
            made = finishing.publish()
        except Conflict as error:
            if error.code == "slot-taken":
                close(lake, repository, finishing.opened, error=error.message)
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
    if state_of(opened) is State.OPEN:
        _require_branch(lake, repository, opened)
    now = from_seconds(lake.environment.now())

    def frozen(current: OpenCommit | None) -> OpenCommit:
        if current is None:
            raise _gone(open_id)
        if state_of(current) is State.PUBLISHED:
            raise not_open(current)
        if state_of(current) is not State.OPEN:
            return current  # somebody else's finish: go on with what that one said
        return msgspec.structs.replace(current, finished=now, message=message, metadata=metadata)

    found = open_commits(lake.store, repository).update(
        open_id.encode(), frozen, lake.environment, landed=_is_frozen
    )
    assert found is not None  # noqa: S101 - frozen never gives None
    return found


def _require_branch(lake: Lake, repository: Repository, opened: OpenCommit) -> None:
    """Refuse while files can still be put: what is frozen takes none until its branch is there.

    Raises: NotFound; Refused.
    """
    if opened.slot is Slot.BEGINS:
        current = lake.branches.fresh_repository(repository)
    else:
        current = lake.branches.fresh(repository, opened.branch).repository
    require_allowed(current, opened.branch, Action.COMMIT, force=lake.force)


def _gone(open_id: OpenCommitId) -> NotFound:
    return NotFound(f"commit {open_id} is not open any more", code="open-commit-not-found")


def _is_frozen(now: OpenCommit | None) -> bool | None:
    return None if now is None else state_of(now) is not State.OPEN


class _AlreadyPublishedError(Exception):
    """The commit was published, by whomever, and nothing is to be done."""

    def __init__(self, commit: Commit) -> None:
        """Say which one it is."""
        super().__init__(commit.id)
        self.commit = commit


class _Finishing:
    """Publishes one frozen commit; `opened` is its record as it was last looked at."""

    def __init__(self, lake: Lake, repository: Repository, opened: OpenCommit) -> None:
        self.opened = opened
        self._lake = lake
        self._repository = repository
        self._made: Commit | None = None
        self._lost: frozenset[CommitId] = frozenset()

    def publish(self) -> Commit:
        """Publish the commit; gives the one that came of it, whoever published it."""
        try:
            self._require_unpublished(self.opened)
            self._land()
        except _AlreadyPublishedError as found:
            return found.commit
        assert self._made is not None  # noqa: S101 - _grow makes it or raises
        return self._made

    def _land(self) -> None:
        try:
            if self.opened.slot is Slot.BEGINS:
                self._begin()
            else:
                where = (self._lake, self._repository, self.opened.branch)
                land(*where, Action.COMMIT, self._grow)
        except (NotFound, Refused):
            self._look()  # its branch may have gone, or been closed, since it was published
            raise

    def _begin(self) -> None:
        lake, repository, opened = self._lake, self._repository, self.opened
        tables = lake.tables(repository)
        if tables.branches.find(opened.branch.encode()) is None:
            parent = get_commit(tables, opened.parent) if opened.parent else None
            try:
                begin(lake, repository, opened.branch, parent, Action.COMMIT, self._grow)
            except NotUnique:
                pass  # by whom is seen below
            else:
                return
        self._look()
        raise branch_taken(opened.branch)

    def _grow(self, growth: Growth) -> None:
        seen, head = self.opened.attempts, growth.head
        self._look()
        opened = self.opened
        if opened.slot is Slot.CONTINUES and head is not None and head.id != opened.parent:
            raise slot_taken(opened.parent, opened.branch)
        below = (head.id,) if head else ()
        tried = attempts_of(self._lake, self._repository, opened) if seen else ()
        self._lost = frozenset(
            each.id for each in tried if each.id in seen and each.parents != below
        )
        trees = FileTrees(self._lake, self._repository, opened.finished)
        base = head.meta_range_id if head else EMPTY_TREE
        tree = trees.changed(base, self._changes(), growth.clocks[-1])
        self._made = growth.add(tree, self._said())
        self._attempt(self._made.id)

    def _look(self) -> None:
        """Read the record anew. Raises what `_require_unpublished` does."""
        open_id = self.opened.id
        self._require_unpublished(
            get_open_commit(self._lake.store, self._repository, open_id).record
        )
        found = find_published(self._lake, self._repository, self.opened)
        if found is not None:
            raise _AlreadyPublishedError(found)

    def _attempt(self, made: CommitId) -> None:
        """Name a commit that is about to be published. Raises what `_require_unpublished` does."""
        open_id, lost = self.opened.id, self._lost

        def attempted(current: OpenCommit | None) -> OpenCommit:
            if current is None:
                raise _gone(open_id)
            if state_of(current) is not State.FINISHING:
                return current
            others = (each for each in current.attempts if each != made and each not in lost)
            return msgspec.structs.replace(current, attempts=(*others, made))

        def landed(now: OpenCommit | None) -> bool:
            return now is not None and state_of(now) is State.FINISHING and made in now.attempts

        current = open_commits(self._lake.store, self._repository).update(
            open_id.encode(), attempted, self._lake.environment, landed=landed
        )
        assert current is not None  # noqa: S101 - attempted never gives None
        self._require_unpublished(current)

    def _require_unpublished(self, current: OpenCommit) -> None:
        """Go on with a record. Raises _AlreadyPublishedError, or Conflict for one that failed."""
        if state_of(current) in {State.PUBLISHED, State.FAILED}:
            found = find_published(self._lake, self._repository, current)
            if found is not None:
                raise _AlreadyPublishedError(found)
            raise not_open(current)
        self.opened = current

    def _changes(self) -> Iterator[tuple[bytes, Decide]]:
        for row in self._lake.staging.scan(self.opened.staging_token):
            yield row.key, always(change_of(row))

    def _said(self) -> Said:
        opened = self.opened
        return Said(
            opened.committer,
            opened.message,
            {**opened.metadata, MARK: opened.id},
            opened.finished,
            started=opened.started,
            finished=opened.finished,
            provenance=opened.provenance,
        )
