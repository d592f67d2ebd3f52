# SPDX-License-Identifier: Apache-2.0
"""Commits: what they hold, what they leave, and what no failure makes them lose."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lochan.committed import Cuts
from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput, LochanError
from lochan.faults import Crashed, Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Faulty, fail_nth
from lochan.kv.store import Pair, Store
from lochan.model.ids import ObjectKey
from lochan.model.records import Branch, Commit, StagedEntry
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.delete_objects import delete_objects
from lochan.operations.lake import Lake
from lochan.operations.pace import BUSY_S
from lochan.operations.put_object import put_object
from lochan.refs.cleaner import Cleaner
from support.lakes import MAIN, Stage, open_stage

REQUEST = CommitRequest("ada", "nightly")


def put(stage: Stage, key: bytes, body: bytes) -> None:
    put_object(stage.lake, stage.repository, MAIN, ObjectKey(key), body)


def branch_of(stage: Stage) -> Branch:
    return stage.lake.branches.fresh(stage.repository, MAIN).record


def content(stage: Stage, made: Commit) -> dict[bytes, bytes]:
    """Give the identity of every key in a commit."""
    found = stage.storage.snapshots.cursor(made.meta_range_id)
    return {row.key: row.identity for row in found}


def head(stage: Stage) -> Commit:
    commits = stage.lake.tables(stage.repository).commits
    return commits.get(branch_of(stage).commit_id.encode()).record


def test_a_commit_holds_what_was_staged_and_leaves_nothing_sealed() -> None:
    stage = open_stage()
    put(stage, b"a", b"one")
    made = commit(stage.lake, stage.repository, MAIN, REQUEST)

    assert list(content(stage, made)) == [b"a"]
    assert (made.message, made.generation) == ("nightly", 2)
    assert branch_of(stage).sealed_tokens == ()
    assert branch_of(stage).commit_id == made.id


def test_rel_G8_the_same_content_again_is_no_change() -> None:
    stage = open_stage()
    put(stage, b"a", b"one")
    commit(stage.lake, stage.repository, MAIN, REQUEST)
    put(stage, b"a", b"one")
    with pytest.raises(InvalidInput, match="nothing to commit"):
        commit(stage.lake, stage.repository, MAIN, REQUEST)
    assert branch_of(stage).sealed_tokens == ()


def test_an_empty_commit_is_made_where_it_is_allowed() -> None:
    stage = open_stage()
    before = head(stage)
    made = commit(stage.lake, stage.repository, MAIN, CommitRequest("ada", "x", allow_empty=True))
    assert (made.parents, made.meta_range_id) == ((before.id,), before.meta_range_id)


def test_pach_C3_commits_of_a_branch_count_on() -> None:
    stage = open_stage()
    numbers = []
    for body in (b"1", b"2", b"3"):
        put(stage, b"a", body)
        numbers.append(commit(stage.lake, stage.repository, MAIN, REQUEST).clocks[-1].commit)
    assert numbers == [1, 2, 3]


def test_rel_H10_the_cleaner_takes_the_tokens_of_a_commit_and_no_others() -> None:
    stage = open_stage()
    put(stage, b"a", b"one")
    old = branch_of(stage).staging_token
    commit(stage.lake, stage.repository, MAIN, REQUEST)
    put(stage, b"b", b"two")
    cleaner = Cleaner(stage.lake.store, stage.lake.environment, grace_s=0)
    for _ in range(3):
        assert cleaner.run().skipped == ()

    assert stage.lake.staging.is_empty(old)
    assert not stage.lake.staging.is_empty(branch_of(stage).staging_token)


steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.sampled_from([b"a", b"b", b"c/d"]), st.binary(max_size=2)),
        st.tuples(st.just("delete"), st.sampled_from([b"a", b"b", b"c/d"]), st.just(b"")),
        st.tuples(st.just("commit"), st.just(b""), st.just(b"")),
    ),
    max_size=25,
)


@settings(max_examples=60, deadline=None)
@given(steps)
def test_commits_equal_a_dictionary(todo: list[tuple[str, bytes, bytes]]) -> None:
    stage, model = open_stage(cuts=Cuts(raggedness=2)), dict[bytes, bytes]()
    for what, key, body in todo:
        if what == "put":
            put(stage, key, body)
            model[key] = body
        elif what == "delete":
            delete_objects(stage.lake, stage.repository, MAIN, [ObjectKey(key)])
            model.pop(key, None)
        else:
            request = CommitRequest("ada", "x", allow_empty=True)
            made = commit(stage.lake, stage.repository, MAIN, request)
            assert set(content(stage, made)) == set(model)


def with_store(stage: Stage, store: Store) -> Stage:
    """Give the same lake as another process sees it, through its own store."""
    lake = Lake.of(store, stage.lake.environment, stage.lake.storage)
    return Stage(lake, stage.repository, stage.storage)


@pytest.mark.parametrize(
    "fault", [fault for fault in Fault if fault not in {Fault.OK, Fault.ZOMBIE}]
)
def test_rel_G7_no_failure_of_a_commit_loses_what_was_acknowledged(fault: Fault) -> None:
    world = RealEnvironment()
    for number in count(1):
        stage = open_stage(MemoryStore(world), world)
        put(stage, b"a", b"one")
        commit(stage.lake, stage.repository, MAIN, REQUEST)
        put(stage, b"b", b"two")
        delete_objects(stage.lake, stage.repository, MAIN, [ObjectKey(b"a")])
        faulty = Faulty(stage.lake.store, fail_nth(number, fault), world)
        made: Commit | None = None
        with suppress(LochanError, Crashed):
            made = commit(with_store(stage, faulty).lake, stage.repository, MAIN, REQUEST)
        again = with_store(stage, stage.lake.store)
        commit(again.lake, again.repository, MAIN, CommitRequest("bob", "rest", allow_empty=True))
        assert set(content(again, head(again))) == {b"b"}
        assert made is None or made.id in chain(again)
        if faulty.calls < number:
            return


def chain(stage: Stage) -> list[str]:
    """Name the commits from the head down its first parents."""
    found = [head(stage)]
    commits = stage.lake.tables(stage.repository).commits
    while found[-1].parents:
        found.append(commits.get(found[-1].parents[0].encode()).record)
    return [each.id for each in found]


class Resting(RealEnvironment):
    """An environment that counts how often somebody slept."""

    rests = 0

    pushed_aside = 0  # how often, for each time that it is asked
    _times = 0

    def preemptions(self) -> int:
        self._times += self.pushed_aside
        return self._times

    def sleep(self, seconds: float) -> None:
        del seconds  # nobody has to wait
        self.rests += 1


class Accompanied(MemoryStore):
    """A store beside whose scans something else is done now and then."""

    def __init__(self, environment: RealEnvironment) -> None:
        super().__init__(environment)
        self.beside: Callable[[], object] = lambda: None

    def scan(self, partition: bytes, start: bytes = b"") -> Iterator[Pair]:
        for number, pair in enumerate(super().scan(partition, start)):
            if number % 100 == 99:
                self.beside()
            yield pair


@pytest.mark.parametrize("busy", [False, True])
def test_a_long_commit_gives_way_to_others_and_only_to_them(*, busy: bool) -> None:
    world = Resting()
    store = Accompanied(world)
    stage = open_stage(store, world)
    rows = [StagedEntry(b"%05d" % number, b"identity", b"data") for number in range(4000)]
    stage.lake.staging.set_many(branch_of(stage).staging_token, rows)
    if busy:
        store.beside = lambda: branch_of(stage)
    commit(stage.lake, stage.repository, MAIN, REQUEST)
    assert (world.rests > 0) is busy
    assert len(content(stage, head(stage))) == 4000


def test_a_long_commit_gives_way_to_other_processes() -> None:
    world = Resting()
    stage = open_stage(MemoryStore(world), world)
    rows = [StagedEntry(b"%05d" % number, b"identity", b"data") for number in range(4000)]
    stage.lake.staging.set_many(branch_of(stage).staging_token, rows)
    world.pushed_aside = 1
    commit(stage.lake, stage.repository, MAIN, REQUEST)
    chunks, join_blocks_name = 8, 3  # 4000 rows are eight chunks, and two stretches
    assert world.rests == chunks + join_blocks_name


class Clocked(Resting):
    """A resting environment whose clock moves on by a step whenever it is read."""

    step_s = 0.0
    time_s = 0.0

    def monotonic(self) -> float:
        self.time_s += self.step_s
        return self.time_s


@pytest.mark.parametrize(("step_s", "rests"), [(0.0, 4 + 3), (BUSY_S, 1)])
def test_a_long_commit_goes_on_giving_way_to_who_is_held_up(step_s: float, rests: int) -> None:
    world = Clocked()
    store = Accompanied(world)
    stage = open_stage(store, world)
    rows = [StagedEntry(b"%05d" % number, b"identity", b"data") for number in range(4000)]
    stage.lake.staging.set_many(branch_of(stage).staging_token, rows)

    turns = count(1)

    def ask_once() -> None:
        if next(turns) == 25:  # in the fifth of eight chunks
            branch_of(stage)

    store.beside, world.step_s = ask_once, step_s
    commit(stage.lake, stage.repository, MAIN, REQUEST)
    assert world.rests == rests
