# SPDX-License-Identifier: Apache-2.0
"""Reset: a branch shows its commit again, in whole or in part, whatever fails."""

from collections.abc import Callable
from contextlib import suppress
from hashlib import md5
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lochan.environment import RealEnvironment
from lochan.errors import LochanError, NotFound
from lochan.faults import Crashed, Fault
from lochan.kernel.records import Record
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Faulty, fail_nth
from lochan.kv.store import Store
from lochan.model.codec import decode_entry
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.records import Branch
from lochan.operations.advance import is_dirty
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.compact import compact
from lochan.operations.delete_objects import delete_objects
from lochan.operations.lake import Lake
from lochan.operations.list_objects import list_objects
from lochan.operations.put_object import put_object
from lochan.operations.reset import reset, reset_object, reset_prefix
from lochan.operations.seal import seal
from lochan.operations.view import tokens_of
from lochan.refs.cleaner import Cleaner
from lochan.refs.notes import token_notes
from support.lakes import MAIN, Stage, open_stage

REQUEST = CommitRequest("ada", "nightly")
FAULTS = [fault for fault in Fault if fault not in {Fault.OK, Fault.ZOMBIE}]


def put(stage: Stage, key: bytes, body: bytes) -> None:
    put_object(stage.lake, stage.repository, MAIN, ObjectKey(key), body)


def elsewhere(stage: Stage, store: Store | None = None) -> Stage:
    """Give the same lake as another process sees it, through a store of its own."""
    lake = Lake.of(store or stage.lake.store, stage.lake.environment, stage.lake.storage)
    return Stage(lake, stage.repository, stage.storage)


def tags(stage: Stage) -> dict[bytes, str]:
    """Give the tag of every object that the branch shows."""
    page = list_objects(elsewhere(stage).lake, stage.repository, MAIN)
    found = (item for item in page.items if isinstance(item, Record))
    return {record.key: decode_entry(record.value).e_tag for record in found}


def shown(stage: Stage) -> list[bytes]:
    """Name what the branch shows."""
    return list(tags(stage))


def branch_of(stage: Stage) -> Branch:
    return stage.lake.branches.fresh(stage.repository, MAIN).record


def committed(**bodies: bytes) -> Stage:
    """Open a lake whose main has these objects committed."""
    stage = open_stage()
    for name, body in bodies.items():
        put(stage, name.encode(), body)
    commit(stage.lake, stage.repository, MAIN, REQUEST)
    return stage


def dirty(stage: Stage) -> bool:
    branch = branch_of(stage)
    return is_dirty(stage.lake, stage.repository, branch, tokens_of(branch))


def test_after_a_reset_a_branch_shows_its_commit() -> None:
    stage = committed(a=b"1", b=b"2")
    put(stage, b"a", b"other")
    put(stage, b"c", b"3")
    delete_objects(stage.lake, stage.repository, MAIN, [ObjectKey(b"b")])
    seal(stage.lake, stage.repository, MAIN)  # of a commit that failed
    put(stage, b"d", b"4")
    reset(stage.lake, stage.repository, MAIN)

    assert shown(stage) == [b"a", b"b"]
    assert not dirty(stage)
    assert branch_of(stage).sealed_tokens == ()


def test_a_write_after_a_reset_is_staged_and_committed() -> None:
    stage = committed(a=b"1")
    put(stage, b"b", b"2")
    reset(stage.lake, stage.repository, MAIN)
    put(stage, b"c", b"3")
    made = commit(stage.lake, stage.repository, MAIN, REQUEST)
    assert [row.key for row in stage.storage.snapshots.cursor(made.meta_range_id)] == [b"a", b"c"]


def test_a_reset_needs_a_branch() -> None:
    stage = open_stage()
    with pytest.raises(NotFound, match="no branch 'x'"):
        reset(stage.lake, stage.repository, BranchName("x"))


def test_rel_H10_the_cleaner_takes_what_a_reset_forgot() -> None:
    stage = committed(a=b"1")
    put(stage, b"b", b"2")
    seal(stage.lake, stage.repository, MAIN)
    stage.lake.branches.fresh(stage.repository, MAIN)
    put(stage, b"c", b"3")
    forgotten = tokens_of(branch_of(stage))
    reset(stage.lake, stage.repository, MAIN)
    put(stage, b"d", b"4")
    cleaner = Cleaner(stage.lake.store, stage.lake.environment, grace_s=0)
    for _ in range(3):
        assert cleaner.run().skipped == ()

    assert all(stage.lake.staging.is_empty(token) for token in forgotten)
    assert shown(stage) == [b"a", b"d"]


def test_a_prefix_is_reset_and_all_else_stays_staged() -> None:
    stage = committed(**{"logs/a": b"1", "logs/b": b"2"})
    put(stage, b"logs/a", b"other")
    put(stage, b"logs/c", b"3")
    delete_objects(stage.lake, stage.repository, MAIN, [ObjectKey(b"logs/b")])
    put(stage, b"logs0", b"4")
    put(stage, b"log", b"5")
    reset_prefix(stage.lake, stage.repository, MAIN, b"logs/")

    assert shown(stage) == [b"log", b"logs/a", b"logs/b", b"logs0"]
    made = commit(stage.lake, stage.repository, MAIN, REQUEST)
    before = stage.lake.commits.tree(stage.repository, made.parents[0])
    found = stage.storage.snapshots.diff(before, made.meta_range_id)
    assert [change.key for some in found for change in some] == [b"log", b"logs0"]


