# SPDX-License-Identifier: Apache-2.0
"""Copies: within a branch, from another ref, from outside, and what no failure makes of them."""

import msgspec
import pytest

from lochan.errors import NotFound, PredicateFailed
from lochan.faults import Fault
from lochan.kv.faulty import Call, Faulty
from lochan.model.entry import AddressType, Block, Entry, entry_of_blocks, identity
from lochan.model.ids import BranchName, LineageId, ObjectKey
from lochan.model.instant import Instant
from lochan.model.records import Clock
from lochan.objects.drivers.memory import MemoryObjects
from lochan.operations.branches import create_branch
from lochan.operations.conditions import if_absent
from lochan.operations.copy_object import Source, copy_object
from lochan.operations.lake import Lake
from lochan.operations.open_commits.finish_commit import finish_commit
from lochan.operations.open_commits.put_file import Mode, put_file
from lochan.operations.open_commits.start_commit import start_commit
from lochan.operations.put_object import stage_entry
from lochan.operations.read_object import stat_object
from lochan.refs.copy_log import forget_copies, logged_copies
from support.branch_content import (
    FAULTS,
    WORLD,
    content,
    delete,
    fail_each_call,
    put,
    record,
    with_stores,
)
from support.lakes import MAIN, Stage, open_stage

DEV = BranchName("dev")
A, B = ObjectKey(b"a.csv"), ObjectKey(b"b.csv")


@pytest.fixture
def stage() -> Stage:
    made = open_stage()
    put(made, A, b"one")
    create_branch(made.lake, made.repository, DEV, record(made).id)
    return made


def copy(stage: Stage, ref: str, branch: BranchName = MAIN, **options: object) -> Entry:
    return copy_object(stage.lake, stage.repository, branch, B, Source(ref, A), **options)  # type: ignore[arg-type]


def source(stage: Stage, ref: str = MAIN) -> Entry:
    return stat_object(stage.lake, stage.repository, ref, A)


def logged(stage: Stage) -> set[str]:
    notes = logged_copies(stage.lake.store, stage.repository)
    return {address for note in notes for address in note.addresses}


@pytest.mark.parametrize("ref", ["main", "main$", "main@"])
def test_rel_H19_a_copy_within_a_branch_shares_the_object_and_is_logged(
    stage: Stage, ref: str
) -> None:
    made = copy(stage, ref)
    assert made.address == source(stage).address
    assert made.last_modified > source(stage).last_modified
    assert content(stage) == {A: b"one", B: b"one"}
    assert logged(stage) == {made.address}


@pytest.mark.parametrize("ref", ["dev", "dev@", "main~0", "main/1"])
def test_rel_H19_a_copy_from_another_ref_has_an_object_of_its_own(stage: Stage, ref: str) -> None:
    made = copy(stage, ref)
    assert made.address != source(stage).address
    assert made.address.endswith(".csv")
    assert identity(made) == identity(source(stage))
    assert (content(stage)[B], logged(stage)) == (b"one", set())


def test_metadata_and_type_are_kept_or_replaced(stage: Stage) -> None:
    made = copy(stage, "dev", metadata={"owner": "ada"}, content_type="text/csv")
    assert made.metadata == {"owner": "ada"}
    again = copy_object(stage.lake, stage.repository, MAIN, A, Source(MAIN, B))
    assert (again.metadata, again.content_type) == ({"owner": "ada"}, "text/csv")
    assert (
        copy_object(stage.lake, stage.repository, MAIN, B, Source(MAIN, B), metadata={}).metadata
        == {}
    )


def test_a_file_of_blocks_is_copied_as_its_list_of_blocks(stage: Stage) -> None:
    for name in ("data/1", "data/2"):
        stage.storage.objects.put(name, name.encode())
    blocks = [Block("data/1", 0, 6, bytes(32)), Block("data/2", 0, 6, bytes(32))]
    entry = entry_of_blocks(blocks, Clock(LineageId("x"), 1), last_modified=Instant(0))
    stage_entry(stage.lake, stage.repository, DEV, A, entry)
    made = copy(stage, "dev")
    assert (made.blocks, content(stage)[B]) == (tuple(blocks), b"data/1data/2")
    assert logged(stage) == {"data/1", "data/2"}


