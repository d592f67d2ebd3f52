# SPDX-License-Identifier: Apache-2.0
"""Jobs on a terminal: rows of them, and a live look at a run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from lochan.cli.show import Show
from lochan.client.jobs import ENDS, Run, Watch, reason_of
from lochan.shapes.jobs import Job, JobSet


def datums(job: Job) -> str:
    """Say what became of the datums of a job."""
    counts = job.counts
    parts = {
        "run": counts.processed,
        "remembered": counts.remembered,
        "unchanged": counts.skipped,
        "gone": counts.gone,
        "failed": counts.failed,
    }
    return ", ".join(f"{count} {name}" for name, count in parts.items() if count) or "none"


def took(job: Job) -> str:
    """Say how long a job took, once it has ended."""
    if job.started is None or job.finished is None:
        return ""
    return f"{(job.finished - job.started).total_seconds():.1f} s"


JOB_COLUMNS: Final[dict[str, Callable[[Job], object]]] = {
    "pipeline": lambda job: job.pipeline,
    "job": lambda job: job.id[:12],
    "state": lambda job: job.state,
    "datums": datums,
    "took": took,
    "commit": lambda job: job.commit[:12],
    "reason": reason_of,
}


def finished(show: Show, run: Run, watch: Watch) -> None:
    """Wait for a run and show its jobs, whatever came of them. Raises as `Run.wait`."""
    try:
        run.wait(watch)
    finally:
        show.rows(run.jobs, JOB_COLUMNS)


@contextmanager
def watching(show: Show) -> Iterator[Callable[[JobSet], None]]:
    """Show how a run gets on: jobs, datums and bytes."""
    with show.count_bar("waiting") as bar:

        def watch(found: JobSet) -> None:
            running = [job for job in found.jobs if job.state not in ENDS]
            done = sum(job.progress.datums_done for job in found.jobs)
            total = sum(job.counts.total - job.counts.skipped for job in found.jobs)
            now = running[0] if running else None
            if now is not None:
                tasks = now.progress.tasks_active
                label = f"{now.pipeline}: {now.state}" + (f", {tasks} tasks" if tasks else "")
                bar.describe(label)
            bar.reach(min(done, total), total or None)

        yield watch
