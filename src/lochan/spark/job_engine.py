# SPDX-License-Identifier: Apache-2.0
"""Spark as the engine of jobs: a shard is one partition, an attempt of it one attempt of a task.

The shards' work is the *result* stage of one Spark job, with no shuffle behind it: Spark gives the
driver exactly one result for each partition, whatever was retried, ran twice by speculation or was
lost with an executor. That result is the manifest. Whatever other attempts wrote stays private.

    tag of the Spark job     lochan-job-<id>-<epoch>, by which it is cancelled
    progress                 Spark's status tracker, and an accumulator; never a decision
    a datum failed for good  the task succeeds and says so, since Spark would try again what cannot
                             succeed; the driver sees it in the accumulator and cancels the rest

Frames, queries and projects are one shard that the driver itself plans (`frames`, `declarative`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol

import msgspec
from py4j.protocol import Py4JJavaError
from pyspark import AccumulatorParam, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lochan.environment import Environment, RealEnvironment
from lochan.errors import InvalidInput, JobFailed, Unavailable
from lochan.pipelines.attempts.attempt import run_shard
from lochan.pipelines.attempts.places import ProcessPlaces
from lochan.pipelines.model.spec import FilesTransform
from lochan.pipelines.model.work import JobTask, Manifest, Progress, Shard, Tell

_LOOK_S: Final = 0.2
_END_S: Final = 10.0  # how long cancelled work is waited for


class FrameWork(Protocol):
    """Runs what Spark plans as a whole."""

    def __call__(self, spark: SparkSession, task: JobTask, shard: Shard) -> Manifest:
        """Run a frame, a query or a project, and store its fragment."""


class _Outcome(msgspec.Struct, frozen=True):
    """What a task returns: a manifest, or why the job has failed."""

    manifest: Manifest | None = None
    message: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class _Told:
    """What finished shards add up to, for people; and the first failure."""

    shards: int = 0
    datums: int = 0
    failed: int = 0
    bytes: int = 0
    broken: str = ""
    code: str = ""


class _Adding(AccumulatorParam[_Told]):
    """How Spark adds up what tasks tell."""

    def zero(self, value: _Told) -> _Told:  # noqa: ARG002 - Spark's shape
        """Begin with nothing."""
        return _Told()

    def addInPlace(self, value1: _Told, value2: _Told) -> _Told:  # noqa: N802 - Spark's name
        """Add two of them."""
        return _Told(
            value1.shards + value2.shards,
            value1.datums + value2.datums,
            value1.failed + value2.failed,
            value1.bytes + value2.bytes,
            value1.broken or value2.broken,
            value1.code or value2.code,
        )


class SparkEngine:
    """An engine over a session; one job at a time."""

    def __init__(
        self, spark: SparkSession, environment: Environment, frame_work: FrameWork | None = None
    ) -> None:
        """Run on this session; `frame_work` is what plans frames, where there is one."""
        self._spark = spark
        self._environment = environment
        self._frame_work = frame_work

    @property
    def cores(self) -> int:
        """Ask Spark how many tasks run at once."""
        return int(self._spark.sparkContext.defaultParallelism)

    def run(self, task: JobTask, shards: Sequence[Shard], tell: Tell) -> Iterator[Manifest]:
        """Run shards as tasks. Raises JobFailed, Unavailable, and what `tell` raises."""
        if not shards:
            return
        is_files = isinstance(task.transform, FilesTransform)
        context = self._spark.sparkContext
        told = context.accumulator(_Told(), _Adding())
        tag = f"lochan-job-{task.job}-{task.epoch}"
        with ThreadPoolExecutor(1, thread_name_prefix="lochan-spark") as pool:
            work = pool.submit(
                _tagged(context, tag, lambda: self._work(task, shards, told, is_files=is_files))
            )
            try:
                while not work.done():
                    now = told.value or _Told()
                    _require_sound(now)
                    tell(_progress(context, len(shards), now))
                    self._environment.sleep(_LOOK_S)
                tell(_progress(context, len(shards), told.value or _Told()))
            except BaseException:
                context.cancelJobsWithTag(tag)
                with suppress(Exception):  # what ended the run is the news, not how Spark stops
                    work.result(_END_S)
                raise
            yield from _manifests(work.result)

    def _work(
        self, task: JobTask, shards: Sequence[Shard], told: object, *, is_files: bool
    ) -> list[_Outcome]:
        if is_files:
            return _run_tasks(self._spark.sparkContext, task, shards, told)
        if self._frame_work is None:
            message = "this engine has no session that reads the lake; frames need one"
            raise InvalidInput(message, code="engine-needed")
        return [_Outcome(self._frame_work(self._spark, task, shard)) for shard in shards]


def _manifests(result: Callable[[], list[_Outcome]]) -> Iterator[Manifest]:
    try:
        outcomes = result()
    except (Py4JJavaError, PySparkException) as error:
        raise Unavailable(f"Spark gave up: {_first_line(error)}", code="spark-failed") from error
    for outcome in outcomes:
        if outcome.manifest is None:
            raise JobFailed(outcome.message, code=outcome.code)
        yield outcome.manifest


def _run_tasks(
    context: SparkContext, task: JobTask, shards: Sequence[Shard], told: object
) -> list[_Outcome]:
    sent = [msgspec.msgpack.encode(shard) for shard in shards]
    packed = msgspec.msgpack.encode(task)

    def attempt(rows: Iterable[bytes]) -> Iterator[bytes]:
        for row in rows:
            outcome = _attempt(packed, row)
            told.add(_told(outcome))  # type: ignore[attr-defined]  # PySpark's Accumulator is not generic in the stubs
            yield msgspec.msgpack.encode(outcome)

    results = context.parallelize(sent, len(sent)).mapPartitions(attempt).collect()
    return [msgspec.msgpack.decode(result, type=_Outcome) for result in results]


def _attempt(task: bytes, shard: bytes) -> _Outcome:
    """Run one attempt of a shard, in a worker of Spark."""
    environment, places = _process()
    try:
        manifest = run_shard(
            msgspec.msgpack.decode(task, type=JobTask),
            msgspec.msgpack.decode(shard, type=Shard),
            environment,
            places,
        )
    except (JobFailed, InvalidInput) as error:
        return _Outcome(message=error.message, code=error.code)
    return _Outcome(manifest)


@lru_cache(1)
def _process() -> tuple[Environment, ProcessPlaces]:
    environment = RealEnvironment()
    return environment, ProcessPlaces(environment)


def _require_sound(now: _Told) -> None:
    if now.broken:
        raise JobFailed(now.broken, code=now.code)


def _told(outcome: _Outcome) -> _Told:
    done = outcome.manifest
    if done is None:
        return _Told(broken=outcome.message, code=outcome.code)
    return _Told(1, done.processed + done.failed, done.failed, done.bytes)


def _tagged(
    context: SparkContext, tag: str, work: Callable[[], list[_Outcome]]
) -> Callable[[], list[_Outcome]]:
    """Let a thread's Spark jobs carry a tag; tags belong to threads."""

    def run() -> list[_Outcome]:
        context.addJobTag(tag)
        try:
            return work()
        finally:
            context.removeJobTag(tag)

    return run


def _progress(context: SparkContext, shards: int, told: _Told) -> Progress:
    return Progress(
        shards=shards,
        shards_done=told.shards,
        datums_done=told.datums,
        datums_failed=told.failed,
        bytes=told.bytes,
        tasks_active=_active(context),
    )


def _active(context: SparkContext) -> int:
    """Count the tasks that run now."""
    tracker = context.statusTracker()
    stages = (tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds())
    return sum(stage.numActiveTasks for stage in stages if stage is not None)


def _first_line(error: Py4JJavaError | PySparkException) -> str:
    text = str(error)
    if isinstance(error, Py4JJavaError):
        text = str(error.java_exception.getMessage() or error.java_exception)
    lines = [line for line in text.splitlines() if line.strip()]
    told = [line for line in lines if "Error" in line or "Exception" in line]
    return (told or lines or ["no reason told"])[-1].strip()
