# SPDX-License-Identifier: Apache-2.0
"""Tasks: their rows tell any process how far they are, and one that is ended shows nothing."""

from dataclasses import dataclass

import msgspec
import pytest

from lochan.errors import Conflict, InvalidInput, NotFound, Throttled, Unavailable
from lochan.kv.drivers.memory import MemoryStore
from lochan.model.ids import CommitId
from lochan.model.instant import EPOCH
from lochan.model.keys import partition_of
from lochan.model.tasks import Task, TaskResult, decode_task, encode_task
from lochan.operations.task_rows import DEAD_AFTER_S, KEPT_S, TaskKind
from lochan.operations.tasks import AT_ONCE, WAITING, Report, Tasks, Work
from support.hand_run_tasks import HandRun
from support.lakes import MAIN, Stage, open_stage

DONE = TaskResult(commit_id=CommitId("c1"))


@dataclass
class Scene:
    world: HandRun
    stage: Stage
    tasks: Tasks
    other: Tasks  # another process
    broken: list[Exception]

    def begin(self, work: Work, kind: TaskKind = TaskKind.IMPORT) -> Task:
        return self.tasks.begin(self.stage.repository, kind, work, MAIN)

    def status(self, task: Task, kind: TaskKind = TaskKind.IMPORT) -> Task:
        return self.other.rows(self.stage.repository, kind).get(task.id)

    def beat(self) -> None:
        for report in list(self.tasks._running.values()):
            self.tasks.renew(report)


@pytest.fixture
def scene() -> Scene:
    world, broken = HandRun(), list[Exception]()
    stage = open_stage(MemoryStore(world), world)
    store = stage.lake.store
    return Scene(
        world, stage, Tasks(store, world, broken.append), Tasks(store, world, broken.append), broken
    )


def commits(report: Report) -> TaskResult:
    report.progress(7)
    report.committing()
    return DONE


def test_another_process_tells_how_a_task_ended(scene: Scene) -> None:
    task = scene.begin(commits)
    assert not scene.status(task).done
    scene.world.run_tasks()
    found = scene.status(task)
    assert (found.done, found.progress, found.result, found.error) == (True, 7, DONE, "")
    assert found.branch == MAIN


def test_a_heartbeat_tells_progress_and_keeps_a_long_task_alive(scene: Scene) -> None:
    def long(report: Report) -> TaskResult:
        for count in range(1, 4):
            scene.world.moment += DEAD_AFTER_S - 1
            report.progress(count)
            scene.beat()
            assert scene.status(task).progress == count
        return DONE

    task = scene.begin(long)
    scene.world.run_tasks()
    assert scene.status(task).result == DONE


def test_an_error_is_told_with_its_code_and_a_bug_is_told_to_the_log(scene: Scene) -> None:
    def refuses(report: Report) -> TaskResult:
        raise InvalidInput("nothing changed", code="no-changes")

    def breaks(report: Report) -> TaskResult:
        raise ZeroDivisionError

    first, second = scene.begin(refuses), scene.begin(breaks)
    scene.world.run_tasks()
    assert (scene.status(first).error, scene.status(first).error_code) == (
        "nothing changed",
        "no-changes",
    )
    assert scene.status(second).error_code == "internal"
    assert [type(error) for error in scene.broken] == [ZeroDivisionError]


def test_a_task_whose_process_died_is_told_as_failed_after_a_minute(scene: Scene) -> None:
    task = scene.begin(commits)
    scene.world.moment += DEAD_AFTER_S
    assert not scene.status(task).done
    scene.world.moment += 1
    found = scene.status(task)
    assert (found.done, found.error_code) == (True, "task-died")


def test_a_task_that_was_taken_for_dead_does_not_commit(scene: Scene) -> None:
    task = scene.begin(commits)
    scene.world.moment += DEAD_AFTER_S + 1
    scene.status(task)
    scene.world.run_tasks()
    found = scene.status(task)
    assert (found.error_code, found.result) == ("task-died", TaskResult())


def test_one_that_died_while_it_committed_says_that_nobody_knows(scene: Scene) -> None:
    def slow(report: Report) -> TaskResult:
        report.committing()
        scene.world.moment += DEAD_AFTER_S + 1
        assert "look at the log" in scene.status(task).error
        return DONE

    task = scene.begin(slow)
    scene.world.run_tasks()
    assert scene.status(task).result == DONE  # it was not dead after all, and says what it did


def test_a_cancelled_task_shows_nothing_whichever_process_was_asked(scene: Scene) -> None:
    task = scene.begin(commits)
    scene.other.cancel(scene.stage.repository, TaskKind.IMPORT, task.id)
    scene.world.run_tasks()
    found = scene.status(task)
    assert (found.done, found.error_code, found.result) == (True, "cancelled", TaskResult())
    scene.other.cancel(scene.stage.repository, TaskKind.IMPORT, task.id)


