# SPDX-License-Identifier: Apache-2.0
"""Races of stories with whatever else may happen to their branch, each reduced to one order.

One server runs a story; at a chosen call to the store others act, or an answer is lost. The orders
are those in which an earlier version of the stories was wrong.
"""

from collections.abc import Callable, Iterator

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput, PredicateFailed, UnknownOutcome
from lochan.faults import Fault
from lochan.kv.faulty import Call, Faulty
from lochan.model.clock import own
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.instant import from_seconds
from lochan.model.keys import BRANCHES, CLOCKS, partition_of
from lochan.model.records import Branch, Commit
from lochan.operations.branches import create_branch, delete_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.compact import compact
from lochan.operations.conditions import if_absent
from lochan.operations.hard_reset import hard_reset
from lochan.operations.import_objects import ImportRequest, ListedObject, import_objects
from lochan.operations.lake import Lake
from lochan.operations.list_objects import list_objects
from lochan.operations.merge import MergeConflict, MergeRequest, merge
from lochan.operations.publish import Chain
from lochan.operations.put_object import put_object
from lochan.operations.request import Candidate, Said
from lochan.operations.reset import reset_object
from lochan.operations.seal import seal
from lochan.refs.cleaner import Cleaner
from lochan.refs.clock_index import ClockIndex
from lochan.refs.kinship import Kinship
from support.lakes import MAIN, Stage, open_stage

REAL = RealEnvironment()
DEV = BranchName("dev")
PATIENCE_S = 30

Is = Callable[[Call], bool]


class Server:
    """A lake of its own over the stage's store; something happens before its n-th call of a kind.

    With `fault` that call fails so, and what happens comes before the next one.
    """

    def __init__(
        self,
        stage: Stage,
        happens: Callable[[], object],
        before: Is,
        number: int = 1,
        fault: Fault = Fault.OK,
    ) -> None:
        self._happens, self._before, self._fault = happens, before, fault
        self._left, self.happened = number, False
        store = Faulty(stage.lake.store, self._plan, REAL)
        self.lake = Lake.of(store, REAL, stage.lake.storage)

    def _plan(self, call: Call) -> Fault:
        due, self._left = self._left == 0, self._left - self._before(call)
        if self._fault is not Fault.OK and self._left == 0 and not due:
            return self._fault
        if self._left <= 0 and not self.happened:
            self.happened = True
            self._happens()
        return Fault.OK


def swaps(call: Call) -> bool:
    return call.operation == "set_if" and call.key.startswith(BRANCHES)


def scans_staged(call: Call) -> bool:
    return call.operation == "scan" and b":" in call.partition


def put(stage: Stage, key: bytes, branch: BranchName = MAIN, lake: Lake | None = None) -> None:
    put_object(lake or stage.lake, stage.repository, branch, ObjectKey(key), b"1")


def record(stage: Stage, branch: BranchName = MAIN, lake: Lake | None = None) -> Commit:
    request = CommitRequest("ada", "kept")
    return commit(lake or stage.lake, stage.repository, branch, request)


def branch_of(stage: Stage, name: BranchName = MAIN) -> Branch:
    return stage.lake.branches.fresh(stage.repository, name).record


def head(stage: Stage, name: BranchName = MAIN) -> Commit:
    named = branch_of(stage, name).commit_id
    return stage.lake.tables(stage.repository).commits.get(named.encode()).record


def grown(stage: Stage, key: bytes, name: BranchName = DEV) -> Commit:
    """Make a branch with a commit of its own."""
    create_branch(stage.lake, stage.repository, name, head(stage).id)
    put(stage, key, name)
    return record(stage, name)


def keys(stage: Stage, made: Commit) -> list[bytes]:
    return [row.key for row in stage.storage.snapshots.cursor(made.meta_range_id)]


def clean(stage: Stage) -> None:
    for _ in range(2):
        Cleaner(stage.lake.store, REAL, grace_s=0).run()


def test_rel_H2_a_merge_does_not_take_a_branch_for_clean_whose_rows_were_compacted() -> None:
    stage = open_stage()
    source = grown(stage, b"theirs")
    put(stage, b"staged")

    def compacted() -> None:
        compact(stage.lake, stage.repository, MAIN)
        clean(stage)

    server = Server(stage, compacted, scans_staged)
    with pytest.raises(InvalidInput) as refused:
        merge(server.lake, stage.repository, MAIN, source, MergeRequest("ada"))
    assert refused.value.code == "dirty-branch"


