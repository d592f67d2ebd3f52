# SPDX-License-Identifier: Apache-2.0
"""Run datums in shards, and gather what became of them (step 5 of `run_job`).

What drivers before this one have finished, or this one on other inputs, is looked for first: whole
attempts of the job, of any epoch, and in them the datums that succeeded. They are known by their
hashes, so it does not matter that this driver may pack otherwise. Only the others go to the engine.
What Spark plans as a whole is kept as a whole: an attempt for the very same datums, or none. A
damaged attempt of an earlier driver is as good as none.

Of each shard the manifest that the engine gives counts, and no other attempt's.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress

from lochan.errors import Corruption, Internal, NotFound
from lochan.objects.store import ObjectStore
from lochan.operations.lake import Lake
from lochan.pipelines.attempts.accepted_rows import accepted_row
from lochan.pipelines.attempts.fragment import read_fragment
from lochan.pipelines.attempts.manifests import find_manifests
from lochan.pipelines.datums.shards import pack
from lochan.pipelines.jobs.driving import Driving
from lochan.pipelines.jobs.pin import repository_of
from lochan.pipelines.model.datum import Datum, DatumRow, DatumState, datums_hash
from lochan.pipelines.model.records import Job, PipelineVersion
from lochan.pipelines.model.spec import FilesTransform, RepoInput, Spec, leaves
from lochan.pipelines.model.work import Engine, JobTask, ReadAs, Shard


def run_datums(
    lake: Lake,
    driving: Driving,
    version: PipelineVersion,
    engine: Engine,
    datums: Sequence[Datum],
    *,
    again: bool = False,
) -> tuple[DatumRow, ...]:
    """Run datums; gives the row of each, in their order. `again`: this driver has run some before.

    Raises: JobFailed for a datum that failed for good; what `driving` hears of; what a store
    raises.
    """
    if not datums:
        return ()
    task = job_task(lake, driving.job, version)
    objects = lake.storage(repository_of(lake, driving.job.output_repository).storage_namespace)
    rows: dict[bytes, DatumRow] = {}
    if again or driving.job.epoch > 1:
        whole = "" if isinstance(task.transform, FilesTransform) else datums_hash(datums)
        rows |= _finished(objects.objects, driving.job.id, {datum.hash for datum in datums}, whole)
    left = [datum for datum in datums if datum.hash not in rows]
    shards = shards_of(version.spec, left, engine)
    for manifest in engine.run(task, shards, driving.tell):
        rows |= {row.hash: row for row in read_fragment(objects.objects, manifest.fragment)}
    missing = [datum for datum in datums if datum.hash not in rows]
    if missing:
        message = f"the engine gave no row for {len(missing)} datums"
        raise Internal(f"{message}, the first of them {missing[0].id.hex()}")
    return tuple(accepted_row(rows[datum.hash], datum, driving.job.id) for datum in datums)


def shards_of(spec: Spec, datums: Sequence[Datum], engine: Engine) -> tuple[Shard, ...]:
    """Pack datums for an engine; what Spark plans as a whole is one shard."""
    if not datums:
        return ()
    if isinstance(spec.transform, FilesTransform):
        return pack(datums, spec.datum, engine.cores, spec.shards)
    return (Shard(0, tuple(datums)),)


def job_task(lake: Lake, job: Job, version: PipelineVersion) -> JobTask:
    """Say all that attempts of a job's shards need to know."""
    spec = version.spec
    return JobTask(
        job=job.id,
        epoch=job.epoch,
        pipeline=job.pipeline,
        transform=spec.transform,
        rules=spec.datum,
        code=version.code,
        output_namespace=repository_of(lake, job.output_repository).storage_namespace,
        input_namespaces={
            pin.repository: repository_of(lake, pin.repository).storage_namespace
            for pin in job.pins
        },
        spark=spec.spark,
        commits={pin.input: pin.commit for pin in job.pins},
        read_as={
            leaf.name: ReadAs(leaf.format, leaf.options)
            for leaf in leaves(spec.input)
            if isinstance(leaf, RepoInput) and (leaf.format or leaf.options)
        },
    )


def _finished(
    objects: ObjectStore, job: str, wanted: set[bytes], whole: str
) -> dict[bytes, DatumRow]:
    return {row.hash: row for row in _kept(objects, job, whole) if row.hash in wanted}


def _kept(objects: ObjectStore, job: str, whole: str) -> Iterator[DatumRow]:
    for manifest in find_manifests(objects, job):
        if whole and manifest.datums_hash != whole:
            continue
        with suppress(Corruption, NotFound):
            rows = list(read_fragment(objects, manifest.fragment))
            yield from (row for row in rows if row.state is DatumState.PROCESSED)
