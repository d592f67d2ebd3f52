# SPDX-License-Identifier: Apache-2.0
"""A shard is looked at like a branch, while its job has published nothing."""

import pytest

from lochan.errors import NotFound
from lochan.operations.gc.collect import Collection, collect
from lochan.pipelines.attempts.input_files import InputFiles
from lochan.pipelines.attempts.output_files import Out
from lochan.pipelines.jobs.job_records import get_job
from lochan.pipelines.jobs.shard_refs import list_shards, show_shard
from lochan.pipelines.model.records import Job, JobState
from support.pipeline_world import MAIN, THUMBS, PipelineWorld, make, thumbs


@pytest.fixture
def failed() -> tuple[PipelineWorld, Job]:
    """A job of two shards, the second of which failed."""

    def breaks(img: InputFiles, out: Out) -> None:
        if img.path == "b":
            raise ValueError("no")
        make(img, out)

    world = PipelineWorld.open(function=breaks)
    world.create(thumbs(shards=2))
    job = world.run({"a": "x", "b": "y"})
    return world, get_job(world.lake.store, job.id)


def test_the_finished_shard_of_a_failed_job_is_shown_as_a_branch(
    failed: tuple[PipelineWorld, Job],
) -> None:
    world, job = failed
    assert job.state is JobState.FAILURE
    (shard,) = list_shards(world.lake, job)
    shown, commit = show_shard(world.lake, job, shard.number)
    assert world.shown(THUMBS, shown.branch) == {"a": "X"}
    assert world.shown(THUMBS, MAIN) == {}
    assert commit.parents == (job.base,)


def test_showing_a_shard_twice_gives_the_same_commit(failed: tuple[PipelineWorld, Job]) -> None:
    world, job = failed
    (shard,) = list_shards(world.lake, job)
    assert show_shard(world.lake, job, shard.number) == show_shard(world.lake, job, shard.number)


def test_a_shard_that_has_not_finished_is_not_found(failed: tuple[PipelineWorld, Job]) -> None:
    world, job = failed
    (shard,) = list_shards(world.lake, job)
    with pytest.raises(NotFound, match="has not finished"):
        show_shard(world.lake, job, 1 - shard.number)


def test_what_a_shard_shows_is_kept_until_nobody_has_touched_the_branch_for_a_week(
    failed: tuple[PipelineWorld, Job],
) -> None:
    world, job = failed
    (shard,) = list_shards(world.lake, job)
    shown, _ = show_shard(world.lake, job, shard.number)
    collected(world, days=3)
    assert world.shown(THUMBS, shown.branch) == {"a": "X"}
    collected(world, days=8)
    with pytest.raises(NotFound):
        world.shown(THUMBS, shown.branch)


@pytest.mark.parametrize("runs", [1, 2])
def test_a_shard_whose_files_were_collected_is_not_shown(
    failed: tuple[PipelineWorld, Job], runs: int
) -> None:
    """Nor is one whose files are condemned, by the first run: they may go at any moment."""
    world, job = failed
    (shard,) = list_shards(world.lake, job)
    for _ in range(runs):
        collected(world, days=9)
    with pytest.raises(NotFound, match="was collected"):
        show_shard(world.lake, job, shard.number)


def collected(world: PipelineWorld, days: float) -> None:
    """Let days pass, and collect."""
    world.world.sleep(days * 24 * 3600)
    collect(world.lake, world.repository(THUMBS), Collection(force=True))
