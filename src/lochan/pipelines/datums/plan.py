# SPDX-License-Identifier: Apache-2.0
"""Plan: which datums a job runs, which it remembers, and whose outputs go.

    datums that a change may have touched        by metarange diffs since the base (`combined`)
    less those whose hash is the base's          skipped: content and code are as they were
    less those that some job has computed        remembered (`memo`)
    are run; and datums of the base that are no more are gone

Work is proportional to the change: an input whose tree is the base's is not opened, nor is a range
that both trees share. Everything is planned anew when it must be: there is no base, another input
or other code was said, or every job is to run everything. What comes out is the same either way.

New code runs everything, since its digest is part of every hash; what counts as new is decided
where digests are made (`code`). Datums that failed in the base are always tried again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from lochan.committed import Snapshots
from lochan.errors import InvalidInput, NotFound
from lochan.model.ids import EMPTY_TREE, MetaRangeId, RepositoryId
from lochan.model.records import Repository
from lochan.operations.lake import Lake
from lochan.pipelines.datums.combined import Combined, Whole, combined
from lochan.pipelines.datums.compared import anew, require_appended, since
from lochan.pipelines.datums.datum_index import DatumIndex
from lochan.pipelines.datums.memo import Memo
from lochan.pipelines.datums.parts import PinnedInput, Take
from lochan.pipelines.model.datum import Datum, DatumRow
from lochan.pipelines.model.records import Counts, Pin
from lochan.pipelines.model.spec import (
    DeclarativeTransform,
    FilesTransform,
    Spec,
    Transform,
    leaves,
)
from lochan.refs.repositories import get_repository


@dataclass(frozen=True, slots=True)
class Before:
    """What the base was made of, and its datum index. `digest` is what it was planned with."""

    index: MetaRangeId
    spec: Spec
    digest: str
    pins: tuple[Pin, ...]


@dataclass(frozen=True, slots=True)
class Opened:
    """What planning cost: files of trees that were opened, and datums that were hashed."""

    files: int = 0
    hashed: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What a job has to do. `changed` are datums of the base that get a new row.

    `values` are rows k/ of the index that come (True) or go (False) with it.
    """

    run: tuple[Datum, ...]
    remembered: tuple[DatumRow, ...]
    gone: tuple[bytes, ...]
    changed: tuple[bytes, ...]
    counts: Counts
    opened: Opened
    values: Mapping[bytes, bool] = field(default_factory=dict)

    @property
    def is_nothing(self) -> bool:
        """Say whether the output stays as it is."""
        return not (self.run or self.remembered or self.gone)


def plan(
    lake: Lake,
    spec: Spec,
    digest: str,
    pins: Sequence[Pin],
    *,
    output: Repository | None = None,
    before: Before | None = None,
    memo: Memo | None = None,
) -> Plan:
    """Plan a job on pinned inputs. `digest` stands for the code, its parameters, and any salt.

    The index of `before` lies in `output`; without both, everything is planned as if for the first
    time. Raises: JobFailed where what may only grow has changed; NotFound for what is pinned.
    """
    trees = _Trees(lake, pins, output)
    index = DatumIndex(trees.output, before.index if before and output else EMPTY_TREE)
    base = before if output and before and _is_comparable(spec, digest, pins, before) else None
    inputs = _inputs(spec, pins, trees, base)
    node = _combined(spec, inputs, index)
    compared = since(index, node, inputs, digest) if base else anew(index, node, digest)

    waiting = compared.datums if spec.rerun == "every_job" else compared.unlike_base()
    if take_of(spec.transform) is Take.FILES and before and before.digest == digest:
        require_appended(index, compared)
    found: dict[bytes, DatumRow] = {}
    # What several appended files made together is not any one's: it cannot be had in parts.
    is_apart = take_of(spec.transform) is not Take.FILES
    if memo is not None and spec.rerun != "every_job" and is_apart:
        found = memo.find([datum.hash for datum in waiting])

    remembered = tuple(
        msgspec.structs.replace(found[datum.hash], number=datum.number)
        for datum in waiting
        if datum.hash in found
    )
    return Plan(
        run=tuple(datum for datum in waiting if datum.hash not in found),
        remembered=remembered,
        gone=compared.gone,
        changed=tuple(datum.id for datum in waiting if datum.id in compared.known),
        counts=Counts(
            total=compared.total,
            skipped=compared.total - len(waiting),
            remembered=len(remembered),
            gone=len(compared.gone),
        ),
        opened=Opened(trees.opened(), len(compared.datums)),
        values=compared.values,
    )


