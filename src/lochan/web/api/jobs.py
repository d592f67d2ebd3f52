# SPDX-License-Identifier: Apache-2.0
"""Jobs: how far they are, what became of their datums, what these printed; and their end."""

from collections.abc import Iterator

from lochan.access.actions import CREATE_BRANCH, READ_JOB, STOP_JOB
from lochan.access.arn import branch_arn, pipeline_arn
from lochan.access.needed import Permission
from lochan.errors import InvalidInput
from lochan.pipelines.jobs import job_records, shard_refs
from lochan.pipelines.jobs.job_datums import datums_of, lines_of
from lochan.pipelines.lineage.openlineage import events
from lochan.pipelines.model import log_line, records
from lochan.pipelines.model.datum import DatumRow
from lochan.shapes.jobs import (
    Datum,
    DatumFilePlace,
    DatumList,
    Job,
    JobList,
    JobQuery,
    JobSet,
    LineageEvents,
    LogLine,
    LogLines,
    LogQuery,
    Shard,
    ShardList,
)
from lochan.web.api.pages import page_of
from lochan.web.api.shown_jobs import shown_job, shown_job_set
from lochan.web.call import Call
from lochan.web.needs import Need, each
from lochan.web.route import Routes

ROUTES: Routes = Routes("jobs")

_PIPELINE = "arn:lakefs:pipelines:::pipeline/{pipeline}"
_BRANCH = "arn:lakefs:fs:::repository/{repository}/branch/{branch}"
_MOST_LINES = 100_000
_MOST_LETTERS = 32 << 20  # an answer is made in memory


@ROUTES.get(
    "/pipelines/{pipeline}/jobs",
    needs=Need(READ_JOB, _PIPELINE),
    query=JobQuery,
    answers={200: JobList},
)
def list_jobs(call: Call) -> JobList:
    """Give the jobs of a pipeline, newest first."""
    asked = call.asked(JobQuery)
    found = job_records.list_jobs(call.lake.store, call.path["pipeline"], asked.after)
    page, pagination = page_of(found, asked, lambda job: job.id)
    return JobList(pagination=pagination, results=[shown_job(job) for job in page])


@ROUTES.get("/jobs/{job}", needs=each(Need(READ_JOB, _PIPELINE)), answers={200: Job})
def get_job(call: Call) -> Job:
    """Give a job as it is now."""
    return shown_job(_job(call, READ_JOB))


@ROUTES.post("/jobs/{job}/stop", needs=each(Need(STOP_JOB, _PIPELINE)), answers={202: Job})
def stop_job(call: Call) -> Job:
    """Ask for the end of a job; its output stays as it was."""
    return shown_job(job_records.ask_kill(call.lake, _job(call, STOP_JOB).id))


@ROUTES.get("/job-sets/{job_set}", needs=each(Need(READ_JOB, _PIPELINE)), answers={200: JobSet})
def get_job_set(call: Call) -> JobSet:
    """Give the jobs that one cause called for, as far as the caller may see them."""
    found = job_records.get_job_set(call.lake.store, call.path["job_set"])
    shown = shown_job_set(call, found)
    if not shown.jobs:
        call.require(_permission(READ_JOB, found.jobs[0].pipeline))
    return shown


@ROUTES.get(
    "/jobs/{job}/datums",
    needs=each(Need(READ_JOB, _PIPELINE)),
    query=JobQuery,
    answers={200: DatumList},
)
def list_datums(call: Call) -> DatumList:
    """Give the datums of what a job published, by id."""
    asked = call.asked(JobQuery)
    found = datums_of(call.lake, _job(call, READ_JOB), after=_id(asked.after))
    page, pagination = page_of(found, asked, lambda row: row.id.hex())
    return DatumList(pagination=pagination, results=[_shown_datum(row) for row in page])


@ROUTES.get(
    "/jobs/{job}/logs",
    needs=each(Need(READ_JOB, _PIPELINE)),
    query=LogQuery,
    answers={200: LogLines},
)
def get_job_logs(call: Call) -> LogLines:
    """Give what a job's code printed, of one datum or of all."""
    lines = _lines(call, call.asked(LogQuery).datum)
    return LogLines(results=list(lines))


@ROUTES.get(
    "/jobs/{job}/events", needs=each(Need(READ_JOB, _PIPELINE)), answers={200: LineageEvents}
)
def get_job_events(call: Call) -> LineageEvents:
    """Give a job as events of OpenLineage."""
    return LineageEvents(results=events(_job(call, READ_JOB)))


@ROUTES.get("/jobs/{job}/shards", needs=each(Need(READ_JOB, _PIPELINE)), answers={200: ShardList})
def list_shards(call: Call) -> ShardList:
    """Give the shards of a job that have finished so far."""
    found = shard_refs.list_shards(call.lake, _job(call, READ_JOB))
    return ShardList(results=[_shown_shard(one) for one in found])


@ROUTES.post(
    "/jobs/{job}/shards/{shard}",
    needs=each(Need(READ_JOB, _PIPELINE), Need(CREATE_BRANCH, _BRANCH)),
    answers={201: Shard},
)
def show_shard(call: Call) -> Shard:
    """Make a hidden branch that shows what a shard wrote, to be listed and read like any other."""
    number = call.path["shard"]
    if not number.isdecimal():
        raise InvalidInput(f"{number!r} is no number of a shard", code="invalid-shard")
    job = _job(call, READ_JOB)
    branch = shard_refs.branch_of(call.lake, job, int(number))
    call.require(Permission(CREATE_BRANCH, branch_arn(job.output_repository, branch)))
    return _shown_shard(shard_refs.show_shard(call.lake, job, int(number))[0])


def _job(call: Call, action: str) -> records.Job:
    found = job_records.get_job(call.lake.store, call.path["job"])
    call.require(_permission(action, found.pipeline))
    return found


def _permission(action: str, pipeline: str) -> Permission:
    return Permission(action, pipeline_arn(pipeline))


def _id(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError as error:
        raise InvalidInput(f"{text!r} is no id of a datum", code="invalid-after") from error


def _lines(call: Call, datum: str) -> Iterator[LogLine]:
    job = _job(call, READ_JOB)
    letters = 0
    for number, line in enumerate(lines_of(call.lake, job, datum)):
        letters += len(line.text)
        if number >= _MOST_LINES or letters > _MOST_LETTERS:
            break
        yield _shown_line(line)


def _shown_line(line: log_line.LogLine) -> LogLine:
    return LogLine(
        time=line.time, datum=line.datum, shard=line.shard, stream=line.stream, text=line.text
    )


def _shown_shard(one: shard_refs.ShownShard) -> Shard:
    return Shard(
        number=one.number,
        datums=one.datums,
        failed=one.failed,
        files=one.files,
        bytes=one.bytes,
        milliseconds=one.milliseconds,
        branch=one.branch,
    )


def _shown_datum(row: DatumRow) -> Datum:
    return Datum(
        id=row.id.hex(),
        state=row.state.value,
        inputs=[
            DatumFilePlace(
                input=source.input,
                repository=source.repository,
                path=source.key.decode(errors="replace"),
            )
            for source in row.sources
        ],
        outputs=[output.key.decode(errors="replace") for output in row.outputs],
        job=row.job,
        bytes=row.bytes,
        milliseconds=row.milliseconds,
        reason=row.reason,
    )
