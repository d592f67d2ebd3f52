# SPDX-License-Identifier: Apache-2.0
"""The seed's CreateJob, by N real branches, and the light protocol: one tree."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import count

import msgspec
import pytest

from lochan.errors import Conflict, JobFailed
from lochan.faults import Crashed, Fault
from lochan.kv.faulty import Faulty, fail_nth
from lochan.model.ids import BranchName
from lochan.model.records import Commit
from lochan.operations.branches import create_branch
from lochan.pipelines.attempts.input_files import InputFiles
from lochan.pipelines.attempts.output_files import Out
from lochan.pipelines.jobs.create_job import Creation, create_job
from lochan.pipelines.jobs.job_records import get_job
from lochan.pipelines.jobs.pin import output_head, pin_inputs
from lochan.pipelines.jobs.run_job import run_job
from lochan.pipelines.model.commit_metadata import JOB
from lochan.pipelines.model.records import JobState
from lochan.pipelines.model.spec import DatumRules, Output
from lochan.pipelines.model.tables import get_version
from lochan.pipelines.model.work import Engine, JobTask, Manifest, Shard, Tell
from lochan.refs.branches import list_branches
from support.pipeline_world import MAIN, THUMBS, PipelineWorld, thumbs

FILES = {f"{number:02}": "text " * (number % 7) for number in range(70)}


def doubling(img: InputFiles, out: Out) -> None:
    """Write two files for each one."""
    out.write(f"x/{img.path}", img.read_text().upper())
    out.write(f"y/{img.path}", img.path)


def gathering(img: InputFiles, out: Out) -> None:
    """Write to one file for all."""
    out.write("all", f"{img.path};")


class Recorded:
    """An engine that runs shards once, and then gives the same manifests again."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._manifests: list[Manifest] = []

    @property
    def cores(self) -> int:
        return self._engine.cores

    def run(self, task: JobTask, shards: Sequence[Shard], tell: Tell) -> Iterator[Manifest]:
        if not self._manifests:
            self._manifests = list(self._engine.run(task, shards, tell))
        assert len(self._manifests) == len(shards)
        return iter(self._manifests)


def opened(world: PipelineWorld, parallelism: int, branch: str = MAIN) -> Creation:
    """Pin a job for an output branch as it is, without driving it."""
    decided = world.decide(world.put({}), branch=branch)
    planned = decided.jobs[0]
    version = get_version(world.lake.store, planned.pipeline, planned.version)
    job = get_job(world.lake.store, planned.job)
    head = output_head(world.lake, job, version.spec)
    pins = pin_inputs(world.lake, job, decided, version.spec)
    pinned = msgspec.structs.replace(job, pins=pins, base=head.id, epoch=1)
    return Creation(pinned, version, world.repository(THUMBS), parallelism)


def literal(world: PipelineWorld, parallelism: int) -> Commit:
    return create_job(world.lake, opened(world, parallelism), world.engine())


def light(world: PipelineWorld, engine: Engine | None = None) -> Commit:
    job = world.decide(world.put({})).jobs[0].job
    ended = run_job(world.lake, job, engine or world.engine())
    assert ended.state is JobState.SUCCESS
    return world.head()


def identities(world: PipelineWorld, commit: Commit) -> dict[bytes, bytes]:
    snapshots = world.lake.storage(world.repository(THUMBS).storage_namespace).snapshots
    return {row.key: row.identity for row in snapshots.cursor(commit.meta_range_id)}


@pytest.fixture(scope="module")
def ground() -> PipelineWorld:
    world = PipelineWorld.open(function=doubling)
    world.create()
    world.put(FILES)
    return world


