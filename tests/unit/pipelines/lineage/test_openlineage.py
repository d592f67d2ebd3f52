# SPDX-License-Identifier: Apache-2.0
"""Jobs as events of OpenLineage: what each says, from the job's record alone."""

from datetime import datetime
from uuid import UUID

import msgspec
import pytest

from lochan.model.instant import Instant
from lochan.pipelines.lineage.openlineage import events
from lochan.pipelines.model.records import Job, JobState, Pin

PIN = Pin(
    input="img",
    repository="photos",
    unique_identifier="1",
    branch="main",
    commit="c1",
    meta_range_id="m1",
)
CREATED = Job(
    id="0123456789abcdef0123456789abcdef",
    job_set="set",
    pipeline="thumbs",
    version="v1",
    output_repository="thumbs",
    output_branch="main",
)


def ended(state: JobState, *, commit: str = "", reason: str = "") -> Job:
    return msgspec.structs.replace(
        CREATED,
        state=state,
        commit=commit,
        reason=reason,
        epoch=1,
        pins=(PIN,),
        started=Instant(1_700_000_000_000_000_000),
        finished=Instant(1_700_000_005_000_000_000),
    )


def test_a_job_that_nobody_drives_yet_has_no_events() -> None:
    assert events(CREATED) == []


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (JobState.RUNNING, ["START"]),
        (JobState.EGRESSING, ["START"]),
        (JobState.SUCCESS, ["START", "COMPLETE"]),
        (JobState.SKIPPED, ["START", "COMPLETE"]),
        (JobState.FAILURE, ["START", "FAIL"]),
        (JobState.KILLED, ["START", "ABORT"]),
        (JobState.UNRUNNABLE, ["START", "ABORT"]),
    ],
)
def test_a_job_tells_its_start_and_its_end(state: JobState, told: list[str]) -> None:
    assert [event["eventType"] for event in events(ended(state))] == told


def test_an_end_names_run_code_inputs_and_output_by_their_versions() -> None:
    start, end = events(ended(JobState.SUCCESS, commit="c2"))
    assert start["run"]["runId"] == end["run"]["runId"]
    assert UUID(end["run"]["runId"]).hex == CREATED.id
    assert end["job"]["name"] == "thumbs"
    assert end["job"]["facets"]["sourceCodeLocation"]["version"] == "v1"
    (source,), (made,) = end["inputs"], end["outputs"]
    assert (source["name"], source["facets"]["version"]["datasetVersion"]) == ("photos/main", "c1")
    assert (made["name"], made["facets"]["version"]["datasetVersion"]) == ("thumbs/main", "c2")
    assert datetime.fromisoformat(end["eventTime"]) > datetime.fromisoformat(start["eventTime"])


def test_a_failure_says_why_and_names_no_version_of_the_output() -> None:
    _, end = events(ended(JobState.FAILURE, reason="datum a failed"))
    assert end["run"]["facets"]["errorMessage"]["message"] == "datum a failed"
    assert "facets" not in end["outputs"][0]


def test_what_is_told_again_is_the_same() -> None:
    assert events(ended(JobState.SUCCESS)) == events(ended(JobState.SUCCESS))
