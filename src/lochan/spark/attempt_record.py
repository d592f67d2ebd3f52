# SPDX-License-Identifier: Apache-2.0
"""What an attempt that Spark plans as a whole leaves behind: fragment, log and manifest.

The driver writes them, where a shard's own attempt would (`pipelines.attempt`): an entry for each
file that Spark has written and synced, in the row of the datum that it is of.
"""

from collections.abc import Sequence
from hashlib import sha256

import msgspec

from lochan.environment import Environment
from lochan.model.codec import encode_entry
from lochan.model.entry import Entry
from lochan.model.instant import NANOSECONDS, Instant
from lochan.objects.store import ObjectStore
from lochan.pipelines.attempts.fragment import write_fragment
from lochan.pipelines.attempts.manifests import FRAGMENT, LOG, attempt_folder, write_manifest
from lochan.pipelines.model.datum import (
    Datum,
    DatumRow,
    DatumState,
    OutputFile,
    Source,
    datums_hash,
    source_of,
)
from lochan.pipelines.model.work import JobTask, Manifest, Shard
from lochan.spark.written import Written


def output_of(folder: str, address: str, one: Written) -> OutputFile:
    """Describe a file that lies below an address; `folder` is where the output shows it."""
    physical = f"{address}/{one.physical}"
    entry = Entry(
        address=physical,
        last_modified=Instant(one.mtime * NANOSECONDS),
        size=one.size,
        # Nobody has read the bytes; but they lie at an address that is never written again.
        e_tag=sha256(physical.encode()).hexdigest()[:32],
    )
    return OutputFile(f"{folder}{one.path}".encode(), encode_entry(entry))


def row_of(
    task: JobTask,
    shard: Shard,
    datum: Datum,
    outputs: Sequence[OutputFile],
    sources: Sequence[Source] = (),
) -> DatumRow:
    """Make a datum's row; its sources are its own files unless others are named."""
    return DatumRow(
        id=datum.id,
        hash=datum.hash,
        state=DatumState.PROCESSED,
        sources=tuple(sources) or tuple(map(source_of, datum.files)),
        outputs=tuple(sorted(outputs, key=lambda one: one.key)),
        number=datum.number,
        job=task.job,
        shard=shard.number,
        bytes=datum.bytes,
    )


def record_attempt(  # noqa: PLR0913 - all that a manifest tells
    objects: ObjectStore,
    environment: Environment,
    task: JobTask,
    shard: Shard,
    rows: Sequence[DatumRow],
    *,
    written: int,
    seconds: float,
    log: bytes = b"",
) -> Manifest:
    """Store rows, in the order of their numbers, and what was said; the manifest comes last."""
    attempt = environment.new_id()
    folder = attempt_folder(task.folder, shard.number, attempt)
    each = round(seconds * 1000) // max(1, len(rows))
    timed = [msgspec.structs.replace(row, milliseconds=each) for row in rows]
    write_fragment(objects, f"{folder}/{FRAGMENT}", timed)
    objects.put(f"{folder}/{LOG}", log)
    manifest = Manifest(
        shard=shard.number,
        attempt=attempt,
        fragment=f"{folder}/{FRAGMENT}",
        log=f"{folder}/{LOG}",
        processed=len(rows),
        failed=0,
        files=sum(len(row.outputs) for row in rows),
        bytes=written,
        milliseconds=round(seconds * 1000),
        datums_hash=datums_hash(shard.datums),
    )
    write_manifest(objects, folder, manifest)
    return manifest
