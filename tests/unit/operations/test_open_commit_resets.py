# SPDX-License-Identifier: Apache-2.0
"""Finishing an open commit when its branch is reset, deleted or made again between the tries.

Whoever made the first try may have published the commit before it died. If so, what was done to the
branch since then was done to a branch that had the commit: it is not brought back. If not, the next
try publishes it, wherever the head is by then.
"""

from collections.abc import Callable
from contextlib import suppress
from itertools import count

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import Conflict, LochanError, NotFound, Refused
from lochan.faults import Crashed, Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Call, Faulty, Plan, fail_nth
from lochan.model.clock import own
from lochan.model.ids import BranchName
from lochan.model.records import Branch, Commit, OpenCommit, Repository
from lochan.operations.branches import create_branch, delete_branch
from lochan.operations.hard_reset import hard_reset
from lochan.operations.lake import Lake
from lochan.operations.open_commits.cancel_commit import cancel_commit
from lochan.operations.open_commits.inspect_commit import inspect_commit
from lochan.operations.open_commits.published import MARK
from lochan.operations.protection import add_branch_protection, remove_branch_protection
from lochan.refs.clock_index import ClockIndex
from lochan.refs.open_commits import State, get_open_commit, state_of
from support.lakes import open_stage
from support.open_commits import Desk

WORLD = RealEnvironment()
DEV = BranchName("dev")
TRIES = 40  # more than a finish has calls to the store


class Ground:
    """Branch dev with three commits, and a fourth that was started on it."""

    def __init__(self, start: Callable[[Desk, Commit], OpenCommit]) -> None:
        self.desk = Desk(open_stage(MemoryStore(WORLD), WORLD))
        self.first = self.desk.commit(branch=DEV, f=b"0")
        self.desk.commit(branch=DEV, g=b"x")
        self.last = self.desk.commit(branch=DEV, g=b"y")
        self.opened = start(self.desk, self.last)
        self.desk.put(self.opened, "f", b"1")

    def dying(self, plan: Plan) -> Desk:
        """Give the desk of a process whose calls to the store fail by plan."""
        lake = self.desk.stage.lake
        return self.desk.over(Lake.of(Faulty(lake.store, plan, WORLD), WORLD, lake.storage))

    def published(self) -> list[Commit]:
        """Give all commits that came of the open one, on a branch or left behind."""
        lake, repository = self.desk.where
        index = ClockIndex.of(lake.store, repository)
        return [
            commit
            for _, commit in lake.tables(repository).commits.scan()
            if commit.metadata.get(MARK) == self.opened.id and index.find(own(commit)) == commit.id
        ]

    def record(self) -> OpenCommit:
        lake, repository = self.desk.where
        return get_open_commit(lake.store, repository, self.opened.id).record

    def branches(self) -> list[Branch]:
        lake, repository = self.desk.where
        return [branch for _, branch in lake.tables(repository).branches.scan()]

    def reset(self, target: Commit) -> None:
        hard_reset(*self.desk.where, DEV, target, force=True)

    def require_once(self, content: bytes = b"01") -> None:
        """See that the commit was published once, and that its record names it."""
        (made,) = self.published()
        assert self.desk.files(made)["f"] == content
        assert self.record().commit_id == made.id


def follows(desk: Desk, _: Commit) -> OpenCommit:
    return desk.start(branch=DEV)


def continues(desk: Desk, head: Commit) -> OpenCommit:
    return desk.start(parent=head.id, branch=DEV)


def begins(desk: Desk, head: Commit) -> OpenCommit:
    return desk.start(parent=head.id, branch="new")


def reset_back(ground: Ground) -> None:
    ground.reset(ground.first)


def reset_twice(ground: Ground) -> None:
    ground.reset(ground.first)
    ground.desk.commit(branch=DEV, h=b"z")
    ground.reset(ground.last)


def back_and_forth(ground: Ground) -> None:
    head = ground.desk.head(DEV)
    ground.reset(ground.first)
    ground.reset(head)


def reset_and_gone_on(ground: Ground) -> None:
    ground.reset(ground.first)
    for _ in range(6):
        ground.desk.commit(branch=DEV, h=b"z")


def made_again(ground: Ground) -> None:
    delete_branch(*ground.desk.where, DEV)
    create_branch(*ground.desk.where, DEV, ground.first.id)


def reset_to_the_parent(ground: Ground) -> None:
    ground.reset(ground.last)


def the_new_branch_deleted(ground: Ground) -> None:
    lake, repository = ground.desk.where
    if lake.tables(repository).branches.find(b"new") is not None:
        delete_branch(lake, repository, BranchName("new"))