@pytest.mark.parametrize("from_commit", [True, False])
def test_an_empty_file_of_blocks_is_copied_from_another_ref(
    stage: Stage, *, from_commit: bool
) -> None:
    where = stage.lake, stage.repository
    opened = start_commit(*where, branch=DEV)
    put_file(*where, opened.id, A, b"", mode=Mode.OVERWRITE)
    commit = finish_commit(*where, opened.id)
    made = copy(stage, commit.id if from_commit else DEV)
    assert (made.size, made.blocks, content(stage)[B]) == (0, (), b"")
    assert (made.e_tag, made.epoch) == (source(stage, DEV).e_tag, commit.clocks[-1])
    assert logged(stage) == set()


def test_an_object_from_outside_is_streamed_into_the_lake(stage: Stage) -> None:
    bucket = MemoryObjects(WORLD)
    bucket.put("raw/a", b"from afar")
    far = with_stores(stage, {"s3://bucket": bucket})
    kind = AddressType.FULL
    entry = msgspec.structs.replace(
        source(stage), address="s3://bucket/raw/a", size=9, address_type=kind
    )
    stage_entry(far.lake, far.repository, DEV, A, entry)
    made = copy(far, "dev")
    bucket.delete("raw/a")
    assert (made.address_type, content(far)[B]) == (AddressType.RELATIVE, b"from afar")


def test_conditions_on_source_and_destination(stage: Stage) -> None:
    tag = source(stage).e_tag
    with pytest.raises(PredicateFailed, match=f"has the checksum {tag}, not x") as told:
        copy_object(stage.lake, stage.repository, MAIN, B, Source(MAIN, A, if_match="x"))
    assert told.value.code == "source-changed"
    copy_object(stage.lake, stage.repository, MAIN, B, Source("dev", A, tag), condition=if_absent)
    before = len(stage.storage.objects.list("data/").entries)
    with pytest.raises(PredicateFailed, match="not as the request expects"):
        copy(stage, "dev", condition=if_absent)
    assert len(stage.storage.objects.list("data/").entries) == before


def test_nothing_is_copied_from_nowhere_or_to_nowhere(stage: Stage) -> None:
    with pytest.raises(NotFound, match="no object"):
        copy_object(stage.lake, stage.repository, MAIN, A, Source(MAIN, B))
    with pytest.raises(NotFound, match="no branch"):
        copy(stage, "main", BranchName("nobody"))


def test_rel_H19_what_is_copied_was_there_when_it_was_logged(stage: Stage) -> None:
    """The source is replaced between its first look and the log: the new object is copied."""
    old = source(stage).address

    def plan(call: Call) -> Fault:
        if call.operation == "set" and b"copies/" in call.key and source(stage).address == old:
            put(stage, A, b"two")
        return Fault.OK

    lake = Lake.of(Faulty(stage.lake.store, plan, WORLD), WORLD, stage.lake.storage)
    made = copy_object(lake, stage.repository, MAIN, B, Source(MAIN, A))
    assert made.address == source(stage).address != old
    assert made.address in logged(stage)


def test_old_rows_of_the_log_are_forgotten(stage: Stage) -> None:
    copy(stage, "main")
    (note,) = logged_copies(stage.lake.store, stage.repository)
    assert forget_copies(stage.lake.store, stage.repository, note.time) == 0
    assert forget_copies(stage.lake.store, stage.repository, Instant(note.time + 1)) == 1
    assert logged(stage) == set()


@pytest.mark.parametrize("ref", [MAIN, DEV])
@pytest.mark.parametrize("fault", FAULTS)
def test_rel_G7_a_copy_is_whole_or_absent_whatever_fails(fault: Fault, ref: BranchName) -> None:
    def prepare(stage: Stage) -> None:
        put(stage, A, b"one")
        create_branch(stage.lake, stage.repository, DEV, record(stage).id)

    def check(stage: Stage, answered: bool) -> None:  # noqa: FBT001 - told by fail_each_call
        shown = content(stage)
        assert shown in ({A: b"one"}, {A: b"one", B: b"one"})
        assert B in shown or not answered
        assert content(stage, DEV) == {A: b"one"}

    assert fail_each_call(fault, prepare, lambda stage: copy(stage, ref), check) > 5


def test_a_copy_outlives_its_source(stage: Stage) -> None:
    for ref in (MAIN, DEV):
        copy(stage, ref)
        delete(stage, A)
        assert content(stage) == {B: b"one"}
        put(stage, A, b"one")
