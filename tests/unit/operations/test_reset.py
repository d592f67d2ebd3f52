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
from lochan.errors import InvalidInput, LochanError, NotFound
from lochan.faults import Crashed, Fault
from lochan.kernel.records import Record
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Faulty, fail_nth
from lochan.kv.store import Store
from lochan.model.codec import decode_entry
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.records import Branch, Commit
from lochan.operations.advance import is_dirty
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.compact import compact
from lochan.operations.compactor import TOKENS
from lochan.operations.delete_objects import delete_objects
from lochan.operations.hard_reset import hard_reset
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


def files_of(stage: Stage) -> int:
    """Count the objects under the repository's name, its committed trees among them."""
    return len(stage.storage.objects.list().entries)


def test_a_reset_of_what_is_not_staged_changes_nothing() -> None:
    stage = committed(a=b"1", b=b"2")
    put(stage, b"c", b"3")
    before = branch_of(stage)
    reset_object(stage.lake, stage.repository, MAIN, ObjectKey(b"a"))
    reset_object(stage.lake, stage.repository, MAIN, ObjectKey(b"never"))
    reset_prefix(stage.lake, stage.repository, MAIN, b"cc")
    assert branch_of(stage) == before


def test_resets_of_single_keys_write_no_files() -> None:
    stage = committed(a=b"1")
    for number in range(20):
        put(stage, b"b%d" % number, b"2")
    before = files_of(stage)
    for number in range(17):
        reset_object(stage.lake, stage.repository, MAIN, ObjectKey(b"b%d" % number))
    assert files_of(stage) == before
    assert shown(stage) == [b"a", b"b17", b"b18", b"b19"]
    assert len(branch_of(stage).forgotten) == 17


def test_resets_that_have_become_many_are_compacted_away() -> None:
    stage = committed(a=b"1")
    put(stage, b"c", b"3")
    for number in range(100):
        put(stage, b"b%d" % number, b"2")
    for number in range(100):
        reset_object(stage.lake, stage.repository, MAIN, ObjectKey(b"b%d" % number))
        assert len(branch_of(stage).forgotten) <= TOKENS + 1
    for _ in range(40):
        put(stage, b"b", b"2")
        reset_object(stage.lake, stage.repository, MAIN, ObjectKey(b"b"))
        assert len(branch_of(stage).sealed_tokens) <= TOKENS + 1
    assert shown(stage) == [b"a", b"c"]


ENDINGS: dict[str, Callable[[Stage], object]] = {
    "commit": lambda stage: commit(stage.lake, stage.repository, MAIN, REQUEST),
    "compact": lambda stage: compact(stage.lake, stage.repository, MAIN),
    "reset": lambda stage: reset(stage.lake, stage.repository, MAIN),
    "hard reset": lambda stage: hard_reset(
        stage.lake, stage.repository, MAIN, head_of(stage), force=True
    ),
}


def head_of(stage: Stage) -> Commit:
    commits = stage.lake.tables(stage.repository).commits
    return commits.get(branch_of(stage).commit_id.encode()).record


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_was_reset_is_noted_until_its_rows_are_the_branchs_no_more(ending: str) -> None:
    stage = committed(a=b"1")
    put(stage, b"b", b"2")
    put(stage, b"c", b"3")
    reset_object(stage.lake, stage.repository, MAIN, ObjectKey(b"b"))
    ((start, stop, newest),) = branch_of(stage).forgotten
    assert (start, stop) == (b"b", b"b\0")
    assert [newest] == list(branch_of(stage).sealed_tokens)

    ENDINGS[ending](stage)
    assert branch_of(stage).forgotten == ()
    assert shown(stage) == ([b"a"] if "reset" in ending else [b"a", b"c"])


def test_a_key_that_was_reset_may_be_written_and_reset_again() -> None:
    stage = committed(a=b"1")
    for _ in range(3):
        put(stage, b"a", b"other")
        assert shown(stage) == [b"a"]
        assert dirty(stage)
        reset_object(stage.lake, stage.repository, MAIN, ObjectKey(b"a"))
        assert not dirty(stage)
    with pytest.raises(InvalidInput, match="nothing to commit"):
        commit(stage.lake, stage.repository, MAIN, REQUEST)


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
