# SPDX-License-Identifier: Apache-2.0
"""Look at a pipeline before it is made: what it says, what its code is, what it would read now."""

from collections.abc import Iterator

import msgspec

from lochan.model.ids import MetaRangeId
from lochan.operations.lake import Lake
from lochan.pipelines.datums.explain import explain_match, explain_size
from lochan.pipelines.datums.plan import plan
from lochan.pipelines.jobs.heads import pin_heads
from lochan.pipelines.jobs.pin import repository_of
from lochan.pipelines.model.datum import Datum
from lochan.pipelines.model.spec import CronInput, RepoInput, Spec, leaves
from lochan.pipelines.specs.code import Files, closure_of
from lochan.pipelines.specs.output import require_inputs
from lochan.pipelines.specs.registry import require_place
from lochan.pipelines.specs.validate import validate

SHOWN = 5


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What a pipeline would do on the heads of its inputs; `notes` are for people."""

    pipeline: str
    datums: int
    first: tuple[tuple[str, ...], ...]  # what the first few datums read, input:path
    hashed: tuple[str, ...]  # files that decide what runs again
    notes: tuple[str, ...]


def check_spec(lake: Lake, spec: Spec, files: Files) -> Checked:
    """Check a spec alone, in the graph of all, and against its inputs; nothing is made.

    Raises: InvalidInput, RepositoryNotFound.
    """
    validate(spec)
    _, hashed = closure_of(spec, files)
    require_place(lake, spec)
    require_inputs(lake, spec)
    if any(isinstance(leaf, CronInput) for leaf in leaves(spec.input)):
        note = "a clock has not ticked before its pipeline is made: no datums to show yet"
        return Checked(pipeline=spec.pipeline, datums=0, first=(), hashed=hashed, notes=(note,))
    datums = sorted(plan(lake, spec, "", pin_heads(lake, spec)).run, key=_number)
    return Checked(
        pipeline=spec.pipeline,
        datums=len(datums),
        first=tuple(_read(datum) for datum in datums[:SHOWN]),
        hashed=hashed,
        notes=tuple(filter(None, _notes(lake, spec, datums))),
    )


def _notes(lake: Lake, spec: Spec, datums: list[Datum]) -> Iterator[str]:
    yield explain_size(datums)
    for leaf, pin in zip(leaves(spec.input), pin_heads(lake, spec), strict=True):
        if isinstance(leaf, RepoInput) and not datums:
            repository = repository_of(lake, leaf.repo)
            snapshots = lake.storage(repository.storage_namespace).snapshots
            yield explain_match(snapshots, MetaRangeId(pin.meta_range_id), leaf.name, leaf.glob)


def _read(datum: Datum) -> tuple[str, ...]:
    return tuple(f"{file.input}:{file.key.decode(errors='replace')}" for file in datum.files)


def _number(datum: Datum) -> int:
    return datum.number
