# SPDX-License-Identifier: Apache-2.0
"""What a pipeline is, as its author says it: one model for the YAML file and for the decorators.

    pipeline: thumbs
    input:     {repo: {name: img, repo: photos, branch: main, glob: "/(*)/*.jpg"}}
    transform: {files: "thumbs.steps:make", params: {size: 256}}
    output:    {repo: thumbs, branch: main, collision: error}

An input is one branch of one repository, a clock (`cron`), or several inputs joined. Its names are
what the transform knows them by; each is there once. Everything has a default but the name, the
input, the transform and the output's repository.
"""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

Params = Mapping[str, Any]  # JSON values, which only the author's code looks into


class RepoInput(msgspec.Struct, frozen=True, kw_only=True, tag="repo", tag_field="kind"):
    """The files of a branch that a glob matches; each match, file or folder, is a datum's part.

    `reference` inputs are read, and do not count when datums are compared. An input that is no
    `trigger` starts no job; its newest commit is taken when another does. `join_on` and `group_by`
    say by captures of the glob ("$1-$2") what belongs together. Frames and queries read the files
    by `format`, or as their names end, with the options of Spark's reader.
    """

    name: str
    repo: str
    branch: str = "main"
    glob: str = "/"
    reference: bool = False
    trigger: bool = True
    join_on: str = ""
    outer: bool = False  # in a join: keep what has no partner
    group_by: str = ""
    format: str = ""
    options: Mapping[str, str] = msgspec.field(default_factory=dict)


class CronInput(msgspec.Struct, frozen=True, kw_only=True, tag="cron", tag_field="kind"):
    """A clock: each tick is a file named by its time, in a repository of the pipeline's own."""

    name: str
    schedule: str  # five fields, or @hourly, @daily, @weekly, @monthly, @yearly, @every 5m
    overwrite: bool = True  # keep the newest tick alone


class CrossInput(msgspec.Struct, frozen=True, kw_only=True, tag="cross", tag_field="kind"):
    """Each part of one input with each part of the others."""

    inputs: tuple["Input", ...]


class UnionInput(msgspec.Struct, frozen=True, kw_only=True, tag="union", tag_field="kind"):
    """The parts of one input, then those of the others."""

    inputs: tuple["Input", ...]


class JoinInput(msgspec.Struct, frozen=True, kw_only=True, tag="join", tag_field="kind"):
    """Parts whose `join_on` is equal, one of each input."""

    inputs: tuple[RepoInput, ...]


class GroupInput(msgspec.Struct, frozen=True, kw_only=True, tag="group", tag_field="kind"):
    """All parts whose `group_by` is equal, together one datum."""

    inputs: tuple[RepoInput, ...]


Input = RepoInput | CronInput | CrossInput | UnionInput | JoinInput | GroupInput


class FilesTransform(msgspec.Struct, frozen=True, kw_only=True, tag="files", tag_field="kind"):
    """A function or a command that is run once for each datum."""

    function: str = ""  # module:name
    command: tuple[str, ...] = ()
    stdin: tuple[str, ...] = ()  # lines for the command
    environment: Mapping[str, str] = msgspec.field(default_factory=dict)
    ok_codes: tuple[int, ...] = (0,)
    params: Params = msgspec.field(default_factory=dict)
    code: str = "auto"  # or a version that its author keeps


Incremental = Literal["full", "partition", "append"]


class FrameTransform(msgspec.Struct, frozen=True, kw_only=True, tag="frame", tag_field="kind"):
    """A function from DataFrames to DataFrames, which Spark plans as a whole."""

    function: str
    params: Params = msgspec.field(default_factory=dict)
    code: str = "auto"
    incremental: Incremental = "full"
    format: str = "parquet"
    partition_by: tuple[str, ...] = ()