def take_of(transform: Transform) -> Take:
    """Say what a transform takes as one part."""
    if isinstance(transform, FilesTransform):
        return Take.PARTS
    if isinstance(transform, DeclarativeTransform):
        return Take.WHOLE
    modes = {"full": Take.WHOLE, "partition": Take.PARTS, "append": Take.FILES}
    return modes[transform.incremental]


class _Trees:
    """The snapshots of the inputs and of the output, and how many files were opened of them."""

    def __init__(self, lake: Lake, pins: Sequence[Pin], output: Repository | None) -> None:
        self._of = {pin.repository: _snapshots(lake, pin) for pin in pins}
        if output is not None:
            self.output = lake.storage(output.storage_namespace).snapshots
        else:
            self.output = next(iter(self._of.values()))  # nothing is looked up there
        self._distinct = {id(one): one for one in (*self._of.values(), self.output)}.values()
        self._before = self._count()

    def of(self, pin: Pin) -> Snapshots:
        """Give those in which a pinned tree lies."""
        return self._of[pin.repository]

    def opened(self) -> int:
        """Count the files that were opened since."""
        return self._count() - self._before

    def _count(self) -> int:
        return sum(one.files.opened for one in self._distinct)


def _snapshots(lake: Lake, pin: Pin) -> Snapshots:
    name = RepositoryId(pin.repository)
    repository = get_repository(lake.store, lake.environment, name)
    if pin.unique_identifier and repository.unique_identifier != pin.unique_identifier:
        message = f"repository {name!r} was made again since commit {pin.commit} was pinned"
        raise NotFound(message, code="repository-not-found", repository=name)
    return lake.storage(repository.storage_namespace).snapshots


def _inputs(
    spec: Spec, pins: Sequence[Pin], trees: _Trees, base: Before | None
) -> dict[str, PinnedInput]:
    by_name = {pin.input: pin for pin in pins}
    at_base = {pin.input: MetaRangeId(pin.meta_range_id) for pin in base.pins} if base else {}
    found: dict[str, PinnedInput] = {}
    for leaf in leaves(spec.input):
        pin = by_name.get(leaf.name)
        if pin is None:
            raise InvalidInput(f"input {leaf.name!r} of {spec.pipeline!r} is pinned to no commit")
        tree = at_base.get(leaf.name, EMPTY_TREE)
        take = take_of(spec.transform)
        found[leaf.name] = PinnedInput(leaf, pin, trees.of(pin), take, tree)
    return found


def _combined(spec: Spec, inputs: Mapping[str, PinnedInput], index: DatumIndex) -> Combined:
    if take_of(spec.transform) is Take.WHOLE:
        return Whole([*inputs.values()])
    return combined(spec.input, inputs, index)


def _is_comparable(spec: Spec, digest: str, pins: Sequence[Pin], before: Before) -> bool:
    """Say whether what did not change since the base needs no look."""
    return (
        spec.rerun != "every_job"
        and spec.input == before.spec.input
        and take_of(spec.transform) is take_of(before.spec.transform)
        and digest == before.digest
        and _places(pins) == _places(before.pins)
    )


def _places(pins: Iterable[Pin]) -> set[tuple[str, str, str]]:
    return {(pin.input, pin.repository, pin.unique_identifier) for pin in pins}
