# SPDX-License-Identifier: Apache-2.0
"""Try chosen datums of real data here and now: what `pipeline test` does. Nothing is published.

    datums = datums_now(lake, spec)                    what a first job would run
    try_datums(lake, spec, choose(datums, numbers=[3]), code=Code(folder="."))

Inputs are read where they lie. Outputs go to a folder that goes away, or are kept as plain files in
one that the caller names: <folder>/<datum number>/<path>. Each datum is tried once; one that fails
is told of like the others.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec

from lochan.errors import NotFound
from lochan.model.codec import decode_entry
from lochan.model.ids import StorageNamespace
from lochan.objects.address import AddressSource
from lochan.objects.open import open_objects
from lochan.objects.store import ObjectStore
from lochan.operations.lake import Lake
from lochan.pipelines.attempts.attempt import run_shard
from lochan.pipelines.attempts.fragment import read_fragment
from lochan.pipelines.attempts.function_call import Function
from lochan.pipelines.attempts.input_files import text_of
from lochan.pipelines.attempts.places import OpenedPlace, Place
from lochan.pipelines.datums.plan import plan
from lochan.pipelines.jobs.heads import pin_heads
from lochan.pipelines.jobs.pin import repository_of
from lochan.pipelines.model.datum import Datum, DatumRow, DatumState, OutputFile
from lochan.pipelines.model.log_line import LogLine
from lochan.pipelines.model.spec import Spec, leaves
from lochan.pipelines.model.tried import Tried, TriedFile
from lochan.pipelines.model.work import Code, JobTask, Manifest, Shard

_JOB: Final = "test"
_HEAD: Final = 1024  # bytes of each output that are shown

_lines: Final = msgspec.json.Decoder(LogLine)


def datums_now(
    lake: Lake, spec: Spec, refs: Mapping[str, str] | None = None, *, digest: str = ""
) -> tuple[Datum, ...]:
    """Give all datums that a first job would run on these inputs, by number."""
    found = plan(lake, spec, digest, pin_heads(lake, spec, refs)).run
    return tuple(sorted(found, key=lambda datum: datum.number))


def choose(
    datums: Sequence[Datum], *, numbers: Sequence[int] = (), paths: Sequence[str] = ()
) -> tuple[Datum, ...]:
    """Choose datums by number, or by a path or shell pattern of any file; by neither, all.

    Raises: NotFound for what chooses none.
    """
    if not numbers and not paths:
        return tuple(datums)
    by_number = {datum.number: datum for datum in datums}
    if unknown := [number for number in numbers if number not in by_number]:
        known = f"0 to {max(by_number)}" if by_number else "no datums at all"
        raise NotFound(f"there is no datum {unknown[0]}; there are {known}", code="datum-not-found")
    chosen = {number: by_number[number] for number in numbers}
    for path in paths:
        found = [datum for datum in datums if _has(datum, path.removeprefix("/"))]
        if not found:
            message = f"no datum reads {path!r}; `lochan pipeline check` lists the first ones"
            raise NotFound(message, code="datum-not-found")
        chosen |= {datum.number: datum for datum in found}
    return tuple(chosen[number] for number in sorted(chosen))


def try_datums(
    lake: Lake,
    spec: Spec,
    datums: Sequence[Datum],
    *,
    code: Code,
    function: Function | None = None,
    into: Path | None = None,
) -> tuple[Tried, ...]:
    """Run datums of a `files` pipeline; `function` stands in for the one that the spec names.

    Raises: InvalidInput when the code cannot be run at all; Unavailable and its like.
    """
    repositories = {file.repository for datum in datums for file in datum.files}
    with _scratch(lake) as (namespace, objects):

        def storages(wanted: StorageNamespace) -> Place:
            if wanted == namespace:
                return OpenedPlace(objects, AddressSource(lake.environment))
            return lake.storage(wanted)

        task = JobTask(
            job=_JOB,
            epoch=0,
            pipeline=spec.pipeline,
            transform=spec.transform,
            rules=msgspec.structs.replace(spec.datum, tries=1, on_error="quarantine"),
            code=code,
            output_namespace=namespace,
            input_namespaces={
                name: repository_of(lake, name).storage_namespace for name in repositories
            },
            commits={leaf.name: "" for leaf in leaves(spec.input)},
        )
        shard = Shard(0, tuple(datums))
        manifest = run_shard(task, shard, lake.environment, storages, function=function)
        return _tried(objects, manifest, {datum.id: datum for datum in datums}, into)


def try_datum(lake: Lake, spec: Spec, function: Function, datum: int, into: Path | None) -> Tried:
    """Run a function on one datum of what is committed now.

    Raises: NotFound for the datum or an input; else as `try_datums`.
    """
    chosen = choose(datums_now(lake, spec), numbers=[datum])
    (tried,) = try_datums(lake, spec, chosen, code=Code(), function=function, into=into)
    return tried


def _tried(
    objects: ObjectStore, manifest: Manifest, datums: Mapping[bytes, Datum], into: Path | None
) -> tuple[Tried, ...]:
    with objects.get(manifest.log) as reading:
        said = [_lines.decode(line) for line in reading.read().splitlines()]
    return tuple(
        Tried(
            number=row.number,
            datum=row.id.hex(),
            inputs=tuple(f"{file.input}:{text_of(file.key)}" for file in datums[row.id].files),
            passed=row.state is DatumState.PROCESSED,
            reason=row.reason,
            milliseconds=row.milliseconds,
            outputs=tuple(_file(objects, row, file, into) for file in row.outputs),
            log=tuple(line for line in said if line.datum == row.id.hex()),
        )
        for row in read_fragment(objects, manifest.fragment)
    )


def _file(objects: ObjectStore, row: DatumRow, file: OutputFile, into: Path | None) -> TriedFile:
    entry = decode_entry(file.entry)
    path = text_of(file.key)
    head = b""
    with objects.get(entry.address) as reading:
        if into is None:
            head = next(iter(reading), b"")[:_HEAD]
        else:
            place = into / str(row.number) / path  # `out` takes no path that leads elsewhere
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("wb") as kept:
                for chunk in reading:
                    head = head or chunk[:_HEAD]
                    kept.write(chunk)
    return TriedFile(path=path, size=entry.size, sha256=entry.e_tag, head=head)


@contextmanager
def _scratch(lake: Lake) -> Iterator[tuple[StorageNamespace, ObjectStore]]:
    """Open a namespace that goes away with the block."""
    with TemporaryDirectory(prefix="lochan-test-") as folder:
        namespace = StorageNamespace(f"local://{Path(folder).resolve()}")
        with closing(open_objects(namespace, lake.environment)) as objects:
            yield namespace, objects


def _has(datum: Datum, path: str) -> bool:
    keys = [text_of(file.key).lstrip("/") for file in datum.files]
    keys += [text_of(member.key) for file in datum.files for member in file.members]
    return any(fnmatchcase(key, path) for key in keys)