class SqlTransform(msgspec.Struct, frozen=True, kw_only=True, tag="sql", tag_field="kind"):
    """A query over views that have the inputs' names."""

    query: str
    params: Params = msgspec.field(default_factory=dict)
    incremental: Incremental = "full"
    format: str = "parquet"
    partition_by: tuple[str, ...] = ()


class DeclarativeTransform(
    msgspec.Struct, frozen=True, kw_only=True, tag="declarative", tag_field="kind"
):
    """A Spark Declarative Pipelines project, run whole; its tables are the output's folders."""

    project: str  # folder of spark-pipeline.yml, below the spec's own
    full_refresh: bool = False
    code: str = "auto"


Transform = FilesTransform | FrameTransform | SqlTransform | DeclarativeTransform
Collision = Literal["error", "append", "last"]


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """The branch that the pipeline owns; `collision` is for a path that several datums write."""

    repo: str
    branch: str = "main"
    collision: Collision = "error"


class DatumRules(msgspec.Struct, frozen=True, kw_only=True):
    """How one datum is run; a quarantined one is left out, told of, and tried by the next job."""

    tries: int = 3
    timeout_s: float = 0.0  # none
    on_error: Literal["fail", "quarantine"] = "fail"
    set_bytes: int = 256 << 20


class JobRules(msgspec.Struct, frozen=True, kw_only=True):
    """How one job is run; `max_failed` is a share ("1%") or a number of quarantined datums."""

    timeout_s: float = 0.0  # none
    max_failed: str = "100%"
    restarts: int = 3  # of a driver that died
    empty_commit: bool = False  # publish even if nothing had to run


class TriggerTerm(msgspec.Struct, frozen=True, kw_only=True):
    """One reason to run: so many commits, so many bytes, or a time. Fields in one term: all."""

    commits: int = 0
    size: int = 0
    cron: str = ""


class Trigger(msgspec.Struct, frozen=True, kw_only=True):
    """When a new commit starts a job: at once, or when any or all of the terms are met."""

    any: tuple[TriggerTerm, ...] = ()
    all: tuple[TriggerTerm, ...] = ()
    each_commit: bool = False  # else commits that come while a job runs are taken together


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """What must hold of the output before anybody sees it: a query that gives true, or a function.

    The query sees the output as the table `out`; the function gets its files, and raises.
    """

    sql: str = ""
    function: str = ""
    name: str = ""


class Egress(msgspec.Struct, frozen=True, kw_only=True):
    """Where a published result is copied to: a folder, or a table by JDBC."""

    files: str = ""
    jdbc: str = ""
    table: str = ""
    mode: Literal["append", "overwrite"] = "overwrite"
    options: Mapping[str, str] = msgspec.field(default_factory=dict)


class SparkRules(msgspec.Struct, frozen=True, kw_only=True):
    """Where and how Spark runs it; without a master, on this machine."""

    master: str = ""
    conf: Mapping[str, str] = msgspec.field(default_factory=dict)
    resources: Mapping[str, str] = msgspec.field(default_factory=dict)


class Spec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A pipeline as its author says it."""

    pipeline: str
    input: Input
    transform: Transform
    output: Output
    description: str = ""
    shards: int = 0  # 0: as the work asks for
    datum: DatumRules = DatumRules()
    job: JobRules = JobRules()
    trigger: Trigger = Trigger()
    rerun: Literal["on_code_change", "never", "every_job"] = "on_code_change"
    checks: tuple[Check, ...] = ()
    egress: tuple[Egress, ...] = ()
    spark: SparkRules = SparkRules()


def leaves(node: Input) -> tuple[RepoInput | CronInput, ...]:
    """Give the inputs that are not made of others, in the order in which they are said."""
    if isinstance(node, RepoInput | CronInput):
        return (node,)
    return tuple(leaf for part in node.inputs for leaf in leaves(part))


def cron_repository(pipeline: str, cron: CronInput) -> str:
    """Name the repository in which a clock's ticks lie; the pipeline's own."""
    return f"{pipeline}-{cron.name}"
