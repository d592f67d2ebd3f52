# SPDX-License-Identifier: Apache-2.0
"""What moves a head beside a commit of another process: neither undoes the other.

The order is the shortest that the model of docs/formal found, in which a merge that leaves younger
tokens sealed is lost. Threads are stopped at a call and let go, so it is the same each time.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from lochan.environment import RealEnvironment
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.store import Pair, Present
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.keys import (
    BRANCHES,
    MERGED,
    REACH,
    partition_of,
    place_and_merge,
    token_partition,
)
from lochan.model.records import Commit
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.lake import Lake
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.open_commits.finish_commit import finish_commit
from lochan.operations.open_commits.put_file import put_file
from lochan.operations.open_commits.start_commit import start_commit
from lochan.operations.put_object import put_object
from lochan.operations.seal import seal
from support.lakes import MAIN, open_stage

DEV = BranchName("dev")
PATIENCE_S = 30


Calls = Callable[[str, bytes, bytes], bool]


class OneProcess(MemoryStore):
    """What one process sees of a store; it stops before its n-th call of some kind."""

    def __init__(self, shared: MemoryStore, stops: Calls, number: int = 1) -> None:
        super().__init__(RealEnvironment())
        self.__dict__.update(shared.__dict__)
        self.stops, self.left = stops, number
        self.stopped, self.let_go = Event(), Event()

    def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Present | None) -> None:
        self._stop("set_if", partition, key)
        super().set_if(partition, key, value, predicate)

    def scan(self, partition: bytes, start: bytes = b"") -> Iterator[Pair]:
        self._stop("scan", partition, start)
        return super().scan(partition, start)

    def _stop(self, call: str, partition: bytes, key: bytes) -> None:
        self.left -= self.stops(call, partition, key)
        if self.left == 0 and not self.stopped.is_set():
            self.stopped.set()
            assert self.let_go.wait(PATIENCE_S)


def swaps(call: str, _: bytes, key: bytes) -> bool:
    return call == "set_if" and key.startswith(BRANCHES)


class Race:
    """Main with a sealed token whose committer died, and two processes."""

    def __init__(self) -> None:
        self.shared = MemoryStore(RealEnvironment())
        self.stage = open_stage(self.shared)
        self.repository = self.stage.repository
        self.threads = ThreadPoolExecutor()

    def put(self, branch: BranchName, key: bytes) -> None:
        put_object(self.stage.lake, self.repository, branch, ObjectKey(key), key)

    def leave_sealed(self, key: bytes) -> bytes:
        self.put(MAIN, key)
        return token_partition(seal(self.stage.lake, self.repository, MAIN).sealed_tokens[0])

    def begin(
        self, story: Callable[[Lake], Commit], stops: Calls, number: int = 1
    ) -> Callable[[], Commit]:
        """Run a story in its own process until it stops; gives what lets it come to its end."""
        store = OneProcess(self.shared, stops, number)
        lake = Lake.of(store, self.stage.lake.environment, lambda _: self.stage.storage)
        answer = self.threads.submit(story, lake)
        assert store.stopped.wait(PATIENCE_S)

        def finish() -> Commit:
            store.let_go.set()
            return answer.result(PATIENCE_S)

        return finish

    def commit_late(self, key: bytes) -> Callable[[], Commit]:
        """Stage a key and begin a commit; it stops when its tree is built."""
        self.put(MAIN, key)
        wanted = CommitRequest("ada", "late")
        return self.begin(lambda lake: commit(lake, self.repository, MAIN, wanted), swaps, 2)

    def reach(self) -> list[bytes]:
        """Name the rows about what merges brought."""
        rows = (key for key, _ in self.shared.scan(partition_of(self.repository)))
        return [key for key in rows if key.startswith((REACH, MERGED))]

    def keys(self, made: Commit) -> list[bytes]:
        return [record.key for record in self.stage.storage.snapshots.cursor(made.meta_range_id)]


def test_rel_H7_a_merge_is_not_undone_by_a_commit_that_was_built_before_it() -> None:
    race = Race()
    lake, repository = race.stage.lake, race.repository
    create_branch(lake, repository, DEV, lake.branches.fresh(repository, MAIN).record.commit_id)
    race.put(DEV, b"merged")
    source = commit(lake, repository, DEV, CommitRequest("ada", "on dev"))
    race.leave_sealed(b"a")
    wanted = MergeRequest("ada", allow_dirty=True)
    end_merge = race.begin(lambda lake: merge(lake, repository, MAIN, source, wanted), swaps)
    end_commit = race.commit_late(b"b")
    merged, last = end_merge(), end_commit()

    assert last.parents == (merged.id,)
    assert race.keys(last) == [b"a", b"b", b"merged"]


def test_a_merge_that_lost_its_swap_leaves_no_row_of_its_reach() -> None:
    race = Race()
    lake, repository = race.stage.lake, race.repository
    create_branch(lake, repository, DEV, lake.branches.fresh(repository, MAIN).record.commit_id)
    race.put(DEV, b"merged")
    source = commit(lake, repository, DEV, CommitRequest("ada", "on dev"))
    wanted = MergeRequest("ada")
    end_merge = race.begin(lambda lake: merge(lake, repository, MAIN, source, wanted), swaps)
    lost = {place_and_merge(key)[1] for key in race.reach()}
    race.put(MAIN, b"a")
    first = commit(lake, repository, MAIN, CommitRequest("ada", "comes first"))
    merged = end_merge()

    assert merged.parents == (first.id, source.id)
    assert len(lost) == 1
    assert lost != {merged.id}
    assert {place_and_merge(key)[1] for key in race.reach()} == {merged.id}


def test_rel_H7_a_finished_commit_is_not_undone_by_a_commit_that_was_built_before_it() -> None:
    race = Race()
    lake, repository = race.stage.lake, race.repository
    opened = start_commit(lake, repository, branch=MAIN)
    put_file(lake, repository, opened.id, "grown", b"1")
    token = race.leave_sealed(b"a")
    end_first = race.begin(
        lambda lake: finish_commit(lake, repository, opened.id),
        lambda call, partition, _: call == "scan" and partition == token,
    )
    end_commit = race.commit_late(b"b")
    first, last = end_first(), end_commit()

    assert last.parents == (first.id,)
    assert race.keys(last) == [b"a", b"b", b"grown"]
