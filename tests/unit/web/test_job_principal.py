# SPDX-License-Identifier: Apache-2.0
"""The driver of a job reads through the server with its token, while the job is its own."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from lochan.access.job_token import JobClaims, issue_job_token
from lochan.pipelines.model.records import Job, JobState
from lochan.pipelines.model.tables import PipelineTables
from support.web import Api, open_api

JOB = Job(id="1" * 32, job_set="2" * 32, pipeline="words", version="v", epoch=2)


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    with open_api(tmp_path / "lake") as opened:
        for name in ("books", "others"):
            told = {"name": name, "storage_namespace": f"local://{name}"}
            assert opened.post("/repositories", json=told).status_code == 201
        yield opened


def store(api: Api, **changes: object) -> None:
    job = msgspec.structs.replace(JOB, **{"state": JobState.RUNNING, **changes})
    PipelineTables.of(api.services.lake.store).jobs.set(job.id.encode(), job)


def answer(api: Api, path: str, *, epoch: int = 2) -> int:
    claims = JobClaims("words", JOB.id, epoch, ("books",))
    token = issue_job_token(api.services.access, claims, lasts_s=60)
    return api.get(path, headers={"authorization": f"Bearer {token}"}).status_code


def test_rel_S14_a_driver_reads_what_its_job_reads(api: Api) -> None:
    store(api)
    assert answer(api, "/repositories/books/refs/main/objects/ls") == 200
    assert answer(api, "/repositories/others/refs/main/objects/ls") in {401, 403}


@pytest.mark.parametrize(
    "changes", [{"state": JobState.SUCCESS}, {"epoch": 3}, {"pipeline": "other"}]
)
def test_rel_S14_the_end_of_a_job_and_another_driver_void_its_tokens(
    api: Api, changes: dict[str, object]
) -> None:
    store(api, **changes)
    assert answer(api, "/repositories/books/refs/main/objects/ls") == 401


def test_rel_S14_a_token_of_a_job_that_nobody_knows_is_void(api: Api) -> None:
    assert answer(api, "/repositories/books/refs/main/objects/ls") == 401
