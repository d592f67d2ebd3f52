# SPDX-License-Identifier: Apache-2.0
"""A job from its cause to its commit, and what the next one need not do."""

import pytest

from lochan.errors import Conflict, NotFound
from lochan.model.ids import BranchName, MetaRangeId, ObjectKey, RepositoryId, StorageNamespace
from lochan.model.records import Provenance
from lochan.operations.branches import create_branch
from lochan.operations.create_repository import create_repository
from lochan.operations.gc.held import holds
from lochan.operations.hard_reset import hard_reset
from lochan.operations.put_object import put_object
from lochan.operations.transplant import TransplantRequest, revert
from lochan.pipelines.attempts.input_files import InputFiles
from lochan.pipelines.attempts.output_files import Out
from lochan.pipelines.jobs.job_records import get_job, open_jobs
from lochan.pipelines.jobs.run_job import Step
from lochan.pipelines.jobs.shard_view import list_shards, shard_tree
from lochan.pipelines.model.commit_metadata import DATUMS, EPOCH, JOB, PIPELINE, PROCESSED, SKIPPED
from lochan.pipelines.model.records import JobState
from lochan.pipelines.model.spec import (
    CrossInput,
    JobRules,
    RepoInput,
)
from lochan.pipelines.model.tables import PipelineTables
from support.pipeline_world import MAIN, PHOTOS, POSTERS, THUMBS, PipelineWorld, ran, thumbs


@pytest.fixture
def world() -> PipelineWorld:
    world = PipelineWorld.open()
    world.create()
    return world


def test_pach_J3_a_job_publishes_what_its_datums_wrote_as_one_commit(world: PipelineWorld) -> None:
    before = world.head()
    job = world.run({"a": "one", "b": "two"})
    assert job.state is JobState.SUCCESS
    assert world.shown() == {"a": "ONE", "b": "TWO"}
    assert (world.head().id, world.head().parents) == (job.commit, (before.id,))
    assert ran == {"a": 1, "b": 1}
    assert list(open_jobs(world.lake.store)) == []


def test_pach_J6_the_first_job_of_an_output_stands_on_its_empty_root(world: PipelineWorld) -> None:
    root = world.head()
    assert (root.parents, root.meta_range_id) == ((), "")
    assert world.run({"a": "one"}).base == root.id


def test_pach_J7_rel_P3_the_commit_names_its_inputs_and_its_code(world: PipelineWorld) -> None:
    photos = world.put({"a": "one"})
    job = world.drive(world.decide(photos).jobs[0].job)
    made = world.head()
    pinned = Provenance(
        repository_id=PHOTOS,
        commit_id=photos.id,
        input="img",
        glob="/*",
        meta_range_id=photos.meta_range_id,
    )
    assert made.provenance == (pinned,)
    said = made.metadata
    assert (said[JOB], said[PIPELINE], said[EPOCH]) == (job.id, "thumbs", "1")
    assert (said[PROCESSED], said[SKIPPED]) == ("1", "0")
    assert said[DATUMS]


def test_rows_lead_from_an_input_to_what_came_of_it_and_back(world: PipelineWorld) -> None:
    job = world.run({"a": "one"})
    tables = PipelineTables.of(world.lake.store)
    assert tables.by_output.get(f"{THUMBS}/{job.commit}".encode()).record == job.id
    [(came, _)] = tables.came.scan()
    assert came.endswith(f"/{job.pins[0].commit}/{THUMBS}/{job.commit}".encode())


def test_the_next_job_runs_what_changed_and_takes_away_what_vanished(
    world: PipelineWorld,
) -> None:
    world.run({"a": "one", "b": "two", "c": "three"})
    ran.clear()
    job = world.run({"b": "zwei"}, gone=["c"])
    assert world.shown() == {"a": "ONE", "b": "ZWEI"}
    assert ran == {"b": 1}
    assert (job.counts.processed, job.counts.skipped, job.counts.gone) == (1, 1, 1)


def test_an_input_that_changes_nothing_is_skipped_and_the_output_stays(
    world: PipelineWorld,
) -> None:
    world.run({"a": "one"})
    head = world.head()
    again = world.run({})
    assert (again.state, again.commit) == (JobState.SKIPPED, "")
    assert world.head() == head
    assert list(open_jobs(world.lake.store)) == []


def test_an_empty_commit_is_published_where_the_spec_asks_for_it(world: PipelineWorld) -> None:
    world.update(thumbs(job=JobRules(empty_commit=True)))
    first = world.run({"a": "one"})
    second = world.run({})
    assert second.state is JobState.SUCCESS
    assert world.head().parents == (first.commit,)
    assert world.head().provenance[0].commit_id == second.pins[0].commit


def test_a_reverted_input_runs_no_code(world: PipelineWorld) -> None:
    world.run({"a": "one", "b": "two"})
    world.run({"a": "eins"})
    ran.clear()
    job = world.run({"a": "one"})
    assert (job.counts.remembered, job.counts.processed) == (1, 0)
    assert ran == {}
    assert world.shown() == {"a": "ONE", "b": "TWO"}


def test_what_others_did_to_the_output_is_undone_by_the_next_job(world: PipelineWorld) -> None:
    world.run({"a": "one"})
    world.run({"b": "two"})
    lake, where = world.lake.forcing(), world.repository(THUMBS)
    revert(lake, where, MAIN, world.head(), TransplantRequest("ann", "no"))
    assert world.shown() == {"a": "ONE"}
    ran.clear()
    world.run({"c": "three"})
    assert world.shown() == {"a": "ONE", "b": "TWO", "c": "THREE"}
    assert ran == {"c": 1}