def test_rel_G7_a_write_that_comes_while_a_merge_seals_is_not_committed_by_it() -> None:
    stage = open_stage()
    put(stage, b"a")
    first = record(stage)
    source = grown(stage, b"theirs")
    put(stage, b"a")  # it changes nothing
    server = Server(stage, lambda: put(stage, b"late"), swaps)
    with pytest.raises(InvalidInput) as refused:
        merge(server.lake, stage.repository, MAIN, source, MergeRequest("ada"))
    assert refused.value.code == "dirty-branch"
    assert head(stage) == first
    assert keys(stage, record(stage)) == [b"a", b"late"]


def test_rel_H15_a_commit_whose_answer_was_lost_landed_also_if_it_was_left_behind() -> None:
    stage = open_stage()
    root = head(stage)
    put(stage, b"a")
    server = Server(
        stage,
        lambda: hard_reset(stage.lake, stage.repository, MAIN, root),
        swaps,
        2,
        Fault.LOST_RESPONSE,
    )
    made = record(stage, lake=server.lake)
    assert (server.happened, keys(stage, made)) == (True, [b"a"])
    assert head(stage) == root


def test_rel_H15_a_merge_that_landed_and_was_left_behind_is_not_made_again() -> None:
    stage = open_stage()
    root, source = head(stage), grown(stage, b"theirs")
    server = Server(
        stage,
        lambda: hard_reset(stage.lake, stage.repository, MAIN, root),
        swaps,
        1,
        Fault.LOST_RESPONSE,
    )
    made = merge(server.lake, stage.repository, MAIN, source, MergeRequest("ada"))
    assert (server.happened, made.parents) == (True, (root.id, source.id))
    assert head(stage) == root


def test_rel_H15_a_swap_whose_request_was_lost_is_tried_again_on_a_branch_that_went_on() -> None:
    stage = open_stage()
    source = grown(stage, b"theirs")

    def goes_on() -> None:
        put(stage, b"a")
        record(stage)

    server = Server(stage, goes_on, swaps, 1, Fault.LOST_REQUEST)
    made = merge(server.lake, stage.repository, MAIN, source, MergeRequest("ada"))
    assert head(stage) == made
    assert keys(stage, made) == [b"a", b"theirs"]


@pytest.mark.parametrize("fault", [Fault.OK, Fault.LOST_RESPONSE])
@pytest.mark.parametrize("number", [1, 2])
def test_rel_G6_a_commit_on_a_branch_made_again_never_claims_what_was_deleted(
    number: int, fault: Fault
) -> None:
    stage = open_stage()
    create_branch(stage.lake, stage.repository, DEV, head(stage).id)
    put(stage, b"deleted", DEV)

    def made_again() -> None:
        delete_branch(stage.lake, stage.repository, DEV)
        create_branch(stage.lake, stage.repository, DEV, head(stage).id)
        put(stage, b"later", DEV)
        record(stage, DEV)

    server = Server(stage, made_again, swaps, number, fault)
    try:
        made = record(stage, DEV, server.lake)
    except (InvalidInput, UnknownOutcome):
        pass
    else:
        assert keys(stage, made) == [b"deleted"]
    assert server.happened


def test_rel_G5_a_write_that_may_be_committed_never_ends_as_surely_not_applied() -> None:
    stage = open_stage()
    put(stage, b"first")
    looks: list[Call] = []

    def plan(call: Call) -> Fault:
        if call.operation == "get" and call.key.startswith(BRANCHES):
            looks.append(call)
            if len(looks) == 2:  # the look after the write
                seal(stage.lake, stage.repository, MAIN)
        return Fault.ERROR if call.operation == "set" and len(looks) > 1 else Fault.OK

    lake = Lake.of(Faulty(stage.lake.store, plan, REAL), REAL, stage.lake.storage)
    with pytest.raises(UnknownOutcome):
        put(stage, b"second", lake=lake)
    assert keys(stage, record(stage)) == [b"first", b"second"]


