# SPDX-License-Identifier: Apache-2.0
"""What a job takes from where the user's code ran, and what it refuses."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from lochan.model.codec import decode_entry, encode_entry
from lochan.model.entry import AddressType
from lochan.pipelines.attempts.fragment import read_fragment, write_fragment
from lochan.pipelines.jobs.run_job import run_job
from lochan.pipelines.model.datum import DatumRow, OutputFile
from lochan.pipelines.model.records import Job, JobState
from lochan.pipelines.model.work import Engine, JobTask, Manifest, Shard, Tell
from support.pipeline_world import THUMBS, PipelineWorld


@dataclass(frozen=True)
class Forging:
    """An engine whose attempts say other things than they did."""

    world: PipelineWorld
    honest: Engine
    row: dict[str, Any]
    key: bytes
    entry: dict[str, Any]

    @property
    def cores(self) -> int:
        return 1

    def run(self, task: JobTask, shards: Sequence[Shard], tell: Tell) -> Iterator[Manifest]:
        objects = self.world.lake.storage(self.world.repository(THUMBS).storage_namespace).objects
        for manifest in self.honest.run(task, shards, tell):
            rows = [self.forged(row) for row in read_fragment(objects, manifest.fragment)]
            write_fragment(objects, f"{manifest.fragment}-forged", rows)
            yield msgspec.structs.replace(manifest, fragment=f"{manifest.fragment}-forged")

    def forged(self, row: DatumRow) -> DatumRow:
        (output,) = row.outputs
        entry = msgspec.structs.replace(decode_entry(output.entry), **self.entry)
        outputs = (OutputFile(self.key or output.key, encode_entry(entry)),)
        return msgspec.structs.replace(row, **{"outputs": outputs, **self.row})


def run_forged(
    *, key: bytes = b"", entry: dict[str, Any] | None = None, **row: object
) -> tuple[PipelineWorld, Job]:
    world = PipelineWorld.open()
    world.create()
    (planned,) = world.decide(world.put({"a": "one"})).jobs
    engine = Forging(world, world.engine(), row, key, entry or {})
    return world, run_job(world.lake, planned.job, engine)


def test_what_attempts_say_truly_is_taken() -> None:
    world, job = run_forged()
    assert (job.state, world.shown()) == (JobState.SUCCESS, {"a": "ONE"})


@pytest.mark.parametrize("key", [b"../a", b"a//b", b"a/", b"./a", b"x" * 1025])
def test_rel_S25_keys_that_no_output_can_have_fail_the_job(key: bytes) -> None:
    world, job = run_forged(key=key)
    assert (job.state, world.shown()) == (JobState.FAILURE, {})
    assert "is refused" in job.reason


@pytest.mark.parametrize(
    "entry",
    [
        {"address": "mem://photos/data/x", "address_type": AddressType.FULL},
        {"address": "_work/jobs/1/1/0/x/log"},
        {"address": "_lochan/code/x.zip"},
        {"address": "data/../_lochan/x"},
    ],
)
def test_rel_S25_what_lies_elsewhere_than_the_outputs_data_is_not_linked(
    entry: dict[str, Any],
) -> None:
    world, job = run_forged(entry=entry)
    assert (job.state, world.shown()) == (JobState.FAILURE, {})
    assert "not below data/" in job.reason


@pytest.mark.parametrize("row", [{"id": bytes(32)}, {"job": "another"}])
def test_rel_S25_rows_of_other_datums_and_jobs_are_refused(row: dict[str, Any]) -> None:
    assert run_forged(**row)[1].state is JobState.FAILURE
