# SPDX-License-Identifier: Apache-2.0
"""Pipelines that hang on each other, and short words to sweep them and to drive what is ready."""

from lochan.pipelines.attempts.in_process import InProcess
from lochan.pipelines.jobs.job_records import list_jobs
from lochan.pipelines.jobs.run_job import run_job
from lochan.pipelines.model.records import Job, JobSet
from lochan.pipelines.model.spec import (
    CrossInput,
    FilesTransform,
    Input,
    Output,
    RepoInput,
    Spec,
    Trigger,
)
from lochan.pipelines.schedule.scheduler import ready_jobs
from lochan.pipelines.schedule.sweep import sweep
from lochan.pipelines.specs.registry import create_pipeline, load_graph
from support.pipeline_world import PHOTOS, PipelineWorld, namespace_of

CODE = {
    "steps.py": b"""
def copy(files, out):
    for file in files:
        out.write(file.path, file.read_text())

def join(left, right, out):
    out.write("both", "".join(file.read_text() for side in (left, right) for file in side))

def either(out, files=None, right=None):
    for file in files or right:
        out.write(file.path, file.read_text())

def broken(files, out):
    raise ValueError("no")

def notes(clock, out):
    out.write(clock.path, "")

def note(clock, out):
    out.write("last", clock.path)
"""
}
# Another version: `copy` writes other files than before.
OTHER_CODE = {"steps.py": CODE["steps.py"].replace(b"file.read_text())\n\n", b'"other")\n\n', 1)}


def reads(repo: str, name: str = "files", glob: str = "/*") -> RepoInput:
    return RepoInput(name=name, repo=repo, glob=glob)


def made(
    world: PipelineWorld,
    name: str,
    of: Input,
    function: str = "copy",
    trigger: Trigger | None = None,
) -> Spec:
    """Make a pipeline into a repository of its own name."""
    spec = Spec(
        pipeline=name,
        input=of,
        transform=FilesTransform(function=f"steps:{function}"),
        output=Output(repo=f"{name}-out"),
        trigger=trigger or Trigger(),
    )
    create_pipeline(world.lake, spec, CODE, namespaces=namespace_of)
    return spec


def swept(world: PipelineWorld) -> tuple[JobSet, ...]:
    world.world.sleep(2)
    return sweep(world.lake, load_graph(world.lake))


def drive_all(world: PipelineWorld) -> list[tuple[str, str]]:
    """Drive what is ready until nothing is; gives pipelines and how their jobs ended."""
    ended: list[tuple[str, str]] = []
    engine = InProcess(world.world, world.lake.storage)
    while ready := list(ready_jobs(world.lake)):
        for job in ready:
            done = run_job(world.lake, job.id, engine)
            ended.append((done.pipeline, done.state.value))
    return ended


def settled(world: PipelineWorld, *, rounds: int = 20) -> list[tuple[str, str]]:
    """Sweep and drive until nothing moves any more, which must be soon."""
    ended: list[tuple[str, str]] = []
    for _ in range(rounds):
        decided = swept(world)
        driven = drive_all(world)
        ended += driven
        if not decided and not driven:
            return ended
    raise AssertionError(f"jobs are made for ever: {ended}")


def jobs_of(world: PipelineWorld, pipeline: str) -> list[Job]:
    return list(list_jobs(world.lake.store, pipeline))


def diamond(world: PipelineWorld, right: str = "copy") -> None:
    made(world, "left", reads(PHOTOS))
    made(world, "right", reads(PHOTOS), right)
    both = CrossInput(inputs=(reads("left-out", "left", "/"), reads("right-out", "right", "/")))
    made(world, "both", both, "join")
