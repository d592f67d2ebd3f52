# SPDX-License-Identifier: Apache-2.0
"""When a moved branch starts a pipeline: every move has its own key, and terms count from it."""

from dataclasses import replace

import pytest

from lochan.errors import Unavailable
from lochan.model.ids import BranchName, ObjectKey, StorageNamespace
from lochan.model.instant import Instant
from lochan.model.records import Commit
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.hard_reset import hard_reset
from lochan.operations.lake import Storage
from lochan.operations.put_object import put_object
from lochan.pipelines.model.records import Seen
from lochan.pipelines.model.spec import Trigger, TriggerTerm
from lochan.pipelines.schedule.triggers import Grown, Move, commits_since, find_move, is_due
from support.lakes import MAIN, Stage, open_stage

AT_ONCE = Trigger()


@pytest.fixture
def stage() -> Stage:
    return open_stage()


def committed(stage: Stage, size: int = 1) -> Commit:
    drawn = stage.lake.environment.new_id().encode()
    put_object(stage.lake, stage.repository, MAIN, ObjectKey(drawn), b"x" * size)
    return commit(stage.lake, stage.repository, MAIN, CommitRequest("ada", "more"))


def moved(stage: Stage) -> Move:
    found = find_move(stage.lake, stage.repository, MAIN)
    assert found is not None
    return found


def seen(move: Move, when: float = 0) -> Seen:
    return Seen(commit=move.head.id, key=move.key, when=Instant(int(when * 1e9)))


def due(stage: Stage, trigger: Trigger, before: Seen | None, now: float = 0) -> bool:
    return is_due(stage.lake, trigger, moved(stage), before, now)


def test_a_new_commit_is_due_once(stage: Stage) -> None:
    committed(stage)
    assert due(stage, AT_ONCE, None)
    before = seen(moved(stage))
    assert not due(stage, AT_ONCE, before)
    committed(stage)
    assert due(stage, AT_ONCE, before)


def test_a_branch_that_comes_back_to_a_commit_has_moved_again(stage: Stage) -> None:
    first = committed(stage)
    before = moved(stage)
    committed(stage)
    hard_reset(stage.lake, stage.repository, MAIN, first)
    again = moved(stage)
    assert (again.head.id, again.key != before.key) == (first.id, True)


def test_a_trigger_by_commits_counts_those_that_were_not_seen(stage: Stage) -> None:
    committed(stage)
    before, three = seen(moved(stage)), Trigger(any=(TriggerTerm(commits=3),))
    answers = []
    for _ in range(3):
        committed(stage)
        answers.append(due(stage, three, before))
    assert answers == [False, False, True]


def test_a_trigger_by_size_counts_what_was_added_or_changed(stage: Stage) -> None:
    committed(stage, 5_000)
    before, large = seen(moved(stage)), Trigger(any=(TriggerTerm(size=1_000),))
    committed(stage, 600)
    assert not due(stage, large, before)
    committed(stage, 400)
    assert due(stage, large, before)


def test_trees_that_differ_by_too_little_are_compared_once(stage: Stage) -> None:
    before, large = seen(moved(stage)), Trigger(any=(TriggerTerm(size=1_000),))
    committed(stage, 600)
    grown = Grown()
    assert not is_due(stage.lake, large, moved(stage), before, 0, grown)

    def nowhere(namespace: StorageNamespace) -> Storage:
        raise Unavailable(f"{namespace} is not read again")

    kept = replace(stage.lake, storage=nowhere)
    assert not is_due(kept, large, moved(stage), before, 0, grown)
    small = Trigger(any=(TriggerTerm(size=500),))
    assert is_due(kept, small, moved(stage), before, 0, grown)


def test_a_trigger_by_the_clock_waits_for_a_tick_and_for_something_new(stage: Stage) -> None:
    committed(stage)
    hourly = Trigger(any=(TriggerTerm(cron="@hourly"),))
    before = seen(moved(stage), when=1_800)
    assert not due(stage, hourly, before, now=7_300)
    committed(stage)
    assert not due(stage, hourly, before, now=3_599)
    assert due(stage, hourly, before, now=3_600)


def test_all_terms_must_be_met_where_all_are_asked_for_and_one_where_any_is(stage: Stage) -> None:
    committed(stage)
    before = seen(moved(stage))
    committed(stage, 10)
    met, unmet = TriggerTerm(commits=1), TriggerTerm(size=1_000)
    assert due(stage, Trigger(any=(met, unmet)), before)
    assert not due(stage, Trigger(all=(met, unmet)), before)
    assert not due(stage, Trigger(any=(TriggerTerm(commits=1, size=1_000),)), before)


def test_the_commits_between_two_decisions_are_named_oldest_first(stage: Stage) -> None:
    committed(stage)
    before = seen(moved(stage))
    made = [committed(stage).id for _ in range(3)]
    found = commits_since(stage.lake, moved(stage), before)
    assert [commit.id for commit in found] == made


def test_a_branch_that_is_not_there_has_not_moved(stage: Stage) -> None:
    assert find_move(stage.lake, stage.repository, BranchName("none")) is None