STORIES = [
    (follows, reset_back),
    (follows, reset_twice),
    (follows, back_and_forth),
    (follows, reset_and_gone_on),
    (follows, made_again),
    (continues, reset_to_the_parent),
    (begins, the_new_branch_deleted),
]
STORY = pytest.mark.parametrize(("start", "meanwhile"), STORIES)
Start = Callable[[Desk, Commit], OpenCommit]
Meanwhile = Callable[[Ground], None]


@STORY
def test_rel_P2_a_finish_that_dies_anywhere_before_a_reset_publishes_once(
    start: Start, meanwhile: Meanwhile
) -> None:
    for number in count(1):
        ground = Ground(start)
        died = False
        try:
            ground.dying(fail_nth(number, Fault.CRASH_BEFORE)).finish(ground.opened)
        except Crashed:
            died = True
        meanwhile(ground)
        with suppress(Conflict):  # it is finished
            ground.desk.finish(ground.opened)
        ground.require_once()
        if not died:
            return


@pytest.mark.parametrize("fault", [Fault.CRASH_BEFORE, Fault.LOST_RESPONSE])
@STORY
def test_rel_P2_tries_that_die_at_each_call_with_resets_between_them_publish_once(
    start: Start, meanwhile: Meanwhile, fault: Fault
) -> None:
    ground = Ground(start)
    for number in range(1, TRIES):
        with suppress(LochanError, Crashed):
            ground.dying(fail_nth(number, fault)).finish(ground.opened)
        assert len(ground.published()) <= 1
        meanwhile(ground)
    with suppress(Conflict):  # it is finished
        ground.desk.finish(ground.opened)
    ground.require_once()


@STORY
def test_rel_P2_a_second_try_that_dies_anywhere_after_a_reset_publishes_once(
    start: Start, meanwhile: Meanwhile
) -> None:
    for number in count(1):
        ground = Ground(start)
        with suppress(Crashed):
            ground.dying(dies_once_frozen()).finish(ground.opened)
        meanwhile(ground)
        died = False
        try:
            ground.dying(fail_nth(number, Fault.CRASH_BEFORE)).finish(ground.opened)
        except Crashed:
            died = True
        with suppress(Conflict):  # it is finished
            ground.desk.finish(ground.opened)
        ground.require_once()
        if not died:
            return


def dies_once_frozen() -> Plan:
    """Let a process die right after its first conditional write, which freezes the record."""
    return lambda call: Fault.CRASH_AFTER if call.operation == "set_if" else Fault.OK


@STORY
def test_cancelling_after_a_reset_knows_what_a_dead_finish_has_published(
    start: Start, meanwhile: Meanwhile
) -> None:
    told = set[bool]()
    for number in count(1):
        ground = Ground(start)
        with suppress(Crashed):
            ground.dying(fail_nth(number, Fault.CRASH_BEFORE)).finish(ground.opened)
        published = ground.published()
        meanwhile(ground)
        if state_of(ground.record()) is State.PUBLISHED:
            break
        try:
            cancel_commit(*ground.desk.where, ground.opened.id)
        except Conflict:
            assert [ground.record().commit_id] == [commit.id for commit in published]
        else:
            assert (published, state_of(ground.record())) == ([], State.FAILED)
        told.add(bool(published))
    assert told == {True, False}


@STORY
def test_what_was_published_and_left_behind_by_a_reset_is_not_brought_back(
    start: Start, meanwhile: Meanwhile
) -> None:
    for number in count(1):
        ground = Ground(start)
        with suppress(Crashed):
            ground.dying(fail_nth(number, Fault.CRASH_BEFORE)).finish(ground.opened)
        if ground.published():
            break
    meanwhile(ground)
    (made,) = ground.published()
    before = ground.branches()
    assert ground.desk.finish(ground.opened) == made
    assert ground.branches() == before


def test_what_lost_its_swap_is_not_named_for_ever() -> None:
    ground = Ground(follows)
    others = iter(range(6))

    def others_come_first(call: Call) -> Fault:
        is_swap = (call.operation, call.key) == ("set_if", b"branches/dev")
        if is_swap and next(others, None) is not None:
            ground.desk.commit(branch=DEV, h=b"z")
        return Fault.OK

    made = ground.dying(others_come_first).finish(ground.opened)
    assert next(others, None) is None
    assert ground.record().attempts[-1] == made.id
    assert len(ground.record().attempts) == 1


def cancelled_before_it_moves(ground: Ground) -> Plan:
    """Let a commit be cancelled right before its branch is moved, and the process die after it."""

    def plan(call: Call) -> Fault:
        if call.operation == "set_if" and call.key.startswith(b"branches/"):
            cancel_commit(*ground.desk.where, ground.opened.id)
            return Fault.CRASH_AFTER
        return Fault.OK

    return plan


