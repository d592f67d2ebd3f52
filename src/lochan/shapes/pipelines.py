# SPDX-License-Identifier: Apache-2.0
"""Pipelines: said as YAML with the files of their code, shown with what they run."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from lochan.shapes.fields import BranchName, RepositoryName, Timestamp
from lochan.shapes.pages import DEFAULT_AMOUNT, After, Amount, Pagination

PipelineName = Annotated[
    str,
    Meta(
        pattern="^[a-z0-9][a-z0-9-]{0,62}$",
        min_length=1,
        max_length=63,
        description="Name of a pipeline: lower-case letters, digits and hyphens.",
        examples=["thumbs"],
    ),
]
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


class PipelineCreation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A pipeline to be made, or to become what an existing one is."""

    spec: Annotated[
        str, Meta(min_length=1, max_length=1 << 20, description="The spec, in YAML or JSON.")
    ]
    files: Annotated[
        dict[str, str],
        Meta(description="Files of its code by their paths, each in base64."),
    ] = {}


class PipelineUpdateQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a pipeline is updated."""

    reprocess: Annotated[bool, Meta(description="Run every datum again.")] = False


class Pipeline(Struct, frozen=True, kw_only=True):
    """A pipeline as it is now."""

    pipeline: PipelineName
    version: Annotated[str, Meta(description="Hash of spec and code.")]
    state: Annotated[
        Literal["active", "paused"], Meta(description="Whether new commits start jobs.")
    ]
    created: Timestamp
    updated: Timestamp
    principal: Annotated[str, Meta(description="Who made it.")]
    spec: Annotated[dict[str, Any], Meta(description="What it says, with all defaults.")]
    digest: Annotated[str, Meta(description="What datums go by: another one runs them again.")]
    hashed: Annotated[list[str], Meta(description="Files of the code that are in the digest.")]


class PipelineList(Struct, frozen=True, kw_only=True):
    """A page of pipelines, by name."""

    pagination: Pagination
    results: list[Pipeline]


class PipelineState(Struct, frozen=True, kw_only=True):
    """Whether new commits start jobs."""

    state: Literal["active", "paused"]


class PipelineCheck(Struct, frozen=True, kw_only=True):
    """What a pipeline would do on the newest commits of its inputs."""

    pipeline: PipelineName
    datums: Annotated[int, Meta(ge=0, description="How many datums its inputs give.")]
    first: Annotated[list[list[str]], Meta(description="What the first few of them read.")]
    hashed: Annotated[list[str], Meta(description="Files of the code that are in the digest.")]
    notes: Annotated[list[str], Meta(description="What to look at before it is made.")]


class GraphNode(Struct, frozen=True, kw_only=True):
    """A pipeline in the graph: what it reads and writes, repository@branch."""

    pipeline: PipelineName
    reads: Annotated[list[str], Meta(description="Branches it reads.")]
    triggers: Annotated[list[str], Meta(description="Those on which a commit starts it.")]
    writes: Annotated[str, Meta(description="The branch that it owns.")]
    paused: bool


class PipelineGraph(Struct, frozen=True, kw_only=True):
    """All pipelines, those that write before those that read."""

    version: Annotated[str, Meta(description="Hash of all versions in it.")]
    nodes: list[GraphNode]
    dot: Annotated[str, Meta(description="The same for Graphviz.")]


class RunRequest(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run that somebody asks for."""

    key: Annotated[
        str, Meta(max_length=256, description="Requests with one key are one run; drawn if empty.")
    ] = ""
    branch: Annotated[
        str,
        Meta(
            pattern="^([A-Za-z0-9_][A-Za-z0-9_-]*)?$",
            description="Read inputs that have this branch there, and write all outputs there.",
        ),
    ] = ""
    commits: Annotated[
        dict[str, str], Meta(description="Refs that inputs are fixed to, by the inputs' names.")
    ] = {}


class PinnedInput(Struct, frozen=True, kw_only=True):
    """What a job reads of an input."""

    input: str
    repository: RepositoryName
    branch: BranchName
    commit: str
    glob: str


class JobCounts(Struct, frozen=True, kw_only=True):
    """What became of a job's datums."""

    total: int
    processed: int
    skipped: Annotated[int, Meta(description="Unchanged since the last job.")]
    remembered: Annotated[int, Meta(description="Computed by some job before.")]
    failed: int
    gone: int


class JobProgress(Struct, frozen=True, kw_only=True):
    """How far the work is."""

    shards: int
    shards_done: int
    datums_done: int
    datums_failed: int
    bytes: int
    tasks_active: int


class Job(Struct, frozen=True, kw_only=True):
    """One run of one pipeline."""

    id: JobId
    job_set: JobSetId
    pipeline: PipelineName
    version: str
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
    egress: str = ""


class JobList(Struct, frozen=True, kw_only=True):
    """A page of jobs, newest first."""

    pagination: Pagination
    results: list[Job]


class JobQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which jobs are wanted."""

    after: After = ""
    amount: Amount = DEFAULT_AMOUNT


class JobSet(Struct, frozen=True, kw_only=True):
    """The jobs that one cause called for, upstream first."""

    id: JobSetId
    cause: Annotated[str, Meta(description="commit, cron or manual.")]
    repository: str
    branch: str
    commit: str
    created: Timestamp
    jobs: list[Job]
    skipped_commits: Annotated[
        list[str], Meta(description="Commits that were taken together with the last.")
    ] = []


class DatumFilePlace(Struct, frozen=True, kw_only=True):
    """A file or folder that a datum read."""

    input: str
    repository: str
    path: str


class Datum(Struct, frozen=True, kw_only=True):
    """A datum of a job's output."""

    id: Annotated[str, Meta(description="Hash of what it reads.")]
    state: Literal["processed", "failed"]
    inputs: list[DatumFilePlace]
    outputs: list[str]
    job: Annotated[str, Meta(description="The job that ran it.")]
    bytes: int
    milliseconds: int
    reason: str


class DatumList(Struct, frozen=True, kw_only=True):
    """A page of datums, by id."""

    pagination: Pagination
    results: list[Datum]


class Shard(Struct, frozen=True, kw_only=True):
    """A finished attempt of a shard."""

    number: Annotated[int, Meta(ge=0)]
    datums: int
    failed: int
    files: int
    bytes: int
    milliseconds: int
    branch: Annotated[
        str,
        Meta(description="A hidden branch of the output that shows it; empty if none was made."),
    ] = ""


class ShardList(Struct, frozen=True, kw_only=True):
    """The finished shards of a job, so far."""

    results: list[Shard]


class LogQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whose lines are wanted."""

    datum: Annotated[str, Meta(description="Id of a datum, or how it begins; empty for all.")] = ""


class LogLine(Struct, frozen=True, kw_only=True):
    """One line of a job's log."""

    time: str
    datum: str
    shard: int
    stream: str
    text: str


class LogLines(Struct, frozen=True, kw_only=True):
    """The lines of a job, shard by shard."""

    results: list[LogLine]


class LineageEvents(Struct, frozen=True, kw_only=True):
    """A job as events of OpenLineage."""

    results: list[dict[str, Any]]
