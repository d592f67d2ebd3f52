# SPDX-License-Identifier: Apache-2.0
"""Open commits when stores fail, processes die, and several finish at once.

Whatever call fails: what was acknowledged is in the commit once and in order, the commit is there
once or not at all, and whoever comes next can bring it to its end.
"""

from collections.abc import Callable
from contextlib import suppress
from itertools import count

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import Conflict, LochanError
from lochan.faults import Crashed, Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Call, Faulty, fail_nth
from lochan.model.ids import BranchName
from lochan.model.records import Commit, OpenCommit, Slot
from lochan.objects.faulty import Faulty as FaultyObjects
from lochan.objects.faulty import fail_nth as fail_nth_object
from lochan.operations.branches import delete_branch
from lochan.operations.lake import Lake, Storage
from lochan.operations.open_commits.cancel_commit import cancel_commit
from lochan.operations.open_commits.published import MARK
from lochan.refs.cleaner import Cleaner
from lochan.refs.open_commits import State, get_open_commit, list_open_commits, state_of
from support.lakes import open_stage
from support.open_commit_scene import LOST, run_rivals, run_seeds
from support.open_commits import Desk

WORLD = RealEnvironment()
FAULT = pytest.mark.parametrize(
    "fault", [fault for fault in Fault if fault not in {Fault.OK, Fault.ZOMBIE}]
)


def failing(desk: Desk, number: int, fault: Fault) -> tuple[Desk, Faulty]:
    """Give the desk of a process whose n-th call to the store fails."""
    lake = desk.stage.lake
    faulty = Faulty(lake.store, fail_nth(number, fault), WORLD)
    return desk.over(Lake.of(faulty, WORLD, lake.storage)), faulty


def chain(desk: Desk, branch: str) -> list[Commit]:
    """Give the commits of a branch from its head down."""
    tables = desk.stage.lake.tables(desk.stage.repository)
    if tables.branches.find(branch.encode()) is None:
        return []
    found = [desk.head(branch)]
    while found[-1].parents:
        found.append(tables.commits.get(found[-1].parents[0].encode()).record)
    return found


def marked(desk: Desk, opened: OpenCommit) -> list[Commit]:
    found = chain(desk, opened.branch)
    return [commit for commit in found if commit.metadata.get(MARK) == opened.id]


def follows(desk: Desk) -> OpenCommit:
    return desk.start(branch="main")


def continues(desk: Desk) -> OpenCommit:
    return desk.start(parent=desk.head().id)


def begins(desk: Desk) -> OpenCommit:
    return desk.start(parent=desk.head().id, branch="new")


@FAULT
@pytest.mark.parametrize("start", [follows, continues, begins])
def test_a_finish_that_fails_anywhere_publishes_once(
    fault: Fault, start: Callable[[Desk], OpenCommit]
) -> None:
    for number in count(1):
        desk = Desk(open_stage(MemoryStore(WORLD), WORLD))
        desk.commit(branch="main", f=b"0")
        opened = start(desk)
        desk.put(opened, "f", b"1")
        broken, faulty = failing(desk, number, fault)
        made: Commit | None = None
        with suppress(LochanError, Crashed):
            made = broken.finish(opened)
        fresh = desk.over(Lake.of(desk.stage.lake.store, WORLD, desk.stage.lake.storage))
        with suppress(Conflict):  # it is finished
            assert fresh.finish(opened).id == (made.id if made else fresh.head(opened.branch).id)
        (published,) = marked(fresh, opened)
        assert made is None or made.id == published.id
        assert fresh.files(published) == {"f": b"01"}
        found = get_open_commit(fresh.stage.lake.store, fresh.stage.repository, opened.id).record
        assert (found.commit_id, found.staging_token) == (published.id, "")
        if faulty.calls < number:
            return


@FAULT
def test_a_put_that_fails_anywhere_is_in_once_or_not_at_all(fault: Fault) -> None:
    for number in count(1):
        desk = Desk(open_stage(MemoryStore(WORLD), WORLD))
        opened = desk.start(branch="main")
        desk.put(opened, "f", b"a")
        broken, faulty = failing(desk, number, fault)
        acknowledged = False
        with suppress(LochanError, Crashed):
            broken.put(opened, "f", b"b")
            acknowledged = True
        desk.put(opened, "f", b"c")
        content = desk.read("f", desk.finish(opened))
        assert content == b"abc" or (content == b"ac" and not acknowledged)
        if faulty.calls < number:
            return


