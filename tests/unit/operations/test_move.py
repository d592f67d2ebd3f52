# SPDX-License-Identifier: Apache-2.0
"""Requests to one branch that are met together: a record each, one compare-and-swap for all."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput, Refused
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.store import Present
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.instant import from_seconds
from lochan.model.keys import BRANCHES
from lochan.model.records import BlockedAction, Branch, BranchProtectionRule, Commit
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.list_objects import list_objects
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.move import _move
from lochan.operations.put_object import put_object
from lochan.operations.request import Candidate, Request, Said, Tip
from lochan.refs.clock_index import ClockIndex
from lochan.refs.kinship import Kinship
from lochan.refs.reach import ReachIndex
from lochan.refs.tables import repositories
from support.lakes import MAIN, Stage, open_stage


class CountingStore(MemoryStore):
    """A store that counts compare-and-swaps of branch records."""

    swaps = 0

    def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Present | None) -> None:
        self.swaps += key.startswith(BRANCHES)
        super().set_if(partition, key, value, predicate)


def branch_of(stage: Stage, name: BranchName = MAIN) -> Branch:
    return stage.lake.branches.fresh(stage.repository, name).record


def head(stage: Stage, name: BranchName = MAIN) -> Commit:
    named = branch_of(stage, name).commit_id
    return stage.lake.tables(stage.repository).commits.get(named.encode()).record


def put(stage: Stage, branch: BranchName, key: str) -> None:
    put_object(stage.lake, stage.repository, branch, ObjectKey(key.encode()), key.encode())


def said(message: str) -> Said:
    return Said("ada", message, {}, from_seconds(1))


def asking(stage: Stage, message: str, make: Callable[[Tip], Candidate] | None = None) -> Request:
    return Request(said(message), stage.lake.branches.fresh(stage.repository, MAIN), make)


def messages(stage: Stage) -> list[str]:
    """List what the commits of main say, newest first, along first parents."""
    commits, found = stage.lake.tables(stage.repository).commits, head(stage)
    seen = [found.message]
    while found.parents:
        found = commits.get(found.parents[0].encode()).record
        seen.append(found.message)
    return seen


def test_commits_that_gather_have_a_record_each_and_one_swap() -> None:
    store = CountingStore(RealEnvironment())
    stage = open_stage(store)
    put(stage, MAIN, "a")
    batch = [asking(stage, message) for message in ("one", "two", "three")]
    _move(stage.lake, stage.repository, MAIN, batch)

    made = [request.answer for request in batch if isinstance(request.answer, Commit)]
    assert messages(stage)[:3] == ["three", "two", "one"]
    assert [each.clocks[-1].commit for each in made] == [1, 2, 3]
    assert {each.meta_range_id for each in made} == {head(stage).meta_range_id}
    assert store.swaps == 2  # the seal, and one for all three


def test_a_commit_without_a_message_shares_the_commit_that_holds_its_data() -> None:
    stage = open_stage()
    put(stage, MAIN, "a")
    batch = [asking(stage, "one"), asking(stage, "")]
    _move(stage.lake, stage.repository, MAIN, batch)

    assert batch[0].answer == batch[1].answer == head(stage)


def test_only_the_request_that_fails_hears_of_it() -> None:
    def refuse(_: Tip) -> Candidate:
        raise InvalidInput("no")

    stage = open_stage()
    put(stage, MAIN, "a")
    batch = [asking(stage, "refused", refuse), asking(stage, "kept")]
    _move(stage.lake, stage.repository, MAIN, batch)

    assert isinstance(batch[0].answer, InvalidInput)
    assert batch[1].answer == head(stage)


def test_a_rule_that_comes_late_refuses_and_what_is_staged_stays() -> None:
    stage = open_stage()
    put(stage, MAIN, "a")
    late = asking(stage, "late")
    rule = BranchProtectionRule(pattern="ma*", blocked_actions=(BlockedAction.COMMIT,))
    ruled = msgspec.structs.replace(stage.repository, branch_protection=(rule,))
    repositories(stage.lake.store).set(stage.repository.repository_id.encode(), ruled)
    _move(stage.lake, stage.repository, MAIN, [late])

    assert isinstance(late.answer, Refused)
    assert list_objects(stage.lake, stage.repository, MAIN).items
    with pytest.raises(Refused):
        commit(stage.lake, stage.repository, MAIN, CommitRequest("ada", "early"))


def test_with_nothing_staged_every_commit_of_a_batch_says_so() -> None:
    stage = open_stage()
    batch = [asking(stage, "one"), asking(stage, "two")]
    _move(stage.lake, stage.repository, MAIN, batch)

    assert all(isinstance(request.answer, InvalidInput) for request in batch)
    assert messages(stage) == ["Repository created"]


def test_merges_in_one_chain_know_each_other() -> None:
    stage = open_stage()
    sources = [branched(stage, f"dev{number}") for number in range(3)]
    sources.append(sources[0])  # what the chain has merged already is not merged again
    batch = [asking(stage, f"merge {source.id}", merging(stage, source)) for source in sources]
    _move(stage.lake, stage.repository, MAIN, batch)

    assert [type(request.answer) for request in batch] == [Commit, Commit, Commit, InvalidInput]
    kinship = Kinship.of(stage.lake.store, stage.repository)
    assert all(kinship.is_ancestor(source, head(stage)) for source in sources)
    assert kinship.merge_base(head(stage), sources[1]) == sources[1]
    assert rows(stage) == rebuilt(stage)


def branched(stage: Stage, name: str) -> Commit:
    create_branch(stage.lake, stage.repository, BranchName(name), head(stage).id)
    put(stage, BranchName(name), name)
    return commit(stage.lake, stage.repository, BranchName(name), CommitRequest("ada", name))


def merging(stage: Stage, source: Commit) -> Callable[[Tip], Candidate]:
    """Do what merge does, without its own turn."""

    def make(tip: Tip) -> Candidate:
        base = tip.kinship.merge_base(tip.head, source)
        assert base is not None
        if base.id == source.id:
            raise InvalidInput("merged already")
        trees = (base.meta_range_id, tip.head.meta_range_id, source.meta_range_id)
        tree = stage.storage.snapshots.merge(*trees).id
        assert tree is not None
        return Candidate(tree, source)

    return make


def rows(stage: Stage) -> dict[bytes, bytes]:
    index = ReachIndex.of(stage.lake.store, stage.repository)
    kinds = (b"clock/", b"reach/", b"merged/")
    return {
        key: value
        for kind in kinds
        for key, value in stage.lake.store.scan(index.partition, kind)
        if key.startswith(kind)
    }


def rebuilt(stage: Stage) -> dict[bytes, bytes]:
    index = ReachIndex.of(stage.lake.store, stage.repository)
    for key in rows(stage):
        stage.lake.store.delete(index.partition, key)
    tips = [head(stage), *(head(stage, BranchName(f"dev{number}")) for number in range(3))]
    index.rebuild(tips)
    return rows(stage)


def test_threads_that_write_commit_and_merge_at_once_lose_nothing() -> None:
    stage = open_stage()
    sources = [branched(stage, f"side{number}") for number in range(8)]

    def work(number: int) -> None:
        for turn in range(5):
            put(stage, MAIN, f"key{number}-{turn}")
            commit(stage.lake, stage.repository, MAIN, CommitRequest("", "", allow_empty=True))
        request = MergeRequest("ada", f"merge {number}", allow_dirty=True)
        merge(stage.lake, stage.repository, MAIN, sources[number], request)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    shown = {row.key for row in stage.storage.snapshots.cursor(head(stage).meta_range_id)}
    wanted = {f"key{number}-{turn}" for number in range(8) for turn in range(5)}
    assert {key.decode() for key in shown} == wanted | {f"side{n}" for n in range(8)}
    assert sum(message.startswith("merge ") for message in messages(stage)) == 8
    assert ClockIndex.of(stage.lake.store, stage.repository).find(head(stage).clocks[-1])
