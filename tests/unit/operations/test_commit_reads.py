# SPDX-License-Identifier: Apache-2.0
"""What is remembered of commits: true, bounded, and never for another repository."""

import msgspec
import pytest

from lochan.environment import RealEnvironment
from lochan.errors import Conflict, NotFound
from lochan.kv.faulty import Faulty, no_faults
from lochan.model.ids import CommitId, MetaRangeId, UniqueIdentifier
from lochan.operations.commit_reads import CommitReads
from support.lakes import MAIN, Stage, open_stage


def head(stage: Stage) -> CommitId:
    return stage.lake.branches.fresh(stage.repository, MAIN).record.commit_id


def test_a_tree_is_read_from_the_store_once() -> None:
    stage = open_stage()
    counting = Faulty(stage.lake.store, no_faults, RealEnvironment())
    reads = CommitReads(counting, RealEnvironment())
    assert [reads.tree(stage.repository, head(stage)) for _ in range(3)] == [MetaRangeId("")] * 3
    assert counting.calls == 1


def test_rel_H14_another_repository_of_the_name_does_not_see_what_was_kept() -> None:
    stage = open_stage()
    reads = CommitReads(stage.lake.store, RealEnvironment())
    reads.tree(stage.repository, head(stage))
    later = msgspec.structs.replace(stage.repository, unique_identifier=UniqueIdentifier("later"))
    with pytest.raises(NotFound):
        reads.tree(later, head(stage))


def test_no_more_than_so_many_are_kept() -> None:
    stage, world = open_stage(), RealEnvironment()
    commits = stage.lake.tables(stage.repository).commits
    found = commits.get(head(stage).encode()).record
    counting = Faulty(stage.lake.store, no_faults, world)
    reads = CommitReads(counting, RealEnvironment(), most=2)
    for name in ("a", "b", "c", "c"):
        commits.set(name.encode(), msgspec.structs.replace(found, id=CommitId(name)))
        reads.tree(stage.repository, CommitId(name))
    assert (counting.calls, len(reads._trees)) == (3, 1)


class Watch(RealEnvironment):
    """An environment whose time a test tells."""

    seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds


def test_that_a_commit_was_published_is_believed_for_a_second() -> None:
    stage, watch = open_stage(), Watch()
    counting = Faulty(stage.lake.store, no_faults, watch)
    reads = CommitReads(counting, watch)
    calls = []
    for watch.seconds in (0.0, 0.999, 1.0):
        before = counting.calls
        reads.require_published(stage.repository, head(stage))
        calls.append(counting.calls - before > 0)
    assert calls == [True, False, True]


def test_a_commit_that_was_never_published_is_refused_each_time() -> None:
    stage = open_stage()
    commits = stage.lake.tables(stage.repository).commits
    published = commits.get(head(stage).encode()).record
    lost = msgspec.structs.replace(published, id=CommitId("f" * 64))
    commits.set(lost.id.encode(), lost)
    reads = CommitReads(stage.lake.store, RealEnvironment())
    for _ in range(2):
        with pytest.raises(Conflict, match="never published"):
            reads.require_published(stage.repository, lost.id)