@pytest.mark.parametrize("parallelism", [1, 2, 7, 64])
def test_pach_J1_pach_J3_n_branches_and_n_fragments_give_the_same_metarange(
    ground: PipelineWorld, parallelism: int
) -> None:
    world = ground.copy()
    create_branch(world.lake, world.repository(THUMBS), BranchName("seed"), world.head().id)
    world.update(thumbs(shards=parallelism))
    engine = Recorded(world.engine())
    by_fragments = light(world, engine)
    by_branches = create_job(world.lake, opened(world, parallelism, "seed"), engine)
    assert by_branches.meta_range_id == by_fragments.meta_range_id
    assert world.shown(ref="seed") == world.shown()
    assert len(world.shown()) == 2 * len(FILES)
    told = [(each.repository_id, each.input) for each in by_fragments.provenance]
    assert [(each.repository_id, each.input) for each in by_branches.provenance] == told


def test_pach_J5_any_number_of_shards_gives_the_same_content(ground: PipelineWorld) -> None:
    one = ground.copy()
    expected = identities(one, light(one))
    for shards in (2, 7, 64):
        world = ground.copy()
        world.update(thumbs(shards=shards))
        assert identities(world, light(world)) == expected
        other = ground.copy()
        assert identities(other, literal(other, shards)) == expected


def test_pach_J2_files_of_several_shards_come_one_after_the_other() -> None:
    world = PipelineWorld.open(function=gathering)
    world.create(thumbs(shards=7, output=Output(repo=THUMBS, collision="append")))
    world.put(FILES)
    branches, fragments = world.copy(), world.copy()
    literal(branches, 7)
    light(fragments)
    parts = [world.shown()["all"].removesuffix(";").split(";") for world in (branches, fragments)]
    assert sorted(parts[0]) == sorted(FILES)
    assert parts[1] == sorted(FILES), "in the order of the datums"


def test_pach_J4_a_failed_shard_leaves_the_output_and_no_branch(ground: PipelineWorld) -> None:
    world = ground.copy()
    world.update(thumbs(datum=DatumRules(tries=1)))
    before = world.head()

    def broken(img: InputFiles, out: Out) -> None:
        assert img.path != "33"

    failing = world.running(broken)
    with pytest.raises(JobFailed):
        literal(failing, 7)
    assert world.head() == before
    assert branches_of(world) == ["main"]


def branches_of(world: PipelineWorld) -> list[str]:
    tables = world.lake.tables(world.repository(THUMBS))
    return [branch.branch_id for branch in list_branches(tables, hidden=True)]


def test_a_job_that_is_created_again_is_the_same_commit(ground: PipelineWorld) -> None:
    world = ground.copy()
    wanted = opened(world, 3)
    made = create_job(world.lake, wanted, world.engine())
    assert made.parents == (wanted.job.base,)
    assert create_job(world.lake, wanted, world.engine()) == made
    assert (made.metadata[JOB], branches_of(world)) == (wanted.job.id, ["main"])


def test_a_job_goes_right_behind_its_base_or_nowhere(ground: PipelineWorld) -> None:
    world = ground.copy()
    late = opened(world, 2)
    create_job(world.lake, opened(world, 2), world.engine())
    with pytest.raises(Conflict) as met:
        create_job(world.lake, late, world.engine())
    assert met.value.code == "slot-taken"
    assert branches_of(world) == ["main"]


def test_rel_P5_a_creation_that_dies_anywhere_and_is_repeated_leaves_one_commit() -> None:
    ground = PipelineWorld.open(function=doubling)
    ground.create()
    ground.put({"a": "one", "b": "two", "c": "three"})
    wanted = opened(ground, 2)
    for number in count(1, 5):
        world = ground.copy()
        dying = Faulty(world.kept, fail_nth(number, Fault.CRASH_AFTER), world.world)
        with suppress(Crashed):
            create_job(world.again(dying).lake, wanted, world.engine())
        made = create_job(world.again().lake, wanted, world.engine())
        assert world.commits_of(wanted.job.id) == [made]
        assert len(world.shown()) == 6
        if dying.calls < number:
            break
    assert number > 50