def test_the_first_reason_why_a_task_ended_stays(scene: Scene) -> None:
    def fails(report: Report) -> TaskResult:
        scene.other.cancel(scene.stage.repository, TaskKind.IMPORT, task.id)
        raise InvalidInput("nothing changed", code="no-changes")

    task = scene.begin(fails)
    scene.world.run_tasks()
    assert scene.status(task).error_code == "cancelled"


def test_a_task_without_a_commit_that_was_taken_for_dead_tells_what_it_did(scene: Scene) -> None:
    task = scene.begin(lambda _: DONE, TaskKind.DUMP)
    scene.world.moment += DEAD_AFTER_S + 1
    assert scene.status(task, TaskKind.DUMP).error_code == "task-died"
    scene.world.run_tasks()
    found = scene.status(task, TaskKind.DUMP)
    assert (found.error, found.result) == ("", DONE)


def test_a_task_hears_at_its_next_step_that_it_was_cancelled(scene: Scene) -> None:
    steps: list[int] = []

    def steps_on(report: Report) -> TaskResult:
        scene.tasks.cancel(scene.stage.repository, TaskKind.IMPORT, task.id)
        report.progress(1)
        steps.append(1)
        return DONE

    task = scene.begin(steps_on)
    scene.world.run_tasks()
    assert steps == []


def test_what_is_being_committed_or_over_is_not_cancelled(scene: Scene) -> None:
    def tries(report: Report) -> TaskResult:
        report.committing()
        with pytest.raises(Conflict, match="being committed") as caught:
            scene.other.cancel(scene.stage.repository, TaskKind.IMPORT, task.id)
        assert caught.value.code == "task-committing"
        return DONE

    task = scene.begin(tries)
    scene.world.run_tasks()
    assert scene.status(task).result == DONE
    with pytest.raises(Conflict, match="is over"):
        scene.tasks.cancel(scene.stage.repository, TaskKind.IMPORT, task.id)


def test_rows_are_forgotten_after_a_day_and_removed_by_the_next_task(scene: Scene) -> None:
    task = scene.begin(commits, TaskKind.DUMP)
    scene.world.run_tasks()
    scene.world.moment += KEPT_S + 1
    with pytest.raises(NotFound):
        scene.status(task, TaskKind.DUMP)
    later = scene.begin(commits, TaskKind.DUMP)
    table = scene.tasks.rows(scene.stage.repository, TaskKind.DUMP).table
    assert [name.decode() for name, _ in table.scan()] == [later.id]


@pytest.mark.parametrize("task_id", ["restore-refs", "RR0", "", "DR/../x", "DR"])
def test_only_ids_of_the_kind_are_looked_up(scene: Scene, task_id: str) -> None:
    partition = partition_of(scene.stage.repository)
    scene.stage.lake.store.set(partition, b"tasks/restore-refs", b"{}")
    with pytest.raises(NotFound):
        scene.tasks.rows(scene.stage.repository, TaskKind.DUMP).get(task_id)


def test_a_task_of_a_repository_that_is_gone_stops_and_leaves_no_row(scene: Scene) -> None:
    task = scene.begin(commits)
    store, partition = scene.stage.lake.store, partition_of(scene.stage.repository)
    for key, _ in list(store.scan(partition, b"")):
        store.delete(partition, key)
    scene.world.run_tasks()
    assert list(store.scan(partition, b"")) == []
    with pytest.raises(NotFound):
        scene.status(task)


def test_rel_S18_tasks_that_wait_are_bounded(scene: Scene) -> None:
    for _ in range(AT_ONCE + WAITING):
        scene.begin(commits)
    with pytest.raises(Throttled):
        scene.begin(commits)
    scene.world.run_tasks()
    scene.begin(commits)


def test_a_server_that_stops_says_so_in_the_rows(scene: Scene) -> None:
    task = scene.begin(commits)
    scene.tasks.close()
    assert scene.status(task).error_code == "server-stopped"
    with pytest.raises(Unavailable):
        scene.begin(commits)


def test_the_heartbeat_ends_with_the_last_task_and_begins_with_the_next(scene: Scene) -> None:
    scene.begin(commits)
    scene.world.run_tasks()
    scene.world.spawned.pop()()
    scene.begin(commits)
    assert len(scene.world.spawned) == 1


def test_the_record_survives_its_bytes_with_fields_of_a_newer_program() -> None:
    task = Task(id="x", operation="import", updated_at=EPOCH, owner="o", result=DONE, branch=MAIN)
    newer = encode_task(task) + bytes.fromhex("c20c 0131")
    found = decode_task(newer)
    assert encode_task(found) == newer
    assert msgspec.structs.replace(found, unknown=b"") == task