@FAULT
def test_a_start_that_fails_anywhere_is_in_nobodys_way(fault: Fault) -> None:
    for number in count(1):
        desk = Desk(open_stage(MemoryStore(WORLD), WORLD))
        head = desk.head()
        broken, faulty = failing(desk, number, fault)
        opened: OpenCommit | None = None
        with suppress(LochanError, Crashed):
            opened = broken.start(parent=head.id)
        lake, repository = desk.where
        known = list(list_open_commits(lake.store, repository))
        assert len(known) <= 1
        assert opened is None or known == [opened]
        assert desk.commit(parent=head.id, f=b"x").parents == (head.id,)
        if faulty.calls < number:
            return


@FAULT
@pytest.mark.parametrize("squash", [True, False])
@pytest.mark.parametrize("branch", ["main", "new"])
def test_pach_M7_a_merge_that_fails_anywhere_shows_all_or_nothing(
    fault: Fault, branch: str, *, squash: bool
) -> None:
    for number in count(1):
        desk = Desk(open_stage(MemoryStore(WORLD), WORLD))
        base = desk.commit(branch="main", f=b"0")
        desk.commit(parent=base.id, branch="side", f=b"1")
        side = desk.commit(branch="side", f=b"2")
        where = {"branch": branch, "parent": base.id if branch == "new" else None}
        broken, faulty = failing(desk, number, fault)
        made: tuple[Commit, ...] = ()
        with suppress(LochanError, Crashed):
            made = broken.merge(side, squash=squash, **where)
        found = chain(desk, branch)
        shown = found[: found.index(base)] if base in found else []
        assert len(shown) in {0, 1 if squash else 2}
        assert list(reversed(made)) in ([], shown)
        if shown:
            assert desk.files(shown[0]) == {"f": b"012"}
        if faulty.calls < number:
            return


def test_pach_P3_an_object_store_that_fails_anywhere_leaves_no_partial_file() -> None:
    for number in count(1):
        desk = Desk(open_stage(MemoryStore(WORLD), WORLD))
        opened = desk.start(branch="main")
        desk.put(opened, "f", b"whole")
        storage = desk.stage.storage
        objects = FaultyObjects(storage.objects, fail_nth_object(number, Fault.ERROR), WORLD)
        faulty = Storage(objects, storage.addresses, storage.snapshots)
        places = {desk.stage.repository.storage_namespace: faulty}
        broken = desk.over(Lake.of(desk.stage.lake.store, WORLD, places.__getitem__))
        acknowledged = False
        with suppress(LochanError):
            broken.put(opened, "f", b" and more")
            acknowledged = True
        expected = b"whole and more" if acknowledged else b"whole"
        assert desk.read("f", desk.finish(opened)) == expected
        if acknowledged:
            return


def test_a_commit_that_was_frozen_can_be_cancelled_by_others() -> None:
    desk = Desk()
    opened = desk.start(branch="main")
    desk.put(opened, "f", b"1")
    lake, repository = desk.where
    for number in count(1):  # die right after the record was frozen
        broken, _ = failing(desk, number, Fault.CRASH_BEFORE)
        with suppress(Crashed):
            broken.finish(opened)
        if state_of(get_open_commit(lake.store, repository, opened.id).record) is not State.OPEN:
            break
    with pytest.raises(Conflict, match="is being finished"):
        desk.put(opened, "f", b"2")
    cancel_commit(lake, repository, opened.id)
    with pytest.raises(Conflict, match="is failed"):
        desk.finish(opened)
    assert marked(desk, opened) == []


def test_cancelling_what_was_published_by_a_process_that_died_is_refused() -> None:
    """Publication decides: a crash between the branch's swap and the record's loses nothing."""
    for number in count(1):
        desk = Desk()
        opened = desk.start(branch="main")
        desk.put(opened, "f", b"1")
        broken, _ = failing(desk, number, Fault.CRASH_BEFORE)
        with suppress(Crashed):
            broken.finish(opened)
        if marked(desk, opened):
            break
    with pytest.raises(Conflict, match="is finished"):
        cancel_commit(*desk.where, opened.id)
    assert desk.files(desk.head()) == {"f": b"1"}


def between(desk: Desk, when: Callable[[Call], bool], work: Callable[[], object]) -> Desk:
    """Give a desk before whose first such call to the store somebody else does some work."""
    waiting = [work]

    def plan(call: Call) -> Fault:
        if waiting and when(call):
            waiting.pop()()
        return Fault.OK

    lake = desk.stage.lake
    return desk.over(Lake.of(Faulty(lake.store, plan, WORLD), WORLD, lake.storage))


