# SPDX-License-Identifier: Apache-2.0
"""What goes to an engine and what comes back: shards of datums out, one manifest a shard in.

Tasks get everything as data, and touch no key-value store. Each *attempt* of a shard writes objects
under fresh addresses below data/, then one fragment and one log below its own folder

    _work/jobs/<job>/<epoch>/<shard>/<attempt>/     in the output's namespace
        fragment        DatumRows in the order of their numbers (docs/formats/pipelines.md)
        log             JSON lines
        manifest        the Manifest, written last: an attempt without one never was

and returns the manifest. A frame, query or project is planned by Spark as a whole: it is one shard,
whose datums are the partitions to compute, and its fragment is written by the driver. The job keeps
the first manifest that its engine accepts for a shard; nothing of other attempts is ever linked.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Protocol

import msgspec

from lochan.pipelines.model.datum import Datum
from lochan.pipelines.model.spec import DatumRules, SparkRules, Transform

WORK: Final = "_work/jobs"


class Code(msgspec.Struct, frozen=True, kw_only=True):
    """Where a pipeline's Python files are: a folder of this machine, or a zip in a namespace."""

    folder: str = ""
    namespace: str = ""
    address: str = ""
    sha256: str = ""


class ReadAs(msgspec.Struct, frozen=True):
    """How Spark reads an input; without a format, as the names of its files end."""

    format: str = ""
    options: Mapping[str, str] = msgspec.field(default_factory=dict)


class JobTask(msgspec.Struct, frozen=True, kw_only=True):
    """All that an attempt of any shard of a job needs to know."""

    job: str
    epoch: int
    pipeline: str
    transform: Transform
    rules: DatumRules
    code: Code
    output_namespace: str
    input_namespaces: Mapping[str, str]  # by repository
    spark: SparkRules = SparkRules()
    commits: Mapping[str, str] = msgspec.field(default_factory=dict)  # pinned, by input name
    read_as: Mapping[str, ReadAs] = msgspec.field(default_factory=dict)  # by input name

    @property
    def folder(self) -> str:
        """Say below which address attempts of this epoch work."""
        return f"{WORK}/{self.job}/{self.epoch}"


class Shard(msgspec.Struct, frozen=True):
    """Datums that one task runs, one after the other."""

    number: int
    datums: tuple[Datum, ...]


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What an attempt of a shard has done; a few hundred bytes, whatever it wrote."""

    shard: int
    attempt: str
    fragment: str  # address in the output's namespace
    log: str
    processed: int
    failed: int
    files: int
    bytes: int
    milliseconds: int
    datums_hash: str  # over the hashes of the shard's datums: a resumed job checks it


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far an engine is; for people, never for decisions."""

    shards: int = 0
    shards_done: int = 0
    datums_done: int = 0
    datums_failed: int = 0
    bytes: int = 0
    tasks_active: int = 0


Tell = Callable[[Progress], None]  # raises Cancelled-like errors to stop the engine


class Engine(Protocol):
    """Runs the shards of a job somewhere: in this process, on Spark, in a driver of its own."""

    def run(self, task: JobTask, shards: Sequence[Shard], tell: Tell) -> Iterator[Manifest]:
        """Give the manifest of each shard, in any order, each shard once.

        `tell` is called now and then; what it raises ends the run. Raises `JobFailed` when a datum
        failed for good under on_error fail.
        """

    @property
    def cores(self) -> int:
        """Say how many shards run at once; auto sharding makes three times as many at most."""
