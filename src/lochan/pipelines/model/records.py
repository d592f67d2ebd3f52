# SPDX-License-Identifier: Apache-2.0
"""What the key-value store holds about pipelines: partition `pipelines`, values in JSON.

    specs/<pipeline>                        PipelineRecord: the current version, paused or not
    versions/<pipeline>/<version>           PipelineVersion: spec, code, digest; never changes
    jobsets/<id>                            JobSet: the decision; never changes
    jobs/<job id>                           Job; every change is a compare-and-swap
    open/<job id>                           empty; there while the job is not at its end
    by-pipeline/<pipeline>/<ms, inverted>/<job id>      empty; newest first
    by-output/<repository>/<commit>         job id: which job made a commit
    came/<repository>-<unique>/<commit>/<out repository>/<out commit>     empty: reverse provenance
    seen/<pipeline>/<repository>-<unique>/<branch>      Seen: what triggers were last decided on
    memo/<output repository>-<unique>/<pipeline>        metarange id of what any job ever computed

All but specs, versions, jobsets and jobs can be made again from commits. JSON keeps no fields that
it does not know: records are read by this program and newer ones (docs/formats/pipelines.md).
"""

from enum import Enum
from typing import Final

import msgspec

from lochan.model.instant import EPOCH, Instant
from lochan.pipelines.model.spec import Spec
from lochan.pipelines.model.work import Code, Progress

PIPELINES: Final = b"pipelines"
COMMIT: Final = "commit"  # the kind of a cause
_encoder: Final = msgspec.json.Encoder(order="deterministic")


class PipelineState(Enum):
    """Whether new commits start jobs."""

    ACTIVE = "active"
    PAUSED = "paused"


class PipelineVersion(msgspec.Struct, frozen=True, kw_only=True):
    """One version of a pipeline. `version` hashes spec and code; `digest` what datums go by."""

    pipeline: str
    version: str
    spec: Spec
    code: Code
    digest: str  # of the transform: code closure, parameters (datum hashes are made of it)
    hashed: tuple[str, ...] = ()  # the files that went into the digest, for people
    created: Instant = EPOCH


class PipelineRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A pipeline: which version runs, and since when. `principal` is who its jobs act for."""

    pipeline: str
    version: str
    unique_identifier: str  # of this incarnation; a pipeline made again is another
    state: PipelineState = PipelineState.ACTIVE
    created: Instant = EPOCH
    updated: Instant = EPOCH
    principal: str = ""
    reprocess: str = ""  # salts datum hashes once somebody asked for everything to be run again
    update: str = ""  # drawn by every change of the version: one that comes back is decided anew


class Pin(msgspec.Struct, frozen=True, kw_only=True):
    """An input of a job, pinned to what is read."""

    input: str
    repository: str
    unique_identifier: str
    branch: str
    commit: str
    meta_range_id: str
    glob: str = ""


class PlannedJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job as its job set plans it. `upstream` are jobs of this set whose output it reads."""

    job: str
    pipeline: str
    version: str
    upstream: tuple[str, ...] = ()


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """Why a job set exists. `key` tells causes of one kind apart: move ordinal, tick, request."""

    kind: str  # COMMIT, cron, manual
    key: str
    repository: str = ""
    unique_identifier: str = ""
    branch: str = ""
    commit: str = ""
    order: int = 0  # of the commit among those before it: of two jobs of one moment, who is first


class JobSet(msgspec.Struct, frozen=True, kw_only=True):
    """The jobs that one cause calls for, upstream first. `branch` runs the graph elsewhere."""

    id: str
    cause: Cause
    graph_version: str
    jobs: tuple[PlannedJob, ...]
    created: Instant
    branch: str = ""  # inputs where they have it, and outputs, are on this branch instead
    pins: tuple[Pin, ...] = ()  # inputs that the caller fixed
    skipped_commits: tuple[str, ...] = ()  # moves of the branch that were taken together with it


class JobState(Enum):
    """Where a job is; the last five are the end."""

    CREATED = "created"
    STARTING = "starting"
    RUNNING = "running"
    FINISHING = "finishing"
    EGRESSING = "egressing"
    SUCCESS = "success"
    FAILURE = "failure"
    KILLED = "killed"
    UNRUNNABLE = "unrunnable"
    SKIPPED = "skipped"  # nothing to do; what hangs below uses the output as it is

    @property
    def is_end(self) -> bool:
        """Say whether the job never changes any more."""
        return self in _ENDS


_ENDS: Final = frozenset(
    {JobState.SUCCESS, JobState.FAILURE, JobState.KILLED, JobState.UNRUNNABLE, JobState.SKIPPED}
)


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a job's datums."""

    total: int = 0
    processed: int = 0
    skipped: int = 0  # unchanged since the base
    remembered: int = 0  # computed by an earlier job of any branch
    failed: int = 0
    gone: int = 0


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One run of one pipeline. `epoch` counts its drivers: an older one can publish nothing."""

    id: str
    job_set: str
    pipeline: str
    version: str
    order: int = 0  # the cause's
    state: JobState = JobState.CREATED
    reason: str = ""
    output_repository: str = ""
    output_branch: str = ""
    pins: tuple[Pin, ...] = ()
    base: str = ""  # head of the output when inputs were pinned
    commit: str = ""  # that it published
    epoch: int = 0
    owner: str = ""
    lease_until: Instant = EPOCH
    kill: bool = False  # somebody asked for its end
    counts: Counts = Counts()
    progress: Progress = Progress()
    created: Instant = EPOCH
    started: Instant = EPOCH
    finished: Instant = EPOCH
    egress: str = ""  # "", waiting, done, or what failed last


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """The move of an input branch that a pipeline's trigger was last decided on."""

    commit: str
    key: str  # move ordinal
    life: str = ""  # of the pipeline (`graph.Node.life`): another one has seen nothing of it
    job_set: str = ""
    when: Instant = EPOCH


def encode(record: object) -> bytes:
    """Give a record's one spelling in JSON."""
    return _encoder.encode(record)
