# SPDX-License-Identifier: Apache-2.0
"""Plans on trees that tests make up: a dictionary is a tree, and running a datum is a row."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product

from lochan.kernel.records import Records
from lochan.model.codec import encode_entry
from lochan.model.entry import Entry, identity
from lochan.model.ids import EMPTY_TREE, MetaRangeId
from lochan.model.instant import EPOCH
from lochan.pipelines.datums.datum_index import DatumIndex
from lochan.pipelines.datums.memo import Memo
from lochan.pipelines.datums.plan import Before, Plan, plan
from lochan.pipelines.model.datum import Datum, DatumRow, DatumState, OutputFile, source_of
from lochan.pipelines.model.records import Pin
from lochan.pipelines.model.spec import (
    CrossInput,
    FilesTransform,
    GroupInput,
    Input,
    JoinInput,
    Output,
    RepoInput,
    Spec,
    Transform,
    UnionInput,
    leaves,
)
from lochan.pipelines.specs.globs import ROOT, parse_glob, substituted
from support.lakes import NAME, Stage

Tree = Mapping[str, int]  # what content a key has
FUNCTION = FilesTransform(function="steps:make")


def entry_of(content: int, address: str = "data/x") -> Entry:
    """Describe an object that holds a number."""
    return Entry(address=address, last_modified=EPOCH, size=content, e_tag=f"{content}")


def spec_of(node: Input, transform: Transform = FUNCTION, **fields: object) -> Spec:
    """Say a pipeline over an input."""
    return Spec(
        pipeline="p",
        input=node,
        transform=transform,
        output=Output(repo=NAME),
        **fields,  # type: ignore[arg-type]
    )


@dataclass(slots=True)
class PlannedWorld:
    """A pipeline that is planned and run again and again, each time on other trees."""

    stage: Stage
    spec: Spec
    digest: str = "code 1"
    before: Before | None = None
    ran: list[Datum] = field(default_factory=list)

    def tree(self, content: Tree) -> MetaRangeId:
        """Store a tree."""
        entries = [(key.encode(), entry_of(content[key])) for key in content]
        rows = [(key, identity(entry), encode_entry(entry)) for key, entry in sorted(entries)]
        return self.stage.storage.snapshots.apply(EMPTY_TREE, [Records.of(rows)]).id

    def pins(self, trees: Mapping[str, Tree | MetaRangeId]) -> tuple[Pin, ...]:
        """Pin inputs to trees."""
        return tuple(
            Pin(
                input=leaf.name,
                repository=NAME,
                unique_identifier=self.stage.repository.unique_identifier,
                branch="main",
                commit="c",
                meta_range_id=self._stored(trees[leaf.name]),
            )
            for leaf in leaves(self.spec.input)
        )

    def plan(self, pins: Sequence[Pin], memo: Memo | None = None) -> Plan:
        """Plan on pins, upon what was run last."""
        output = self.stage.repository
        return plan(
            self.stage.lake,
            self.spec,
            self.digest,
            pins,
            output=output,
            before=self.before,
            memo=memo,
        )

    def first_plan(self, pins: Sequence[Pin]) -> Plan:
        """Plan on pins as if nothing had ever been run."""
        return plan(self.stage.lake, self.spec, self.digest, pins)

    @property
    def index(self) -> DatumIndex:
        """Give the index of what was run last."""
        found = self.before.index if self.before else EMPTY_TREE
        return DatumIndex(self.stage.storage.snapshots, found)

    def run(
        self,
        pins: Sequence[Pin],
        fails: Callable[[Datum], bool] = lambda _: False,
        memo: Memo | None = None,
    ) -> Plan:
        """Plan, run what is to be run, and keep the index of it."""
        found = self.plan(pins, memo)
        rows = [row_of(datum, failed=fails(datum)) for datum in found.run]
        self.ran += found.run
        rows += [row_of_remembered(row) for row in found.remembered]
        index = self.index.changed(found.gone, rows, found.values)
        self.before = Before(index.id, self.spec, self.digest, tuple(pins))
        return found

    def _stored(self, tree: Tree | MetaRangeId) -> MetaRangeId:
        return MetaRangeId(tree) if isinstance(tree, str) else self.tree(tree)


def row_of(datum: Datum, *, failed: bool = False, address: str = "data/x") -> DatumRow:
    """Say what became of a datum: it wrote one file, or failed."""
    wrote = OutputFile(datum.id.hex().encode(), _encoded(address))
    return DatumRow(
        datum.id,
        datum.hash,
        DatumState.FAILED if failed else DatumState.PROCESSED,
        tuple(map(source_of, datum.files)),
        () if failed else (wrote,),
    )


@cache
def _encoded(address: str) -> bytes:
    return encode_entry(entry_of(1, address))


def row_of_remembered(row: DatumRow) -> DatumRow:
    """Leave the number of a plan out: indexes are compared."""
    return DatumRow(row.id, row.hash, row.state, row.sources, row.outputs)


ModelPart = tuple[str, str, tuple[str, ...], tuple[tuple[str, int], ...]]  # input, key, captures


def model_parts(leaf: RepoInput, tree: Tree) -> list[ModelPart]:
    """Give the parts of a tree by trying every file and folder of it."""
    glob = parse_glob(leaf.glob)
    files = [key for key in tree if not key.endswith("/")]
    steps = [key.split("/") for key in files]
    folders = {"/".join(some[:count]) + "/" for some in steps for count in range(1, len(some))}
    found = []
    for key in sorted({*files, *folders, ROOT.decode()}):
        match = glob.match(key.encode())
        below = "" if key == "/" else key
        members = tuple(
            (name, tree[name])
            for name in sorted(files)
            if (name.startswith(below) if key.endswith("/") else name == key)
        )
        if match is not None and members:
            found.append((leaf.name, key, match.captures, members))
    return found


def model(node: Input, trees: Mapping[str, Tree]) -> list[tuple[ModelPart, ...]]:
    """Give the datums of an input by trying all combinations."""
    match node:
        case RepoInput():
            return [(part,) for part in model_parts(node, trees[node.name])]
        case UnionInput():
            return [row for one in node.inputs for row in model(one, trees)]
        case CrossInput():
            several = product(*(model(one, trees) for one in node.inputs))
            return [tuple(part for row in rows for part in row) for rows in several]
        case JoinInput():
            return _model_by_value(node, trees, [one.join_on for one in node.inputs])
        case GroupInput():
            return _model_by_value(node, trees, [one.group_by for one in node.inputs])
    raise AssertionError(node)


def _model_by_value(
    node: JoinInput | GroupInput, trees: Mapping[str, Tree], templates: list[str]
) -> list[tuple[ModelPart, ...]]:
    several = [
        [(substituted(template, part[2]), part) for part in model_parts(one, trees[one.name])]
        for one, template in zip(node.inputs, templates, strict=True)
    ]
    found: list[tuple[ModelPart, ...]] = []
    for value in {value for parts in several for value, _ in parts}:
        same = [[part for other, part in parts if other == value] for parts in several]
        if isinstance(node, GroupInput):
            found.append(tuple(part for parts in same for part in parts))
        elif all(same):
            found += product(*same)
        else:
            kept = [ps for ps, one in zip(same, node.inputs, strict=True) if ps and one.outer]
            found += product(*kept) if kept else []
    return found


def seen(datum: Datum) -> tuple[ModelPart, ...]:
    """Tell a datum as the model does."""
    sizes = {identity(entry_of(content)): content for content in range(10)}
    return tuple(
        (
            file.input,
            file.key.decode(),
            file.captures,
            tuple((one.key.decode(), sizes[one.identity]) for one in file.members),
        )
        for file in datum.files
    )