def test_an_output_that_was_reset_goes_on_from_there(world: PipelineWorld) -> None:
    world.run({"a": "one"})
    first = world.head()
    world.run({"b": "two"})
    hard_reset(world.lake.forcing(), world.repository(THUMBS), MAIN, first)
    ran.clear()
    job = world.run({"c": "three"})
    assert world.shown() == {"a": "ONE", "b": "TWO", "c": "THREE"}
    assert (ran, job.counts.remembered) == ({"c": 1}, 1)


def test_a_run_on_another_branch_starts_from_the_pipelines_own_and_runs_no_code(
    world: PipelineWorld,
) -> None:
    world.run({"a": "one"})
    create_branch(world.lake, world.repository(PHOTOS), BranchName("exp"), world.head(PHOTOS).id)
    ran.clear()
    decided = world.decide(world.put({"b": "two"}), branch="exp")
    job = world.drive(decided.jobs[0].job)
    assert job.output_branch == "exp"
    assert job.pins[0].branch == "exp"
    assert ran == {}, "exp has no b"
    assert world.shown(ref="exp") == {"a": "ONE"}


def test_a_job_below_reads_what_the_one_above_it_published(world: PipelineWorld) -> None:
    world.create(POSTERS)
    decided = world.decide(world.put({"a": "one"}))
    above, waiting = (planned.job for planned in decided.jobs)
    with pytest.raises(Conflict, match="waits for jobs above"):
        world.drive(waiting)
    made = world.drive(above)
    world.run({"b": "two"})
    assert world.drive(waiting).pins[0].commit == made.commit, "of the same set, not the newest"
    assert world.shown("posters") == {"a": "ONE"}


def test_what_a_spec_fixes_to_a_commit_is_read_there(world: PipelineWorld) -> None:
    first = world.run({"a": "one"})
    world.run({"b": "two"})
    decided = world.decide(world.put({"c": "three"}), pins=first.pins)
    job = world.drive(decided.jobs[0].job)
    assert job.pins == first.pins
    assert world.shown() == {"a": "ONE"}


def test_a_job_holds_what_it_reads_and_writes_until_it_is_over(world: PipelineWorld) -> None:
    decided = world.decide(world.put({"a": "one"}))
    seen = []

    def look(step: Step) -> None:
        if step is Step.RAN:
            seen.append(
                [
                    list(holds(world.lake, world.repository(name)).values())
                    for name in (PHOTOS, THUMBS)
                ]
            )

    job = world.drive(decided.jobs[0].job, look)
    [[[photos], [out]]] = seen
    assert (photos.since, photos.commits) == (0, (job.pins[0].commit,))
    assert (out.since, out.commits) == (job.started, (job.base,))
    assert holds(world.lake, world.repository(PHOTOS)) == {}
    assert holds(world.lake, world.repository(THUMBS)) == {}


def test_pach_J1_a_shard_can_be_looked_at_and_shows_the_base_and_its_own_files_alone(
    world: PipelineWorld,
) -> None:
    world.update(thumbs(shards=2))
    world.run({"a": "one"})
    decided, seen = world.decide(world.put({"b": "two", "c": "three"})), list[list[bytes]]()

    def look(step: Step) -> None:
        if step is Step.RAN:
            job = get_job(world.kept, decided.jobs[0].job)
            snapshots = world.lake.storage(world.repository(THUMBS).storage_namespace).snapshots
            for shard in list_shards(world.lake, job):
                tree = shard_tree(world.lake, job, shard.shard)
                seen.append([row.key for row in snapshots.cursor(tree)])

    job = world.drive(decided.jobs[0].job, look)
    assert seen == [[b"a", b"b"], [b"a", b"c"]]
    with pytest.raises(NotFound, match="has finished no shard 7"):
        shard_tree(world.lake, job, 7)


def test_two_inputs_are_both_pinned(world: PipelineWorld) -> None:
    both = CrossInput(
        inputs=(
            RepoInput(name="img", repo=PHOTOS, glob="/*"),
            RepoInput(name="other", repo="models", glob="/", trigger=False),
        )
    )
    create_repository(world.lake, RepositoryId("models"), StorageNamespace("mem://models"), MAIN)
    world.put({"m": "model"}, to="models")
    world.update(thumbs(input=both))

    def make(img: InputFiles, other: InputFiles, out: Out) -> None:
        out.write(img.path, img.read_text() + other.read_text("m"))

    job = world.running(make).run({"a": "one "})
    assert [pin.input for pin in job.pins] == ["img", "other"]
    assert world.shown() == {"a": "one model"}
    assert MetaRangeId(job.pins[1].meta_range_id) == world.head("models").meta_range_id


def test_rel_P7_what_others_have_staged_on_the_output_is_neither_taken_nor_lost(
    world: PipelineWorld,
) -> None:
    insisting, where = world.lake.forcing(), world.repository(THUMBS)
    put_object(insisting, where, MAIN, ObjectKey(b"staged"), b"half")
    world.run({"a": "one"})
    assert world.shown(ref=f"{MAIN}@") == {"a": "ONE"}
    assert world.shown() == {"a": "ONE", "staged": "half"}