@pytest.mark.parametrize("sealed", [False, True])
def test_rel_G8_an_object_is_reset_to_what_the_commit_holds(*, sealed: bool) -> None:
    stage = committed(a=b"1")
    for key in (b"a", b"b", b"c"):
        put(stage, key, b"other")
    if sealed:
        seal(stage.lake, stage.repository, MAIN)
    for key in (b"a", b"b", b"never"):
        reset_object(stage.lake, stage.repository, MAIN, ObjectKey(key))
    assert shown(stage) == [b"a", b"c"]
    reset_object(stage.lake, stage.repository, MAIN, ObjectKey(b"c"))
    assert shown(stage) == [b"a"]
    assert not dirty(stage)


def test_more_keys_than_a_chunk_are_reset_under_a_prefix() -> None:
    stage = committed(a=b"1")
    for number in range(1005):
        delete_objects(stage.lake, stage.repository, MAIN, [ObjectKey(b"a%d" % number)])
    delete_objects(stage.lake, stage.repository, MAIN, [ObjectKey(b"a")])
    reset_prefix(stage.lake, stage.repository, MAIN, b"a")
    assert shown(stage) == [b"a"]


Reset = Callable[[Stage], None]
RESETS: dict[str, Reset] = {
    "all": lambda stage: reset(stage.lake, stage.repository, MAIN),
    "prefix": lambda stage: reset_prefix(stage.lake, stage.repository, MAIN, b""),
    "object": lambda stage: reset_object(stage.lake, stage.repository, MAIN, ObjectKey(b"a")),
}


@pytest.mark.parametrize("kind", RESETS)
def test_a_reset_looks_under_the_compacted_base(kind: str) -> None:
    stage = committed(a=b"1")
    put(stage, b"a", b"other")
    if kind != "object":
        put(stage, b"b", b"2")
    compact(stage.lake, stage.repository, MAIN)
    assert dirty(stage)
    RESETS[kind](stage)
    assert shown(stage) == [b"a"]
    head = stage.lake.commits.tree(stage.repository, branch_of(stage).commit_id)
    made = commit(stage.lake, stage.repository, MAIN, CommitRequest("ada", allow_empty=True))
    assert made.meta_range_id == head


KEYS = [b"a", b"b", b"p/a", b"p/b", b"p0"]
steps = st.lists(
    st.tuples(
        st.sampled_from(["put", "delete", "commit", "compact", "seal", "all", "prefix", "object"]),
        st.sampled_from(KEYS),
        st.binary(max_size=1),
    ),
    max_size=25,
)


@settings(max_examples=60, deadline=None)
@given(steps)
def test_resets_equal_a_dictionary(todo: list[tuple[str, bytes, bytes]]) -> None:
    stage, model, head = open_stage(), dict[bytes, bytes](), dict[bytes, bytes]()
    for what, key, body in todo:
        match what:
            case "put":
                put(stage, key, body)
                model[key] = body
            case "delete":
                delete_objects(stage.lake, stage.repository, MAIN, [ObjectKey(key)])
                model.pop(key, None)
            case "commit":
                commit(stage.lake, stage.repository, MAIN, CommitRequest("a", allow_empty=True))
                head = dict(model)
            case "compact":
                compact(stage.lake, stage.repository, MAIN)
            case "seal":
                seal(stage.lake, stage.repository, MAIN)
            case "all":
                reset(stage.lake, stage.repository, MAIN)
                model = dict(head)
            case "prefix":
                reset_prefix(stage.lake, stage.repository, MAIN, b"p/")
                outside = {k: v for k, v in model.items() if not k.startswith(b"p/")}
                model = outside | {k: v for k, v in head.items() if k.startswith(b"p/")}
            case "object":
                reset_object(stage.lake, stage.repository, MAIN, ObjectKey(key))
                model.pop(key, None)
                model |= {k: v for k, v in head.items() if k == key}
        assert tags(stage) == {
            k: md5(v, usedforsecurity=False).hexdigest() for k, v in model.items()
        }
    tree = stage.lake.commits.tree(stage.repository, branch_of(stage).commit_id)
    made = commit(stage.lake, stage.repository, MAIN, CommitRequest("ada", allow_empty=True))
    assert (made.meta_range_id == tree) == (model == head)


@pytest.mark.parametrize("kind", RESETS)
@pytest.mark.parametrize("fault", FAULTS)
def test_rel_H15_a_reset_that_fails_leaves_nothing_half_done(fault: Fault, kind: str) -> None:
    world = RealEnvironment()
    for number in count(1):
        stage = open_stage(MemoryStore(world), world)
        put(stage, b"z", b"1")
        commit(stage.lake, stage.repository, MAIN, REQUEST)
        put(stage, b"a", b"2")
        seal(stage.lake, stage.repository, MAIN)
        tokens = set(tokens_of(branch_of(stage)))
        faulty = Faulty(stage.lake.store, fail_nth(number, fault), world)
        done = False
        with suppress(LochanError, Crashed):
            RESETS[kind](elsewhere(stage, faulty))
            done = True
        forgotten = shown(stage) == [b"z"]
        assert forgotten or (not done and shown(stage) == [b"a", b"z"])
        assert done or not forgotten or kind != "all" or fault is Fault.CRASH_AFTER
        noted = {name.decode() for name, _ in token_notes(stage.lake.store).scan()}
        assert tokens - set(tokens_of(branch_of(stage))) <= noted  # H10
        RESETS[kind](elsewhere(stage))
        assert shown(stage) == [b"z"]
        if faulty.calls < number:
            assert done
            return
