# SPDX-License-Identifier: Apache-2.0
"""Undo a run: all that it put into the trash goes back to where it was.

Its commits can be built on again, until the next run finds that the rules still do not keep them:
all of them but those of which another run has objects in the trash.
"""

from collections.abc import Iterator, Mapping, Sequence

from lochan.errors import Conflict, Corruption, NotFound
from lochan.model.ids import CommitId, RangeId
from lochan.model.records import Repository
from lochan.operations.allowed import require_writable
from lochan.operations.gc.expiry import Commits
from lochan.operations.gc.lease import Lease, collecting
from lochan.operations.gc.mark import Told, distinct_ranges, range_marks, tell_nobody
from lochan.operations.gc.roots import address_hash, trees_of
from lochan.operations.gc.sweeping import end_sweeping
from lochan.operations.gc.trash import Bin, State, Trash, find_bin, list_trash, valid_run
from lochan.operations.lake import Lake
from lochan.refs.commits import get_commit
from lochan.refs.expired import expired_commits, hand_on, keep_again


def undo(
    lake: Lake, repository: Repository, run: str = "", told: Told = tell_nobody
) -> tuple[Trash, int]:
    """Bring back what a run moved, the latest if none is named; counts the objects.

    Raises: NotFound, code nothing-in-trash; Conflict, code trash-emptied or gc-running.
    """
    require_writable(lake.branches.fresh_repository(repository), force=lake.force)
    with collecting(lake, repository) as lease:
        row = find_bin(lake, repository, valid_run(run))
        if row.state is State.EMPTYING:
            message = f"what run {row.run} moved is being removed for good; some of it is gone"
            raise Conflict(message, code="trash-emptied")
        trash = Bin(lake, repository, row.run, lease.renew)
        trash.become(State.UNDONE)
        return row, bring_back(lake, repository, trash, row, told)


def bring_back(lake: Lake, repository: Repository, trash: Bin, row: Trash, told: Told) -> int:
    """Go through with an undo, from wherever an earlier try has left it; counts the objects."""
    count = trash.take_back(trash.held(), told)
    for commit, taker in _swept(lake, repository, row.run):
        if taker:
            hand_on(lake.store, lake.environment, repository, commit, row.run, taker)
        else:
            keep_again(lake.store, repository, commit, row.run)
    trash.close()
    return count


def end_what_others_began(lake: Lake, repository: Repository, lease: Lease, told: Told) -> None:
    """End what those began who died: a sweep of blocks, a run, an undo.

    What a run has moved is moved, and the rest is where it was.
    """
    end_sweeping(lake, repository)
    for row in list_trash(lake, repository):
        trash = Bin(lake, repository, row.run, lease.renew)
        if row.state is State.UNDONE:
            bring_back(lake, repository, trash, row, told)
        elif row.state is State.MOVING:
            _end_run(lake, repository, trash, row)


def _end_run(lake: Lake, repository: Repository, trash: Bin, row: Trash) -> None:
    """End a run that died. One that has moved nothing may have said already that it does."""
    if next(trash.held(), None) is not None:
        trash.become(State.MOVED)
        return
    for commit, taker in _swept(lake, repository, row.run):
        hand_on(lake.store, lake.environment, repository, commit, row.run, taker)
    trash.close()


def _swept(lake: Lake, repository: Repository, run: str) -> Iterator[tuple[CommitId, str]]:
    """Give the commits that a run has swept, each with another that has objects of it, or none.

    A run says of a commit that it was swept only if none has said so before. So what is brought
    back of one may not be all of it while others are in the trash: one of those says so then.
    """
    rows = expired_commits(lake.store, repository).scan()
    swept = [CommitId(name.decode()) for name, row in rows if row.swept == run]
    others = [other.run for other in list_trash(lake, repository) if other.run != run]
    takers = _Takers(lake, repository, others)
    return ((commit, takers.of(commit)) for commit in swept)


class _Takers:
    """Which of some runs, the earliest first, has objects of a commit in the trash."""

    def __init__(self, lake: Lake, repository: Repository, runs: Sequence[str]) -> None:
        self._lake = lake
        self._repository = repository
        self._runs = runs
        self._marks = range_marks(lake, repository)
        self._taken: dict[int, int] | None = None  # the hash of an address: its run's number
        self._of_range: dict[RangeId, int] = {}

    def of(self, commit: CommitId) -> str:
        """Name the run; empty if there is none. A commit that cannot be read counts as taken."""
        if not self._runs:
            return ""
        try:
            number = min(map(self._first, self._ranges(commit)), default=len(self._runs))
        except (Corruption, NotFound):
            number = 0
        return self._runs[number] if number < len(self._runs) else ""

    def _ranges(self, commit: CommitId) -> set[RangeId]:
        lake, repository = self._lake, self._repository
        known = Commits()
        known.add(get_commit(lake.tables(repository), commit))
        files = lake.storage(repository.storage_namespace).snapshots.files
        return distinct_ranges(files, trees_of(lake, repository, known, {commit}))

    def _first(self, named: RangeId) -> int:
        if named not in self._of_range:
            taken, nobody = self._look_into_trash(), len(self._runs)
            numbers = (taken.get(each, nobody) for each in self._marks.of(named).hashes)
            self._of_range[named] = min(numbers, default=nobody)
        return self._of_range[named]

    def _look_into_trash(self) -> Mapping[int, int]:
        if self._taken is None:
            taken: dict[int, int] = {}
            for number, run in enumerate(self._runs):
                for dead in Bin(self._lake, self._repository, run, lambda: None).held():
                    taken.setdefault(address_hash(dead.address), number)
            self._taken = taken
        return self._taken
