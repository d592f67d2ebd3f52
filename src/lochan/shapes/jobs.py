# SPDX-License-Identifier: Apache-2.0
"""Jobs of pipelines: how far they are, what became of their datums, what these said."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from lochan.shapes.fields import BranchName, RepositoryName, Timestamp
from lochan.shapes.pages import DEFAULT_AMOUNT, After, Amount, Pagination
from lochan.shapes.pipelines import PipelineName

JobId = Annotated[str, Meta(pattern="^[0-9a-f]{32}$", description="Id of a job.")]
JobSetId = Annotated[str, Meta(pattern="^[0-9a-f]{32}$", description="Id of a job set.")]
State = Annotated[
    Literal[
        "created",
        "starting",
        "running",
        "finishing",
        "egressing",
        "success",
        "failure",
        "killed",
        "unrunnable",
        "skipped",
    ],
    Meta(description="Where a job is; the last five are the end."),
]


class PinnedInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a job reads of an input."""

    input: Annotated[str, Meta(description="The input's name in its pipeline.")]
    repository: RepositoryName
    branch: BranchName
    commit: Annotated[str, Meta(description="The commit that is read.")]
    glob: Annotated[str, Meta(description="Which of its files are read.")]


class JobCounts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What became of a job's datums."""

    total: Annotated[int, Meta(description="Datums of the output.")]
    processed: Annotated[int, Meta(description="Datums that this job ran.")]
    skipped: Annotated[int, Meta(description="Unchanged since the last job.")]
    remembered: Annotated[int, Meta(description="Computed by some job before.")]
    failed: Annotated[int, Meta(description="Datums that were left out, since they failed.")]
    gone: Annotated[int, Meta(description="Datums whose inputs are no more.")]


class JobProgress(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How far the work is."""

    shards: Annotated[int, Meta(description="Shards that there are.")]
    shards_done: Annotated[int, Meta(description="Shards that have finished.")]
    datums_done: Annotated[int, Meta(description="Datums that were run.")]
    datums_failed: Annotated[int, Meta(description="Datums that failed.")]
    bytes: Annotated[int, Meta(description="Bytes that were written.")]
    tasks_active: Annotated[int, Meta(description="Tasks that Spark runs now.")]


class Job(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One run of one pipeline."""

    id: JobId
    job_set: JobSetId
    pipeline: PipelineName
    version: Annotated[str, Meta(description="The pipeline's version that it runs.")]
    state: State
    reason: Annotated[str, Meta(description="Why it ended so.")]
    output: Annotated[str, Meta(description="Where it writes: repository@branch.")]
    commit: Annotated[str, Meta(description="The commit that it published, if any.")]
    inputs: list[PinnedInput]
    counts: JobCounts
    progress: JobProgress
    epoch: Annotated[int, Meta(ge=0, description="How many drivers it has had.")]
    created: Timestamp
    started: Timestamp | None = None
    finished: Timestamp | None = None
    egress: Annotated[str, Meta(description="What became of copying the result elsewhere.")] = ""


class JobList(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A page of jobs, newest first."""

    pagination: Pagination
    results: list[Job]


class JobQuery(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Which jobs are wanted."""

    after: After = ""
    amount: Amount = DEFAULT_AMOUNT


class JobSet(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The jobs that one cause called for, upstream first."""

    id: JobSetId
    cause: Annotated[str, Meta(description="commit, cron or manual.")]
    repository: Annotated[str, Meta(description="Whose commit is the cause, if one is.")]
    branch: Annotated[str, Meta(description="On which branch that commit came.")]
    commit: Annotated[str, Meta(description="The commit that is the cause.")]
    created: Timestamp
    jobs: list[Job]
    skipped_commits: Annotated[
        list[str], Meta(description="Commits that were taken together with the last.")
    ] = []


class DatumFilePlace(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file or folder that a datum read."""

    input: Annotated[str, Meta(description="The input's name in its pipeline.")]
    repository: Annotated[str, Meta(description="The input's repository.")]
    path: Annotated[str, Meta(description="The file, or a folder that ends with a slash.")]


class Datum(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A datum of a job's output."""

    id: Annotated[str, Meta(description="Hash of what it reads.")]
    state: Annotated[
        Literal["processed", "failed"],
        Meta(description="Whether it ran, or failed and was left out."),
    ]
    inputs: list[DatumFilePlace]
    outputs: Annotated[list[str], Meta(description="Files that it wrote.")]
    job: Annotated[str, Meta(description="The job that ran it.")]
    bytes: Annotated[int, Meta(description="How many bytes it read.")]
    milliseconds: Annotated[int, Meta(description="How long it ran.")]
    reason: Annotated[str, Meta(description="Why it failed.")]


class DatumList(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A page of datums, by id."""

    pagination: Pagination
    results: list[Datum]


class Shard(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A finished attempt of a shard."""

    number: Annotated[Annotated[int, Meta(ge=0)], Meta(description="Its number in the job.")]
    datums: Annotated[int, Meta(description="How many datums it has.")]
    failed: Annotated[int, Meta(description="How many of them failed.")]
    files: Annotated[int, Meta(description="How many files they wrote.")]
    bytes: Annotated[int, Meta(description="How many bytes they wrote.")]
    milliseconds: Annotated[int, Meta(description="How long it ran.")]
    branch: Annotated[
        str,
        Meta(description="A hidden branch of the output that shows it; empty if none was made."),
    ] = ""


class ShardList(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The finished shards of a job, so far."""

    results: list[Shard]


class LogQuery(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Whose lines are wanted."""

    datum: Annotated[str, Meta(description="Id of a datum, or how it begins; empty for all.")] = ""


class LogLine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of a job's log."""

    time: Annotated[str, Meta(description="When it was said.")]
    datum: Annotated[
        str, Meta(description="Id of the datum that said it; empty for the shard itself.")
    ]
    shard: Annotated[int, Meta(description="Number of the shard.")]
    stream: Annotated[str, Meta(description="stdout, stderr, or lochan for what we say of it.")]
    text: Annotated[str, Meta(description="What was said.")]


class LogLines(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The lines of a job, shard by shard."""

    results: list[LogLine]


class LineageEvents(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A job as events of OpenLineage."""

    results: Annotated[list[dict[str, Any]], Meta(description="RunEvents of OpenLineage.")]
