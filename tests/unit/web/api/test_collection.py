# SPDX-License-Identifier: Apache-2.0
"""Collections and storage reports over REST: begun, asked about, undone, and who may."""

from typing import Any

import pytest

from lochan.access.actions import (
    PREPARE_GARBAGE_COLLECTION_COMMITS,
    PREPARE_GARBAGE_COLLECTION_UNCOMMITTED,
)
from lochan.objects.walk import walk
from lochan.operations.gc.collect import Collection, collect
from lochan.operations.gc.held import hold, holds
from lochan.pipelines.model.records import Job, JobState
from lochan.pipelines.model.tables import PipelineTables
from support.object_routes import Objects, allow
from support.web import Api
from support.web_tasks import commit, make_repository, put, settled

LAKE = "/repositories/lake-1"
RUNS = f"{LAKE}/gc/runs"
OBJECTS = "arn:lakefs:fs:::repository/lake-1/object/*"


@pytest.fixture
def garbage(api: Api) -> Api:
    """A repository with an object that was replaced before anybody committed it."""
    make_repository(api)
    put(api, LAKE, "k.txt", b"first")
    put(api, LAKE, "k.txt", b"second")
    commit(api, LAKE)
    return api


def done(api: Api, path: str, at: str = "", **told: object) -> dict[str, Any]:
    begun = api.post(path, json=told)
    assert begun.status_code == 202, begun.text
    return settled(api, at or path, task_id=begun.json["id"])


def test_a_plan_and_a_run_tell_what_they_found(garbage: Api) -> None:
    planned = done(garbage, RUNS, plan=True)
    assert (planned["report"]["is_plan"], planned["report"]["young"]) == (True, 2)
    assert "error" not in planned
    ran = done(garbage, RUNS)
    assert (ran["report"]["is_plan"], ran["report"]["moved"]) == (False, 0)


def test_a_run_clears_away_what_jobs_have_left_that_ended(garbage: Api) -> None:
    """Else a hold of theirs would keep all garbage, and their fragments would stay for ever."""
    lake, repository = garbage.services.lake, garbage.services.repositories.fresh("lake-1")
    objects = lake.storage(repository.storage_namespace).objects
    for name, state in (("over", JobState.FAILURE), ("open", JobState.RUNNING)):
        job = Job(id=name, job_set="s", pipeline="p", version="v", state=state)
        PipelineTables.of(lake.store).jobs.set(name.encode(), job)
        hold(lake, repository, f"{name}-1")
        objects.put(f"_work/jobs/{name}/1/0/x/fragment", b"")
    assert "error" not in done(garbage, RUNS)
    assert list(holds(lake, repository)) == ["open-1"]
    left = [listed.address for listed in walk(objects, "_work/")]
    assert left == ["_work/jobs/open/1/0/x/fragment"]


def test_a_run_is_undone(garbage: Api) -> None:
    repository = garbage.services.repositories.fresh("lake-1")
    now = Collection(grace_s=0, force=True)
    assert collect(garbage.services.lake, repository, now).moved == 1
    told = done(garbage, f"{LAKE}/gc/undo", RUNS)
    assert told["undone"]["count"] == 1
    again = done(garbage, f"{LAKE}/gc/undo", RUNS)
    assert again["error"]["code"] == "nothing-in-trash"


@pytest.mark.parametrize(
    ("told", "code"), [({"grace_hours": 1}, "gc-grace"), ({"idle_days": 1}, "gc-idle")]
)
def test_a_server_does_not_collect_under_its_writers_feet(
    garbage: Api, told: dict[str, float], code: str
) -> None:
    answer = garbage.post(RUNS, json=told)
    assert (answer.status_code, answer.json["code"]) == (400, code)


def test_a_storage_report_adds_up(garbage: Api) -> None:
    at = f"{LAKE}/storage_report"
    report = done(garbage, at)["report"]
    assert [(one["ref"], one["size"]) for one in report["refs"]] == [("main", 6)]
    assert done(garbage, at, refs=["main~0"])["report"]["objects"] == 1
    assert garbage.post(at, json={"refs": ["nowhere"]}).status_code == 404


def test_rel_S16_to_collect_needs_the_right_to_delete_every_object(garbage: Api) -> None:
    prepare = (PREPARE_GARBAGE_COLLECTION_COMMITS, PREPARE_GARBAGE_COLLECTION_UNCOMMITTED)
    statements = [allow(action, on="*") for action in prepare]
    ann = Objects(garbage).as_user("ann", *statements, allow("fs:DeleteObject", on=OBJECTS))
    bob = Objects(garbage).as_user("bob", *statements)
    for path in (RUNS, f"{LAKE}/gc/undo"):
        assert bob.api.post(path, json={}).status_code == 403
        assert ann.api.post(path, json={}).status_code == 202