BEGINNINGS = pytest.mark.parametrize("start", [follows, continues, begins])


@BEGINNINGS
def test_a_commit_that_was_cancelled_as_it_was_published_is_found_by_finishing_it_again(
    start: Start,
) -> None:
    ground = Ground(start)
    with suppress(Crashed):
        ground.dying(cancelled_before_it_moves(ground)).finish(ground.opened)
    (made,) = ground.published()
    assert state_of(ground.record()) is State.FAILED
    assert ground.desk.finish(ground.opened) == made
    ground.require_once()
    with pytest.raises(Conflict, match="is finished"):
        ground.desk.finish(ground.opened)


@BEGINNINGS
def test_a_commit_that_was_cancelled_as_it_was_published_is_found_by_cancelling_it_again(
    start: Start,
) -> None:
    ground = Ground(start)
    with suppress(Crashed):
        ground.dying(cancelled_before_it_moves(ground)).finish(ground.opened)
    with pytest.raises(Conflict, match="is finished"):
        cancel_commit(*ground.desk.where, ground.opened.id)
    ground.require_once()


@BEGINNINGS
def test_pach_F4_the_id_of_a_commit_that_was_cancelled_as_it_was_published_names_that(
    start: Start,
) -> None:
    ground = Ground(start)
    with suppress(Crashed):
        ground.dying(cancelled_before_it_moves(ground)).finish(ground.opened)
    (made,) = ground.published()
    told = inspect_commit(*ground.desk.where, ground.opened.id)
    assert (told.id, told.error) == (made.id, "")
    assert ground.desk.read("f", ground.opened.id) == b"01"


@pytest.mark.parametrize("fault", [Fault.LOST_REQUEST, Fault.LOST_RESPONSE, Fault.CRASH_BEFORE])
def test_a_repair_of_a_failed_record_that_fails_anywhere_ends_in_the_commit(fault: Fault) -> None:
    for number in count(1):
        ground = Ground(follows)
        with suppress(Crashed):
            ground.dying(cancelled_before_it_moves(ground)).finish(ground.opened)
        failed = False
        try:
            ground.dying(fail_nth(number, fault)).finish(ground.opened)
        except (LochanError, Crashed):
            failed = True
            with suppress(Conflict):  # it is finished
                ground.desk.finish(ground.opened)
        ground.require_once()
        if not failed and number >= TRIES:
            return


@pytest.mark.parametrize("closed", [delete_branch, add_branch_protection])
def test_a_second_finish_names_the_commit_though_its_branch_is_gone_or_protected(
    closed: Callable[[Lake, Repository, BranchName], object],
) -> None:
    ground = Ground(follows)
    with suppress(Crashed):
        ground.dying(dies_once_moved()).finish(ground.opened)
    (made,) = ground.published()
    closed(*ground.desk.where, DEV)
    assert ground.desk.finish(ground.opened) == made
    ground.require_once()


def test_a_commit_whose_branch_is_missing_stays_open_for_files() -> None:
    ground = Ground(follows)
    where = ground.desk.where
    delete_branch(*where, DEV)
    with pytest.raises(NotFound):
        ground.desk.finish(ground.opened)
    assert state_of(ground.record()) is State.OPEN
    ground.desk.put(ground.opened, "f", b"2")
    create_branch(*where, DEV, ground.last.id)
    ground.desk.finish(ground.opened)
    ground.require_once(b"012")


@BEGINNINGS
def test_a_commit_whose_branch_takes_no_commits_stays_open_for_files(start: Start) -> None:
    ground = Ground(start)
    add_branch_protection(*ground.desk.where, ground.opened.branch)
    with pytest.raises(Refused):
        ground.desk.finish(ground.opened)
    assert state_of(ground.record()) is State.OPEN
    ground.desk.put(ground.opened, "f", b"2")
    remove_branch_protection(*ground.desk.where, ground.opened.branch)
    ground.desk.finish(ground.opened)
    ground.require_once(b"012")


def test_a_finish_that_is_overtaken_and_finds_no_branch_names_what_the_other_published() -> None:
    ground = Ground(follows)

    def overtaken(call: Call) -> Fault:
        if call.operation == "set_if" and call.key.startswith(b"branches/"):
            with suppress(Conflict):
                ground.desk.finish(ground.opened)
                delete_branch(*ground.desk.where, DEV)
        return Fault.OK

    told = ground.dying(overtaken).finish(ground.opened)
    assert [told] == ground.published()


def dies_once_moved() -> Plan:
    """Let a process die right after it has moved a branch."""

    def plan(call: Call) -> Fault:
        is_move = call.operation == "set_if" and call.key.startswith(b"branches/")
        return Fault.CRASH_AFTER if is_move else Fault.OK

    return plan