def test_rel_G5_a_reset_that_has_begun_never_ends_as_surely_not_applied() -> None:
    stage = open_stage()
    put(stage, b"key")
    swaps: list[Call] = []

    def plan(call: Call) -> Fault:
        if swaps:  # the reset, of which the answer was lost
            return Fault.ERROR
        if call.operation == "set_if" and call.key.startswith(BRANCHES):
            swaps.append(call)
        return Fault.LOST_RESPONSE if swaps else Fault.OK

    lake = Lake.of(Faulty(stage.lake.store, plan, REAL), REAL, stage.lake.storage)
    with pytest.raises(UnknownOutcome):
        reset_object(lake, stage.repository, MAIN, ObjectKey(b"key"))
    assert not list_objects(stage.lake, stage.repository, MAIN).items


def test_a_place_whose_row_is_missing_is_found_while_its_owner_is_deleted() -> None:
    stage = open_stage()
    first = grown(stage, b"a")
    put(stage, b"b", DEV)
    record(stage, DEV)
    partition = partition_of(stage.repository)
    for row, _ in list(stage.lake.store.scan(partition, CLOCKS)):
        if row.startswith(CLOCKS):  # they were never written: crashes
            stage.lake.store.delete(partition, row)
    server = Server(
        stage,
        lambda: delete_branch(stage.lake, stage.repository, DEV),
        lambda call: call.operation == "scan" and call.key == BRANCHES,
    )
    index = ClockIndex.of(server.lake.store, stage.repository)
    assert index.find(own(first)) == first.id
    assert server.happened


def test_a_chain_that_lost_to_a_seal_leaves_the_reach_of_an_equal_one() -> None:
    stage = open_stage()
    put(stage, b"a")
    record(stage)  # main has a line of its own
    sources = [grown(stage, b"b"), grown(stage, b"c", BranchName("fix"))]

    def chain() -> Chain:
        made = Chain(
            stage.lake, stage.repository, stage.lake.branches.fresh(stage.repository, MAIN)
        )
        for source in sources:
            said = Said("ada", "merged", {}, from_seconds(1))
            made.add(Candidate(source.meta_range_id, source), said)
        return made

    lost = chain()
    put(stage, b"staged")
    seal(stage.lake, stage.repository, MAIN)
    won = chain()
    assert not lost.publish((), ())
    assert won.publish((), branch_of(stage).sealed_tokens)
    kinship = Kinship.of(stage.lake.store, stage.repository)
    assert all(kinship.is_ancestor(source, head(stage)) for source in sources)


def test_rel_H5_a_put_that_must_be_first_does_not_cover_what_a_merge_brought() -> None:
    stage = open_stage()
    source = grown(stage, b"key")
    server = Server(
        stage,
        lambda: merge(stage.lake, stage.repository, MAIN, source, MergeRequest("ada")),
        lambda call: call.operation == "set_if" and b":" in call.partition,
    )
    key = ObjectKey(b"key")
    with pytest.raises(PredicateFailed):
        put_object(server.lake, stage.repository, MAIN, key, b"mine", condition=if_absent)
    shown = list_objects(stage.lake, stage.repository, MAIN).items
    assert shown == list_objects(stage.lake, stage.repository, f"{MAIN}@").items


def test_rel_H7_a_merge_that_fails_commits_nothing_for_others() -> None:
    stage = open_stage()
    source = grown(stage, b"key")
    put_object(stage.lake, stage.repository, MAIN, ObjectKey(b"key"), b"ours")
    first = record(stage)
    put(stage, b"staged")
    sealed = seal(stage.lake, stage.repository, MAIN).sealed_tokens  # a commit that died
    with pytest.raises(MergeConflict):
        merge(stage.lake, stage.repository, MAIN, source, MergeRequest("ada", allow_dirty=True))
    assert head(stage) == first
    assert branch_of(stage).sealed_tokens == sealed


def test_an_import_does_not_commit_what_was_staged_and_compacted_meanwhile() -> None:
    stage = open_stage()

    def listed() -> Iterator[ListedObject]:
        put(stage, b"staged")
        compact(stage.lake, stage.repository, MAIN)
        yield ListedObject(b"imported", "mem://far/a", 1, "tag", from_seconds(1))

    made = import_objects(stage.lake, stage.repository, MAIN, listed(), ImportRequest("ada"))
    assert keys(stage, made) == [b"imported"]
    assert keys(stage, record(stage)) == [b"imported", b"staged"]
