# SPDX-License-Identifier: Apache-2.0
"""The memo: what was ever computed is not computed again, while its objects are there."""

import msgspec
import pytest

from lochan.model.codec import encode_entry
from lochan.model.entry import AddressType, Block
from lochan.pipelines.datums.memo import Memo
from lochan.pipelines.model.datum import DatumRow, DatumState, OutputFile
from lochan.pipelines.model.spec import RepoInput
from lochan.pipelines.model.tables import PipelineTables, memo_name
from lochan.refs.copy_log import logged_copies
from support.lakes import NAME, Stage, open_stage
from support.planned import PlannedWorld, Tree, entry_of, spec_of
from support.trees import SMALL

X = RepoInput(name="x", repo=NAME, glob="/*")


@pytest.fixture
def stage() -> Stage:
    return open_stage(cuts=SMALL)


@pytest.fixture
def memo(stage: Stage) -> Memo:
    return Memo(stage.lake, stage.repository, "p")


def stored(stage: Stage, address: str) -> str:
    """Put an object."""
    stage.storage.objects.put(address, b"x", size=1)
    return address


def row(number: int, *addresses: str, **fields: object) -> DatumRow:
    """Make the row of a datum that wrote these objects."""
    outputs = tuple(
        OutputFile(address.encode(), encode_entry(entry_of(1, address))) for address in addresses
    )
    name = number.to_bytes(32)
    found = DatumRow(name, name, DatumState.PROCESSED, (), outputs)
    return msgspec.structs.replace(found, **fields)


def test_what_is_remembered_is_found_by_its_hash(stage: Stage, memo: Memo) -> None:
    rows = [row(number, stored(stage, f"data/{number}")) for number in range(30)]
    memo.remember(rows[:20])
    memo.remember(rows[10:])
    memo.remember(rows)
    assert memo.find([one.hash for one in rows]) == {one.hash: one for one in rows}
    assert memo.find([b"?" * 32]) == memo.find([]) == {}
    assert Memo(stage.lake, stage.repository, "other").find([rows[0].hash]) == {}


def test_a_datum_that_failed_is_not_remembered(memo: Memo) -> None:
    memo.remember([row(1, state=DatumState.FAILED), row(2)])
    assert set(memo.find([row(1).hash, row(2).hash])) == {row(2).hash}


def test_a_row_of_which_an_object_is_gone_is_forgotten(stage: Stage, memo: Memo) -> None:
    kept, lost = stored(stage, "data/kept"), stored(stage, "data/lost")
    rows = [row(1, kept), row(2, kept, lost)]
    memo.remember(rows)
    assert set(memo.find([one.hash for one in rows])) == {one.hash for one in rows}
    stage.storage.objects.delete(lost)
    assert memo.find([one.hash for one in rows]) == {rows[0].hash: rows[0]}


def test_rel_H19_what_is_used_again_is_logged_before_it_is_looked_for(
    stage: Stage, memo: Memo
) -> None:
    memo.remember([row(1, stored(stage, "data/a"))])
    memo.find([row(1).hash])
    notes = logged_copies(stage.lake.store, stage.repository)
    assert [address for note in notes for address in note.addresses] == ["data/a"]


def test_every_block_of_a_file_counts_and_what_lies_elsewhere_is_never_used(
    stage: Stage, memo: Memo
) -> None:
    blocks = tuple(Block(stored(stage, f"data/b{n}"), 0, 1, b"h") for n in range(2))
    joined = msgspec.structs.replace(entry_of(2, ""), blocks=blocks)
    full = AddressType.FULL
    elsewhere = msgspec.structs.replace(entry_of(1, "mem://other/x"), address_type=full)
    rows = [
        row(number, outputs=(OutputFile(b"k", encode_entry(entry)),))
        for number, entry in enumerate((joined, elsewhere))
    ]
    memo.remember(rows)
    assert set(memo.find([one.hash for one in rows])) == {rows[0].hash}
    stage.storage.objects.delete("data/b1")
    assert memo.find([rows[0].hash]) == {}


def test_a_memo_whose_files_are_gone_is_an_empty_one_and_begun_anew(
    stage: Stage, memo: Memo
) -> None:
    memo.remember([row(1)])
    name = memo_name(stage.repository, "p")
    PipelineTables.of(stage.lake.store).memo.set(name, "0" * 64)
    assert memo.find([row(1).hash]) == {}
    memo.remember([row(2)])
    assert set(memo.find([row(1).hash, row(2).hash])) == {row(2).hash}


def test_two_jobs_that_remember_at_once_are_both_remembered(stage: Stage, memo: Memo) -> None:
    def interrupted(before: object, changes: object) -> object:
        if not raced:
            raced.append(Memo(stage.lake, stage.repository, "p"))
            raced[0].remember([row(2)])
        return added(before, changes)  # type: ignore[arg-type]

    raced: list[Memo] = []
    added = memo._added
    memo._added = interrupted  # type: ignore[assignment,method-assign]
    memo.remember([row(1)])
    assert set(memo.find([row(1).hash, row(2).hash])) == {row(1).hash, row(2).hash}


def test_an_input_that_is_reverted_runs_no_code(stage: Stage, memo: Memo) -> None:
    world = PlannedWorld(stage, spec_of(X))
    old, new = {"a": 1, "b": 1}, {"a": 2, "b": 1, "c": 1}

    def job(tree: Tree) -> tuple[int, int]:
        found = world.run(world.pins({"x": tree}), memo=memo)
        memo.remember(world.index.rows())
        return len(found.run), len(found.remembered)

    stored(stage, "data/x")
    assert [job(old), job(new), job(old), job(new)] == [(2, 0), (2, 0), (0, 1), (0, 2)]
    world.digest = "other code"
    assert job(new) == (3, 0)
    world.before = None  # as on a branch that has no commit of this pipeline yet
    assert job(old) == (1, 1)
    world.spec = spec_of(X, rerun="every_job")
    assert job(old) == (2, 0)
