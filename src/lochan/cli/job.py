# SPDX-License-Identifier: Apache-2.0
"""`lochan job`: what jobs did, what their datums read, wrote and printed."""

from typing import Annotated, Final

import typer

from lochan.cli.on_lake import on_lake
from lochan.cli.show import Show
from lochan.cli.shown_jobs import JOB_COLUMNS, finished, watching
from lochan.cli.verb import new_app
from lochan.client.lake import Lake
from lochan.errors import NotFound

app = new_app("Look at jobs, their datums and logs; stop them.")

JobName = Annotated[str, typer.Argument(help="Id of the job, or how it begins.")]
OfPipeline = Annotated[
    str, typer.Option("--pipeline", "-p", help="Whose job it is, to find a cut id sooner.")
]
_WHOLE: Final = 32
_LOOKED_AT: Final = 1000  # jobs of a pipeline, the newest


@on_lake(app, "list")
def list_jobs(
    show: Show,
    lake: Lake,
    pipeline: Annotated[str, typer.Argument(help="Name of the pipeline.")],
    *,
    amount: Annotated[int, typer.Option("--amount", min=1, help="How many at most.")] = 20,
) -> None:
    """List the jobs of a pipeline, newest first.

    Example: lochan job list words
    """
    show.rows(lake.pipelines.jobs.of(pipeline, max_amount=amount), JOB_COLUMNS)


@on_lake(app, "show")
def show_job(show: Show, lake: Lake, job: JobName, *, pipeline: OfPipeline = "") -> None:
    """Show a job: what it read, what it made.

    Example: lochan job show 3f2c91ab
    """
    found = lake.pipelines.jobs.get(_whole(lake, job, pipeline))
    columns = {
        **JOB_COLUMNS,
        "job": lambda one: one.id,
        "commit": lambda one: one.commit,
        "reads": lambda one: ", ".join(
            f"{each.repository}@{each.commit[:12]}{each.glob}" for each in one.inputs
        ),
        "writes": lambda one: one.output,
        "job set": lambda one: one.job_set,
        "drivers": lambda one: one.epoch,
        "egress": lambda one: one.egress,
        "reason": lambda one: one.reason,
    }
    show.record(found, columns)


@on_lake(app, "wait")
def wait(show: Show, lake: Lake, job: JobName, *, pipeline: OfPipeline = "") -> None:
    """Wait for a job and all jobs of its set; exit code 1 where one fails.

    Example: lochan job wait 3f2c91ab
    """
    found = lake.pipelines.jobs.get(_whole(lake, job, pipeline))
    run = lake.pipelines.jobs.run(found.job_set)
    with watching(show) as watch:
        finished(show, run, watch)


@on_lake(app, "stop")
def stop(show: Show, lake: Lake, job: JobName, *, pipeline: OfPipeline = "") -> None:
    """Ask for the end of a job; its output stays as it was.

    Example: lochan job stop 3f2c91ab
    """
    asked = lake.pipelines.jobs.stop(_whole(lake, job, pipeline))
    show.done(f"job {asked.id} is asked to end", job=asked.id)


@on_lake(app, "datums")
def datums(show: Show, lake: Lake, job: JobName, *, pipeline: OfPipeline = "") -> None:
    """List the datums of what a job published.

    Example: lochan job datums 3f2c91ab
    """
    found = lake.pipelines.jobs.get(_whole(lake, job, pipeline))
    if not found.commit:
        show.note(f"it published nothing; `lochan job logs {found.id[:12]}` has what its code said")
    show.rows(
        lake.pipelines.jobs.datums(found.id),
        {
            "datum": lambda one: one.id[:12],
            "state": lambda one: one.state,
            "reads": lambda one: ", ".join(f"{each.input}:{each.path}" for each in one.inputs),
            "writes": lambda one: ", ".join(one.outputs),
            "ms": lambda one: one.milliseconds,
            "reason": lambda one: one.reason,
        },
    )


@on_lake(app, "logs")
def logs(
    show: Show,
    lake: Lake,
    job: JobName,
    *,
    pipeline: OfPipeline = "",
    datum: Annotated[str, typer.Option("--datum", help="Of this datum alone.")] = "",
) -> None:
    """Show what a job's code printed.

    Example: lochan job logs 3f2c91ab --datum 77
    """
    found = lake.pipelines.jobs.logs(_whole(lake, job, pipeline), datum)
    if show.json:
        show.value(found)
        return
    for line in found:
        show.text(f"{line.time} {line.datum[:12]} {line.stream}: {line.text.rstrip()}\n")


@on_lake(app, "shards")
def shards(
    show: Show,
    lake: Lake,
    job: JobName,
    *,
    pipeline: OfPipeline = "",
    branch: Annotated[
        int | None,
        typer.Option("--branch", min=0, help="Make a hidden branch that shows this shard."),
    ] = None,
) -> None:
    """List the shards of a job that have finished so far, or look at one as at a branch.

    Example: lochan job shards 3f2c91ab --branch 0
    """
    jobs, name = lake.pipelines.jobs, _whole(lake, job, pipeline)
    found = jobs.shards(name) if branch is None else [jobs.show_shard(name, branch)]
    show.rows(found)


@on_lake(app, "events")
def events(show: Show, lake: Lake, job: JobName, *, pipeline: OfPipeline = "") -> None:
    """Give a job as events of OpenLineage.

    Example: lochan job events 3f2c91ab
    """
    show.value(lake.pipelines.jobs.events(_whole(lake, job, pipeline)))


def _whole(lake: Lake, job: str, pipeline: str) -> str:
    """Find a job by how its id begins, of one pipeline or of any. Raises NotFound."""
    if len(job) == _WHOLE:
        return job
    pipelines = lake.pipelines
    names = [pipeline] if pipeline else [one.pipeline for one in pipelines.list()]
    for name in names:
        for found in pipelines.jobs.of(name, max_amount=_LOOKED_AT):
            if found.id.startswith(job):
                return found.id
    where = f"{pipeline} has" if pipeline else "there is"
    raise NotFound(f"{where} no job that begins with {job!r}", code="job-not-found")