def test_a_put_whose_answer_was_lost_finds_itself_behind_anothers_put() -> None:
    desk = Desk()
    opened = desk.start(branch="main")
    lost: list[Call] = []

    def plan(call: Call) -> Fault:
        if call.operation == "set_if" and not lost:
            lost.append(call)
            return Fault.LOST_RESPONSE
        if len(lost) == 1:
            lost.append(call)
            desk.put(opened, "f", b"2")
        return Fault.OK

    lake = desk.stage.lake
    desk.over(Lake.of(Faulty(lake.store, plan, WORLD), WORLD, lake.storage)).put(opened, "f", b"1")
    assert desk.read("f", desk.finish(opened)) == b"12"


def test_a_cancellation_that_comes_too_late_is_refused() -> None:
    desk = Desk()
    opened = desk.start(branch="main")
    lake = desk.stage.lake

    def freeze() -> None:
        """Die after the first write of a finish."""

        def plan(call: Call) -> Fault:
            return Fault.CRASH_AFTER if call.operation == "set_if" else Fault.OK

        with suppress(Crashed):
            desk.over(Lake.of(Faulty(lake.store, plan, WORLD), WORLD, lake.storage)).finish(opened)

    late = between(desk, lambda call: call.partition == b"cleanup-tokens", freeze)
    with pytest.raises(Conflict, match="is being finished"):
        cancel_commit(*late.where, opened.id)
    assert desk.finish(opened) == desk.head()


def test_rows_that_were_wiped_under_a_scan_are_no_empty_commit() -> None:
    desk = Desk()
    opened = desk.start(branch="new")
    desk.put(opened, "f", b"1")
    made: list[Commit] = []

    def meanwhile() -> None:
        made.append(desk.finish(opened))
        Cleaner(desk.stage.lake.store, WORLD).run()
        delete_branch(*desk.where, BranchName("new"))

    token = opened.staging_token.encode()
    slow = between(
        desk, lambda call: (call.operation, call.partition) == ("scan", token), meanwhile
    )
    assert slow.finish(opened) == made[0]
    assert chain(desk, "new") == []


def test_pach_start_commit_a_place_that_was_taken_during_a_merge_is_taken() -> None:
    desk = Desk()
    base = desk.commit(branch="main", f=b"0")
    side = desk.commit(parent=base.id, branch="side", f=b"1")

    looks = count(1)  # the first is find_target's, before which the place is free

    def second_look(call: Call) -> bool:
        return call.key == b"branches/main" and next(looks) > 1

    other = between(desk, second_look, lambda: desk.commit(branch="main", g=b"2"))
    with pytest.raises(Conflict, match="is not the head of branch 'main'"):
        other.merge(side, parent=base.id, branch="main", squash=True)
    assert desk.files(desk.head()) == {"f": b"0", "g": b"2"}


def test_a_commit_that_lost_its_process_is_nobodys_parent() -> None:
    desk = Desk()
    opened = desk.start(branch="main")

    def swaps_branch(call: Call) -> Fault:
        is_swap = call.operation == "set_if" and call.key == b"branches/main"
        return Fault.CRASH_BEFORE if is_swap else Fault.OK

    lake, repository = desk.where
    dying = Lake.of(Faulty(lake.store, swaps_branch, WORLD), WORLD, lake.storage)
    with pytest.raises(Crashed):
        desk.over(dying).finish(opened)
    known = {commit.id for _, commit in lake.tables(repository).commits.scan()}
    (lost,) = known - {commit.id for commit in chain(desk, "main")}
    with pytest.raises(Conflict, match="was never published"):
        desk.start(parent=lost, branch="new")


@pytest.mark.parametrize(
    ("slot", "winners"), [(Slot.BEGINS, 1), (Slot.CONTINUES, 1), (Slot.FOLLOWS, 3)]
)
def test_rel_P2_pach_start_commit_of_rivals_for_one_place_exactly_one_wins(
    slot: Slot, winners: int
) -> None:
    assert {len(run_rivals(seed, slot)) for seed in range(30)} == {winners}


def test_rel_P2_several_that_finish_one_commit_at_once_publish_it_once() -> None:
    print(f"{run_seeds(0, 60)} steps")


def test_rel_P2_several_that_finish_one_commit_beside_resets_publish_it_once() -> None:
    kinds = (*LOST, Fault.CRASH_BEFORE, Fault.CRASH_AFTER)
    print(f"{run_seeds(20_000, 100, resets=3)} steps")
    print(f"{run_seeds(20_000, 60, faults=6, kinds=kinds, resets=3)} steps")


def test_rel_P2_lost_answers_neither_lose_nor_repeat_a_put() -> None:
    print(f"{run_seeds(0, 120, faults=4)} steps")
