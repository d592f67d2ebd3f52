# SPDX-License-Identifier: Apache-2.0
"""After: what follows when a job's commit is published, or when it ended without one.

    1. by-output/...   which job made the commit
    2. came/...        a row for every input: what came of it
    3. memo/...        what was computed is remembered for jobs of all branches
    4. egress          copies of the result elsewhere; the commit stands, whatever becomes of them
    5. SUCCESS         the job's record names the commit
    6. let go          the collector's rows, and last the job's open row

Each step can be done again, and all but the job's own record can be made again from the commit. A
driver that dies on the way leaves the job open, and the next one finds the commit and does them
all. One that dies behind step 5 leaves rows of a job that has ended: `close_ended` takes them away.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

import msgspec

from lochan.errors import Gone, LochanError, NotFound
from lochan.model.records import Commit, Repository
from lochan.operations.gc.held import holds, let_go
from lochan.operations.lake import Lake
from lochan.pipelines.jobs.job_records import change_job, end_job
from lochan.pipelines.jobs.pin import hold_name, repository_of
from lochan.pipelines.model.records import Job, JobState
from lochan.pipelines.model.tables import PipelineTables, by_output_name, came_of_pin
from lochan.pipelines.specs.masked_spec import masked_text
from lochan.refs.outcomes import surely

EGRESS_TRIES: Final = 3
WAITING: Final = "waiting"
DONE: Final = "done"

Send = Callable[[Job, Commit], None]  # copies a result to where its spec says


def tell_lineage(lake: Lake, job: Job, commit: Commit) -> None:
    """Write the rows that lead from inputs to what came of them, and from a commit to its job."""
    tables = PipelineTables.of(lake.store)
    made = by_output_name(job.output_repository, commit.id)
    surely(lambda: tables.by_output.set(made, job.id))
    for pin in job.pins:
        _set(tables, came_of_pin(pin, job.output_repository, commit.id))


def send(lake: Lake, job: Job, commit: Commit, copy: Send | None) -> Job:
    """Copy the result elsewhere, if somebody asked for that; what failed is written down.

    A destination that is down must not hold up what hangs below, so it is tried a few times only.
    """
    if copy is None or job.egress == DONE:
        return job
    for number in range(EGRESS_TRIES):
        said = DONE
        job = _egressing(lake, job, commit)
        try:
            copy(job, commit)
        except LochanError as error:
            said = f"try {number + 1} of {EGRESS_TRIES} failed: {masked_text(error.message)}"
        job = change_job(lake, job, _saying(said))
        if said == DONE:
            break
    return job


def succeed(lake: Lake, job: Job, commit: Commit) -> Job:
    """End a job that has published."""
    named = change_job(lake, job, lambda now: msgspec.structs.replace(now, commit=commit.id))
    return end_job(lake, named, JobState.SUCCESS)


def close_job(lake: Lake, job: Job) -> None:
    """Take away what an open job has and an ended one has not. Idempotent."""
    for name in sorted({job.output_repository, *(pin.repository for pin in job.pins)}):
        with suppress(NotFound, Gone):  # with the repository its rows have gone
            clear_holds(lake, repository_of(lake, name))
    tables = PipelineTables.of(lake.store)
    surely(lambda: tables.open.delete(job.id.encode()))


def let_go_of(lake: Lake, job: Job) -> None:
    """Take away what a driver holds that has lost its job, if that is over.

    While it is open the next driver may use what this one's attempts have finished.
    """
    found = PipelineTables.of(lake.store).jobs.find(job.id.encode())
    if found is not None and not found.record.state.is_end:
        return
    for name in sorted({job.output_repository, *(pin.repository for pin in job.pins)}):
        with suppress(NotFound, Gone):
            let_go(lake, repository_of(lake, name), hold_name(job))


def clear_holds(lake: Lake, repository: Repository) -> int:
    """Take away what jobs hold in a repository that have ended; count it.

    A driver that was taken over may hold something when its job has ended, and die. A collector is
    preceded by this, so that nothing is kept for ever.
    """
    tables, cleared = PipelineTables.of(lake.store), 0
    for name in holds(lake, repository):
        found = tables.jobs.find(name.rpartition("-")[0].encode())
        if found is None or found.record.state.is_end:
            let_go(lake, repository, name)
            cleared += 1
    return cleared


def close_ended(lake: Lake) -> int:
    """Close jobs that ended while their drivers died; count them."""
    tables = PipelineTables.of(lake.store)
    ended = [
        found.record
        for name, _ in tables.open.scan()
        if (found := tables.jobs.find(name)) is not None and found.record.state.is_end
    ]
    for job in ended:
        close_job(lake, job)
    return len(ended)


def _set(tables: PipelineTables, name: bytes) -> None:
    surely(lambda: tables.came.set(name, b""))


def _egressing(lake: Lake, job: Job, commit: Commit) -> Job:
    return change_job(
        lake,
        job,
        lambda now: msgspec.structs.replace(
            now, state=JobState.EGRESSING, commit=commit.id, egress=now.egress or WAITING
        ),
    )


def _saying(said: str) -> Callable[[Job], Job]:
    return lambda now: msgspec.structs.replace(now, egress=said)
