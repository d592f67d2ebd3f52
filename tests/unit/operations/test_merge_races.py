# SPDX-License-Identifier: Apache-2.0
"""A merge beside a commit of another process: neither undoes the other.

The order below is the shortest that the model of docs/formal found, in which a merge that leaves
younger tokens sealed is lost. Threads are stopped at a swap and let go, so it is the same each
time.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from lochan.environment import RealEnvironment
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.store import Present
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.keys import BRANCHES
from lochan.model.records import Commit
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.lake import Lake
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.put_object import put_object
from lochan.operations.seal import seal
from support.lakes import MAIN, Stage, open_stage

DEV = BranchName("dev")
PATIENCE_S = 30


class OneProcess(MemoryStore):
    """What one process sees of a store; it stops before its n-th swap of a branch."""

    def __init__(self, shared: MemoryStore, stop_at: int) -> None:
        super().__init__(RealEnvironment())
        self.__dict__.update(shared.__dict__)
        self.left = stop_at
        self.stopped, self.let_go = Event(), Event()

    def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Present | None) -> None:
        self.left -= key.startswith(BRANCHES)
        if self.left == 0 and not self.stopped.is_set():
            self.stopped.set()
            assert self.let_go.wait(PATIENCE_S)
        super().set_if(partition, key, value, predicate)


def put(stage: Stage, branch: BranchName, key: bytes) -> None:
    put_object(stage.lake, stage.repository, branch, ObjectKey(key), key)


def begin(
    threads: ThreadPoolExecutor, stage: Stage, store: OneProcess, story: Callable[[Lake], Commit]
) -> Callable[[], Commit]:
    """Run a story in a process of its own until it stops; gives what lets it go on to its end."""
    lake = Lake.of(store, stage.lake.environment, lambda _: stage.storage)
    answer = threads.submit(story, lake)
    assert store.stopped.wait(PATIENCE_S)

    def finish() -> Commit:
        store.let_go.set()
        return answer.result(PATIENCE_S)

    return finish


def test_rel_H7_a_merge_is_not_undone_by_a_commit_that_was_built_before_it() -> None:
    shared = MemoryStore(RealEnvironment())
    stage = open_stage(shared)
    repository = stage.repository
    create_branch(
        stage.lake, repository, DEV, stage.lake.branches.fresh(repository, MAIN).record.commit_id
    )
    put(stage, DEV, b"merged")
    source = commit(stage.lake, repository, DEV, CommitRequest("ada", "on dev"))
    put(stage, MAIN, b"a")
    seal(stage.lake, repository, MAIN)  # its committer dies here
    wanted = MergeRequest("ada", allow_dirty=True)
    with ThreadPoolExecutor() as threads:
        finish_merge = begin(
            threads,
            stage,
            OneProcess(shared, 1),
            lambda lake: merge(lake, repository, MAIN, source, wanted),
        )
        put(stage, MAIN, b"b")
        finish_commit = begin(  # its second swap: it has sealed b and built a tree of a and b
            threads,
            stage,
            OneProcess(shared, 2),
            lambda lake: commit(lake, repository, MAIN, CommitRequest("ada", "late")),
        )
        merged, last = finish_merge(), finish_commit()

    assert last.parents == (merged.id,)
    keys = [record.key for record in stage.storage.snapshots.cursor(last.meta_range_id)]
    assert keys == [b"a", b"b", b"merged"]
