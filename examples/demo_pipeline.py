# SPDX-License-Identifier: Apache-2.0
"""The pipeline part of the demo: two steps, a second run that skips, provenance of one file.

`demo.py` calls it; the pipelines are those of pipelines/pipeline.yaml. The server decides what runs
and when, each job runs in processes of its own, on Spark.
"""

import json
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from threading import Event
from time import perf_counter

from lochan.client import Branch, Lake, Repository
from lochan.client.jobs import Run
from lochan.shapes.jobs import Job

SPEC = Path(__file__).parent / "pipelines" / "pipeline.yaml"
FIRST, SECOND = "modules", "imports"
CHANGED, ITS_RESULT = "lib/this.py", "lib/this.json"

Say = Callable[[str], None]


def show_pipeline(lake: Lake, repository: Repository, step: Say, tell: Say) -> None:
    """Make the pipelines, see them run, change a file, see them run again, trace a result."""
    main = repository.branch("main")
    step("A pipeline of two steps: examples/pipelines/pipeline.yaml, and the code beside it")
    for made in lake.pipelines.create(SPEC):
        tell(f"{made.pipeline}: {made.spec['description']}")
    step("The server sees that there is something to do, and runs it on Spark")
    first = next_runs(lake, seen=())
    show_runs(first, tell)
    show_most(lake, tell)
    step("One file of them changes; commit it, and wait")
    main.upload(CHANGED, "import json, re, sys\n")
    tell(f"committed as {main.commit('another riddle').id[:12]}")
    show_runs(next_runs(lake, seen=[run.id for run in first]), tell)
    show_origin(lake, main, step, tell)


def next_runs(lake: Lake, seen: Collection[str]) -> list[Run]:
    """Wait for the next run of both pipelines, and for its end.

    They are two if the server looked when the first pipeline was made, and the second was not yet.
    """
    pause = Event()
    while True:
        newest = [
            next(lake.pipelines.jobs.of(each, max_amount=1), None) for each in (FIRST, SECOND)
        ]
        made = dict.fromkeys(job.job_set for job in newest if job and job.job_set not in seen)
        runs = [lake.pipelines.jobs.run(each) for each in made]
        for run in runs:
            run.wait()
        if {job.pipeline for run in runs for job in run.jobs} == {FIRST, SECOND}:
            return runs
        pause.wait(0.2)


def show_runs(runs: Sequence[Run], tell: Say) -> None:
    """Say what each job ran and what it did not have to."""
    for job in (job for run in runs for job in run.jobs):
        counts = job.counts
        unchanged = f", {counts.skipped} unchanged and not run" if counts.skipped else ""
        failed = f", {counts.failed} left out" if counts.failed else ""
        what = f"{counts.processed} datum{'s' * (counts.processed != 1)} run{unchanged}{failed}"
        tell(f"{job.pipeline}: {job.state}, {what}, {spent(job)}, commit {job.commit[:12]}")


def show_most(lake: Lake, tell: Say) -> None:
    """Read what the second step made."""
    began, table = perf_counter(), lake.repository(SECOND).ref("main")
    rows = [
        json.loads(line)
        for one in table.objects()
        for line in table.object(one.path).read().decode().splitlines()
    ]
    most = sorted(rows, key=lambda row: -int(row["modules"]))[:5]
    took = 1000 * (perf_counter() - began)
    listed = ", ".join(f"{row['imported']} {row['modules']}" for row in most)
    tell(f"imported most: {listed}  [dim](read in {took:.0f} ms)[/]")


def show_origin(lake: Lake, main: Branch, step: Say, tell: Say) -> None:
    """Say what one file was made of, and what one file led to."""
    step(f"Where does {FIRST}@main:{ITS_RESULT} come from?")
    (made,) = lake.repository(FIRST).ref("main").provenance("up", ITS_RESULT).files
    for place in made.sources:
        tell(f"{place.repository}@{place.commit[:12]}:{place.path}, by job {made.job[:12]}")
    step(f"And what came of {CHANGED}?")
    found = main.provenance("down", CHANGED)
    for done in found.files:
        tell(f"files: {', '.join(f'{one.repository}:{one.path}' for one in done.results)}")
    names = (f"{one.repository}@{one.commit[:12]}" for one in found.commits)
    tell(f"commits: {' -> '.join(names)}")


def spent(job: Job) -> str:
    """Say how long a job took."""
    if job.started is None or job.finished is None:
        return "not over"
    return f"{(job.finished - job.started).total_seconds():.1f} s"
