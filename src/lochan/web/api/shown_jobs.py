# SPDX-License-Identifier: Apache-2.0
"""Jobs and job sets as the API shows them."""

from datetime import datetime

from lochan.access.actions import READ_JOB
from lochan.access.arn import pipeline_arn
from lochan.access.needed import Permission
from lochan.model.instant import Instant, to_datetime
from lochan.pipelines.jobs.job_records import get_job
from lochan.pipelines.model import records
from lochan.shapes.jobs import Job, JobCounts, JobProgress, JobSet, PinnedInput
from lochan.web.call import Call


def shown_time(moment: Instant) -> datetime:
    """Show a time."""
    return to_datetime(moment)


def shown_job(job: records.Job) -> Job:
    """Show a job."""
    counts, progress = job.counts, job.progress
    return Job(
        id=job.id,
        job_set=job.job_set,
        pipeline=job.pipeline,
        version=job.version,
        state=job.state.value,
        reason=job.reason,
        output=f"{job.output_repository}@{job.output_branch}",
        commit=job.commit,
        inputs=[
            PinnedInput(
                input=pin.input,
                repository=pin.repository,
                branch=pin.branch,
                commit=pin.commit,
                glob=pin.glob,
            )
            for pin in job.pins
        ],
        counts=JobCounts(
            total=counts.total,
            processed=counts.processed,
            skipped=counts.skipped,
            remembered=counts.remembered,
            failed=counts.failed,
            gone=counts.gone,
        ),
        progress=JobProgress(
            shards=progress.shards,
            shards_done=progress.shards_done,
            datums_done=progress.datums_done,
            datums_failed=progress.datums_failed,
            bytes=progress.bytes,
            tasks_active=progress.tasks_active,
        ),
        epoch=job.epoch,
        created=to_datetime(job.created),
        started=to_datetime(job.started) if job.started else None,
        finished=to_datetime(job.finished) if job.finished else None,
        egress=job.egress,
    )


def shown_job_set(call: Call, decided: records.JobSet, asked_for: str = "") -> JobSet:
    """Show a job set with those of its jobs that the caller may see, as they are now.

    Who asked for a run may see the job of the pipeline that was asked for.
    """
    cause = decided.cause
    seen = (
        planned.job
        for planned in decided.jobs
        if planned.pipeline == asked_for
        or call.may(Permission(READ_JOB, pipeline_arn(planned.pipeline)))
    )
    return JobSet(
        id=decided.id,
        cause=cause.kind,
        repository=cause.repository,
        branch=cause.branch,
        commit=cause.commit,
        created=to_datetime(decided.created),
        jobs=[shown_job(get_job(call.lake.store, job)) for job in seen],
        skipped_commits=list(decided.skipped_commits),
    )
