# SPDX-License-Identifier: Apache-2.0
"""Run a frame or a query for a job: DataFrames in, files out, linked by the job and not copied.

    1  each input is a DataFrame over the files of the shard's datums, and a view of its name
    2  the function, or the query, gives a DataFrame, or several by name
    3  Spark writes each below an address that nobody else has: data/<partition>/<id>/...
    4  what it committed is listed and synced, and becomes the outputs of the datums' rows

A job that is retried writes below another address; what the first one left is for the collector.

    incremental   datums                   whose outputs
    full          one, over everything     its own
    partition     one a matched folder     those below the same dt=...; others are refused
    append        one a file               all of the first one's, whose sources are all of them
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from sys import modules
from typing import Any, Final

import msgspec
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

from lochan.environment import Environment
from lochan.errors import InvalidInput, JobFailed, LochanError
from lochan.model.ids import StorageNamespace
from lochan.pipelines.attempts.function_call import CONTEXT
from lochan.pipelines.attempts.loaded_code import find_function, using
from lochan.pipelines.attempts.places import ProcessPlaces
from lochan.pipelines.model.datum import Datum, DatumRow, OutputFile, Source, source_of
from lochan.pipelines.model.spec import FrameTransform, SqlTransform
from lochan.pipelines.model.work import JobTask, Manifest, Shard
from lochan.spark.attempt_record import output_of, record_attempt, row_of
from lochan.spark.doors import cloud_schemes
from lochan.spark.frame_inputs import open_input
from lochan.spark.places import Place, find_place
from lochan.spark.written import list_written

_NO_MARK: Final = "mapreduce.fileoutputcommitter.marksuccessfuljobs"
Frames = Mapping[str, DataFrame]  # by folder of the output; "" is its root


class FrameContext(msgspec.Struct, frozen=True):
    """What a function of frames may know of its job, if it takes `ctx`."""

    spark: SparkSession
    job: str
    pipeline: str
    params: Mapping[str, Any]
    idempotency_key: str


class FrameRun:
    """Runs frames and queries on a session."""

    def __init__(self, environment: Environment) -> None:
        """Open storage by the credentials of this machine."""
        self._environment = environment
        self._storages = ProcessPlaces(environment)

    def __call__(self, spark: SparkSession, task: JobTask, shard: Shard) -> Manifest:
        """Run the one shard of a frame. Raises JobFailed, InvalidInput, Unavailable."""
        began = self._environment.monotonic()
        names = sorted({file.input for datum in shard.datums for file in datum.files})
        inputs = {name: open_input(spark, task, name, shard.datums) for name in names}
        with _views(spark, inputs):
            outputs = [
                output
                for folder, frame in self._frames(spark, task, inputs).items()
                for output in self._written(spark, task, folder, frame)
            ]
        return record_attempt(
            self._storages(StorageNamespace(task.output_namespace)).objects,
            self._environment,
            task,
            shard,
            _rows(task, shard, [output for output, _ in outputs]),
            written=sum(size for _, size in outputs),
            seconds=self._environment.monotonic() - began,
        )

    def _frames(
        self, spark: SparkSession, task: JobTask, inputs: Mapping[str, DataFrame]
    ) -> Frames:
        transform = task.transform
        if isinstance(transform, SqlTransform):
            with _failing("the query"):
                return {"": spark.sql(transform.query, dict(transform.params) or None)}
        if not isinstance(transform, FrameTransform):
            raise InvalidInput("only frames and queries are run here", code="engine-needed")
        with using(task.code, self._storages) as folder:
            function = find_function(transform.function)
            arguments = _arguments(spark, task, transform, function, inputs)
            with _sent_by_value(folder), _failing(f"function {transform.function!r}"):
                found = function(**arguments)
        return _named(transform.function, found)

    def _written(
        self, spark: SparkSession, task: JobTask, folder: str, frame: DataFrame
    ) -> Iterator[tuple[OutputFile, int]]:
        """Have Spark write a frame; gives the files that it committed, and their sizes."""
        transform = task.transform
        assert isinstance(transform, FrameTransform | SqlTransform)  # noqa: S101 - `_frames` looked
        place = self._storages(StorageNamespace(task.output_namespace))
        address = place.addresses.new()
        target = reachable(spark, task.output_namespace, address)
        writer = frame.write.format(transform.format).option(_NO_MARK, "false")
        if transform.partition_by:
            writer = writer.partitionBy(*transform.partition_by)
        with _failing("computing the output"):
            writer.save(str(target))
        for one in list_written(spark, target, self._environment):
            yield output_of(folder, address, one), one.size


def reachable(spark: SparkSession, namespace: str, address: str) -> Place:
    """Say where Spark writes an address of a namespace. Raises InvalidInput where it cannot."""
    found = find_place(f"{namespace.rstrip('/')}/{address}", "", cloud_schemes(spark))
    if found is None:
        message = f"Spark cannot write to {namespace}; put its Hadoop connector on the class path"
        raise InvalidInput(message, code="storage-unreachable")
    return found


@contextmanager
def _views(spark: SparkSession, inputs: Mapping[str, DataFrame]) -> Iterator[None]:
    """Let queries see inputs by their names, and the next job of this session none of them."""
    for name, frame in inputs.items():
        frame.createOrReplaceTempView(name)
    try:
        yield
    finally:
        for name in inputs:
            spark.catalog.dropTempView(name)


@contextmanager
def _sent_by_value(folder: Path | None) -> Iterator[None]:
    """Let functions of the author's modules go to Spark's workers, which cannot import them."""
    own = [
        module
        for module in list(modules.values())
        if folder is not None and folder in Path(str(getattr(module, "__file__", ""))).parents
    ]
    for module in own:
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]  # PySpark's copy has no types
    try:
        yield
    finally:
        for module in own:
            cloudpickle.unregister_pickle_by_value(module)  # type: ignore[no-untyped-call]  # same


@contextmanager
def _failing(what: str) -> Iterator[None]:
    """Say what of the author's failed. Spark's errors have no common class, and his are his own."""
    try:
        yield
    except LochanError:
        raise
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = f"{type(error).__name__}: {_first(lines)}".removesuffix(": ")
        raise JobFailed(f"{what} failed: {reason}", code="frame-failed") from error


def _first(lines: Sequence[str]) -> str:
    """Give the line that tells most: what Python raised in a worker comes after where it did."""
    raised = [line for line in lines if "Error: " in line and not line.startswith(("at ", "File "))]
    return (raised[-1:] or list(lines[:1]) or [""])[0]


def _arguments(
    spark: SparkSession,
    task: JobTask,
    transform: FrameTransform,
    function: Callable[..., Any],
    inputs: Mapping[str, DataFrame],
) -> dict[str, Any]:
    """Give a function what its parameters are named for. Raises InvalidInput."""
    context = FrameContext(spark, task.job, task.pipeline, transform.params, task.job)
    offered: dict[str, Any] = {**transform.params, **inputs, CONTEXT: context, "spark": spark}
    wanted = inspect.signature(function).parameters.values()
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in wanted):
        return offered
    named = {one.name: one for one in wanted}
    missing = [
        name
        for name, one in named.items()
        if name not in offered and one.default is inspect.Parameter.empty
    ]
    if missing:
        there = ", ".join(sorted(offered))
        message = (
            f"function {transform.function!r} asks for {', '.join(missing)}; there are {there}"
        )
        raise InvalidInput(message, code="function-signature")
    return {name: offered[name] for name in named if name in offered}


def _named(function: str, found: object) -> Frames:
    if isinstance(found, DataFrame):
        return {"": found}
    if isinstance(found, Mapping) and all(isinstance(one, DataFrame) for one in found.values()):
        return {f"{str(name).strip('/')}/": frame for name, frame in found.items()}
    message = f"function {function!r} gave {type(found).__name__}; return a DataFrame, or several"
    raise JobFailed(f"{message} by name", code="frame-failed")


def _rows(task: JobTask, shard: Shard, files: Sequence[OutputFile]) -> list[DatumRow]:
    """Say which datum each file is of."""
    transform = task.transform
    assert isinstance(transform, FrameTransform | SqlTransform)  # noqa: S101 - `_frames` looked
    datums = sorted(shard.datums, key=lambda datum: datum.number)
    if transform.incremental == "partition":
        shared = _by_partition(datums, files)
        return [row_of(task, shard, datum, shared.get(datum.id, [])) for datum in datums]
    first, *others = datums
    rows = [row_of(task, shard, first, files, tuple(_all_sources(datums)))]
    return rows + [row_of(task, shard, datum, ()) for datum in others]


def _all_sources(datums: Sequence[Datum]) -> Iterator[Source]:
    seen: set[tuple[str, bytes]] = set()
    for datum in datums:
        for source in map(source_of, datum.files):
            if (source.input, source.key) not in seen:
                seen.add((source.input, source.key))
                yield source


def _by_partition(
    datums: Sequence[Datum], files: Sequence[OutputFile]
) -> dict[bytes, list[OutputFile]]:
    """Give each file to the datum whose partition it lies in. Raises JobFailed where it is none."""
    owners = {
        _partition(file.key): datum.id
        for datum in datums
        for file in datum.files
        if not file.reference
    }
    if set(owners) == {()} and len(datums) == 1:  # the input as a whole is the one partition
        return {datums[0].id: list(files)}
    found: dict[bytes, list[OutputFile]] = {}
    for output in files:
        partition = _partition(output.key)
        owner = next((owners[part] for part in _beginnings(partition) if part in owners), None)
        if owner is None:
            message = (
                f"{output.key.decode(errors='replace')!r} lies in no partition of the input; with"
                " incremental: partition, partition_by begins with the input's partition columns"
            )
            raise JobFailed(message, code="partition-mismatch")
        found.setdefault(owner, []).append(output)
    return found


def _partition(key: bytes) -> tuple[bytes, ...]:
    return tuple(part for part in key.split(b"/")[:-1] if b"=" in part)


def _beginnings(partition: tuple[bytes, ...]) -> Iterator[tuple[bytes, ...]]:
    for length in range(len(partition), 0, -1):
        yield partition[:length]
