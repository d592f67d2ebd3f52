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
from hashlib import sha256
from typing import Any, Final

import msgspec
from pyspark.sql import DataFrame, SparkSession

from lochan.environment import Environment
from lochan.errors import InvalidInput, JobFailed, LochanError
from lochan.model.codec import encode_entry
from lochan.model.entry import Entry
from lochan.model.ids import StorageNamespace
from lochan.model.instant import NANOSECONDS, Instant
from lochan.pipelines.datum import Datum, DatumRow, DatumState, OutputFile, Source, source_of
from lochan.pipelines.fragment import write_fragment
from lochan.pipelines.function_call import CONTEXT
from lochan.pipelines.loaded_code import find_function, using
from lochan.pipelines.manifests import FRAGMENT, LOG, attempt_folder, write_manifest
from lochan.pipelines.places import ProcessPlaces
from lochan.pipelines.shards import datums_hash
from lochan.pipelines.spec import FrameTransform, SqlTransform
from lochan.pipelines.work import JobTask, Manifest, Shard
from lochan.spark.doors import cloud_schemes
from lochan.spark.frame_inputs import open_input
from lochan.spark.places import find_place
from lochan.spark.written import Written, list_written

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
        attempt = self._environment.new_id()
        folder = attempt_folder(task.folder, shard.number, attempt)
        place = self._storages(StorageNamespace(task.output_namespace))
        inputs = {
            name: open_input(spark, task, name, shard.datums)
            for name in sorted({file.input for datum in shard.datums for file in datum.files})
        }
        outputs = [
            output
            for name, frame in self._frames(spark, task, inputs).items()
            for output in self._written(spark, task, name, frame)
        ]
        spent = round((self._environment.monotonic() - began) * 1000)
        rows = _rows(task, shard, outputs, spent)
        write_fragment(place.objects, f"{folder}/{FRAGMENT}", rows)
        place.objects.put(f"{folder}/{LOG}", b"")
        manifest = Manifest(
            shard=shard.number,
            attempt=attempt,
            fragment=f"{folder}/{FRAGMENT}",
            log=f"{folder}/{LOG}",
            processed=len(rows),
            failed=0,
            files=len(outputs),
            bytes=sum(size for _, size in outputs),
            milliseconds=spent,
            datums_hash=datums_hash(shard.datums),
        )
        write_manifest(place.objects, folder, manifest)
        return manifest

    def _frames(
        self, spark: SparkSession, task: JobTask, inputs: Mapping[str, DataFrame]
    ) -> Frames:
        transform = task.transform
        for name, frame in inputs.items():
            frame.createOrReplaceTempView(name)
        if isinstance(transform, SqlTransform):
            return {"": spark.sql(transform.query, dict(transform.params) or None)}
        if not isinstance(transform, FrameTransform):
            raise InvalidInput("only frames and queries are run here", code="engine-needed")
        with using(task.code, self._storages):
            function = find_function(transform.function)
            try:
                found = function(**_arguments(spark, task, transform, function, inputs))
            except LochanError:
                raise
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"
                message = f"function {transform.function!r} failed: {reason}"
                raise JobFailed(message, code="frame-failed") from error
        return _named(transform.function, found)

    def _written(
        self, spark: SparkSession, task: JobTask, name: str, frame: DataFrame
    ) -> Iterator[tuple[OutputFile, int]]:
        """Have Spark write a frame; gives the files that it committed, and their sizes."""
        transform = task.transform
        assert isinstance(transform, FrameTransform | SqlTransform)  # noqa: S101 - `_frames` looked
        place = self._storages(StorageNamespace(task.output_namespace))
        address = place.addresses.new()
        physical = f"{task.output_namespace.rstrip('/')}/{address}"
        target = find_place(physical, "", cloud_schemes(spark))
        if target is None:
            message = (
                f"Spark cannot write to {task.output_namespace}; put its Hadoop connector on the"
                " class path"
            )
            raise InvalidInput(message, code="storage-unreachable")
        writer = frame.write.format(transform.format).option(_NO_MARK, "false")
        if transform.partition_by:
            writer = writer.partitionBy(*transform.partition_by)
        _save(writer.save, str(target))
        for one in list_written(spark, target, self._environment):
            yield _output(name, address, one), one.size


def _save(save: Callable[[str], None], target: str) -> None:
    try:
        save(target)
    except Exception as error:  # Spark's errors have no common class; the code's are among them
        message = f"Spark could not compute the output: {str(error).strip().splitlines()[0]}"
        raise JobFailed(message, code="frame-failed") from error


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


def _output(name: str, address: str, one: Written) -> OutputFile:
    physical = f"{address}/{one.physical}"
    entry = Entry(
        address=physical,
        last_modified=Instant(one.mtime * NANOSECONDS),
        size=one.size,
        # Nobody has read the bytes; but they lie at an address that is never written again.
        e_tag=sha256(physical.encode()).hexdigest()[:32],
    )
    return OutputFile(f"{name}{one.path}".encode(), encode_entry(entry))


def _rows(
    task: JobTask, shard: Shard, outputs: Sequence[tuple[OutputFile, int]], spent: int
) -> list[DatumRow]:
    """Say which datum each file is of."""
    transform = task.transform
    assert isinstance(transform, FrameTransform | SqlTransform)  # noqa: S101 - `_frames` looked
    datums = sorted(shard.datums, key=lambda datum: datum.number)
    files = [output for output, _ in outputs]
    if transform.incremental == "partition" and len(datums) > 1:
        shared = _by_partition(datums, files)
    else:
        shared = {datums[0].id: files} if datums else {}
    rows = []
    for datum in datums:
        sources = tuple(map(source_of, datum.files))
        if datum is datums[0] and transform.incremental == "append":
            sources = tuple(_all_sources(datums))
        rows.append(
            DatumRow(
                id=datum.id,
                hash=datum.hash,
                state=DatumState.PROCESSED,
                sources=sources,
                outputs=tuple(sorted(shared.get(datum.id, ()), key=lambda one: one.key)),
                number=datum.number,
                job=task.job,
                shard=shard.number,
                bytes=datum.bytes,
                milliseconds=spent // len(datums),
            )
        )
    return rows


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
    owners = {_partition(file.key): datum.id for datum in datums for file in datum.files}
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
