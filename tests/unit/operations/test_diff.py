# SPDX-License-Identifier: Apache-2.0
"""Differences: between commits, since branches parted, and of what is staged."""

from collections.abc import Callable
from functools import partial
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lochan.committed import Cuts, Files, Snapshots
from lochan.errors import InvalidInput, Unavailable
from lochan.faults import Fault
from lochan.kv.faulty import Faulty, fail_nth
from lochan.model.changes import Change, ChangeKind
from lochan.model.ids import BranchName, StorageNamespace, TagName
from lochan.model.records import Tag
from lochan.objects import faulty as faulty_objects
from lochan.operations.branches import create_branch
from lochan.operations.compact import compact
from lochan.operations.diff import (
    DiffPage,
    PageRequest,
    diff_three_dot,
    diff_two_dot,
    diff_uncommitted,
)
from lochan.operations.lake import Lake, Storage
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.seal import seal
from lochan.refs.cleaner import Cleaner
from support.branch_content import (
    WORLD,
    committed_and_cleaned,
    delete,
    every_place,
    put,
    record,
)
from support.lakes import MAIN, Stage, open_stage

DEV = BranchName("dev")
ADDED, REMOVED, CHANGED = ChangeKind.ADDED, ChangeKind.REMOVED, ChangeKind.CHANGED


def told(page: DiffPage) -> list[tuple[ChangeKind, bytes]]:
    return [(change.kind, change.key) for change in page.changes]


@pytest.fixture
def parted() -> Stage:
    """Make two branches that parted at a: dev then added b and main c."""
    stage = open_stage()
    put(stage, b"a", b"1")
    create_branch(stage.lake, stage.repository, DEV, record(stage).id)
    put(stage, b"b", b"2", DEV)
    record(stage, DEV)
    put(stage, b"c", b"3")
    put(stage, b"a", b"other")
    record(stage)
    return stage


def test_two_dots_compare_both_sides(parted: Stage) -> None:
    where = (parted.lake, parted.repository)
    assert told(diff_two_dot(*where, "main", "dev")) == [
        (CHANGED, b"a"),
        (ADDED, b"b"),
        (REMOVED, b"c"),
    ]
    assert told(diff_two_dot(*where, "main@", "main")) == []
    change = diff_two_dot(*where, "main~", "main").changes[0]
    assert change.left is not None
    assert change.right is not None
    assert change.left.identity != change.right.identity


def test_three_dots_tell_what_the_right_side_changed(parted: Stage) -> None:
    where = (parted.lake, parted.repository)
    assert told(diff_three_dot(*where, "main", "dev")) == [(ADDED, b"b")]
    assert told(diff_three_dot(*where, "dev", "main")) == [(CHANGED, b"a"), (ADDED, b"c")]


def test_after_a_merge_three_dots_tell_what_came_since(parted: Stage) -> None:
    where = (parted.lake, parted.repository)
    merge(*where, MAIN, record(parted, DEV), MergeRequest("ada"))
    put(parted, b"d", b"4", DEV)
    record(parted, DEV)
    assert told(diff_three_dot(*where, "main", "dev")) == [(ADDED, b"d")]
    assert told(diff_three_dot(*where, "dev", "main")) == [(CHANGED, b"a"), (ADDED, b"c")]


def test_what_is_staged_is_not_compared_by_refs(parted: Stage) -> None:
    put(parted, b"x", b"staged")
    where = (parted.lake, parted.repository)
    tag = Tag(tag_id=TagName("v1"), commit_id=record(parted, DEV).id)
    parted.lake.tables(parted.repository).tags.set(b"v1", tag)
    assert told(diff_two_dot(*where, "v1", "dev")) == []
    assert (ADDED, b"x") not in told(diff_two_dot(*where, "dev", "main"))
    with pytest.raises(InvalidInput, match="only commits are compared; use 'main'"):
        diff_two_dot(*where, "main$", "dev")
    with pytest.raises(InvalidInput, match="only commits are compared; use 'main'"):
        diff_three_dot(*where, "dev", "main$")


def test_two_dots_tell_what_a_branch_shows_if_the_right_side_asks_for_it(parted: Stage) -> None:
    where = (parted.lake, parted.repository)
    before = told(diff_two_dot(*where, "dev", "main"))
    put(parted, b"x", b"staged")
    delete(parted, b"c")
    assert told(diff_two_dot(*where, "dev", "main$")) == [
        *(each for each in before if each[1] != b"c"),
        (ADDED, b"x"),
    ]


def test_staged_rows_that_change_nothing_are_no_change() -> None:
    stage = open_stage()
    put(stage, b"a", b"1")
    put(stage, b"b", b"2")
    record(stage)
    put(stage, b"a", b"1")
    delete(stage, b"b", b"never")
    put(stage, b"c", b"3")
    page = diff_uncommitted(stage.lake, stage.repository, MAIN)
    assert (told(page), page.has_more) == ([(REMOVED, b"b"), (ADDED, b"c")], False)


def test_a_row_over_a_compacted_one_is_compared_with_the_head() -> None:
    stage = open_stage()
    put(stage, b"a", b"1")
    record(stage)
    put(stage, b"a", b"2")
    put(stage, b"b", b"new")
    compact(stage.lake, stage.repository, MAIN)
    where = (stage.lake, stage.repository, MAIN)
    assert told(diff_uncommitted(*where)) == [(CHANGED, b"a"), (ADDED, b"b")]
    put(stage, b"a", b"1")
    delete(stage, b"b")
    assert told(diff_uncommitted(*where)) == []


def test_jumps_over_folders_lose_nothing_behind_them() -> None:
    stage = open_stage()
    for key in (b"b/1", b"b/2", b"c", b"d/1", b"e"):
        put(stage, key, b"1")
    compact(stage.lake, stage.repository, MAIN)
    put(stage, b"a/1", b"1")
    folders = PageRequest(delimiter=b"/")
    page = diff_uncommitted(stage.lake, stage.repository, MAIN, folders)
    assert [change.key for change in page.changes] == [b"a/", b"b/", b"c", b"d/", b"e"]
    made = record(stage)
    assert diff_two_dot(stage.lake, stage.repository, f"{made.id}~", made.id, folders) == page


keys = st.text("ab/", min_size=1, max_size=3).map(str.encode)
actions = st.sampled_from(["put", "put", "put", "delete", "seal", "compact"])
steps = st.lists(st.tuples(actions, keys, st.sampled_from([b"1", b"2"])), max_size=20)
pages = st.builds(
    PageRequest,
    prefix=st.sampled_from([b"", b"a", b"a/"]),
    delimiter=st.sampled_from([b"", b"/"]),
    amount=st.integers(1, 5),
)


def run(stage: Stage, model: dict[bytes, bytes], todo: list[tuple[str, bytes, bytes]]) -> None:
    for what, key, body in todo:
        if what == "put":
            put(stage, key, body)
            model[key] = body
        elif what == "delete":
            delete(stage, key)
            model.pop(key, None)
        elif what == "seal":
            seal(stage.lake, stage.repository, MAIN)
        else:
            compact(stage.lake, stage.repository, MAIN)


def expected(
    left: dict[bytes, bytes], right: dict[bytes, bytes], wanted: PageRequest
) -> list[tuple[ChangeKind, bytes]]:
    found = []
    for key in sorted(left.keys() | right.keys()):
        if left.get(key) == right.get(key) or not key.startswith(wanted.prefix):
            continue
        kind = ADDED if key not in left else REMOVED if key not in right else CHANGED
        hidden = key.find(b"/", len(wanted.prefix)) if wanted.delimiter else -1
        item = (kind, key) if hidden < 0 else (ChangeKind.PREFIX_CHANGED, key[: hidden + 1])
        if item not in found:
            found.append(item)
    return found


@settings(max_examples=120, deadline=None)
@given(steps, steps, pages, st.sampled_from([2, 1000]))
def test_pages_of_both_kinds_equal_dictionaries(
    before: list[tuple[str, bytes, bytes]],
    after: list[tuple[str, bytes, bytes]],
    wanted: PageRequest,
    raggedness: int,
) -> None:
    stage, model = open_stage(cuts=Cuts(raggedness=raggedness)), dict[bytes, bytes]()
    run(stage, model, before)
    first, left = record(stage), dict(model)
    run(stage, model, after)
    where = (stage.lake, stage.repository)
    wish = expected(left, model, wanted)
    assert paged(lambda page: diff_uncommitted(*where, MAIN, page), wanted) == wish
    last = record(stage)
    assert paged(lambda page: diff_two_dot(*where, first.id, last.id, page), wanted) == wish
    assert paged(lambda page: diff_three_dot(*where, first.id, "main", page), wanted) == wish


def paged(
    ask: Callable[[PageRequest], DiffPage], wanted: PageRequest
) -> list[tuple[ChangeKind, bytes]]:
    found: list[Change] = []
    while True:
        after = found[-1].key if found else b""
        page = ask(PageRequest(wanted.prefix, after, wanted.delimiter, wanted.amount))
        assert len(page.changes) <= wanted.amount
        found += page.changes
        if not page.has_more:
            return [(change.kind, change.key) for change in found]


def test_rel_H9_no_failing_call_makes_a_diff_shorter() -> None:
    stage = open_stage(cuts=Cuts(raggedness=2))
    for number in range(12):
        put(stage, b"%02d" % number, b"1")
    record(stage)
    for number in range(0, 12, 2):
        put(stage, b"%02d" % number, b"2")
    seal(stage.lake, stage.repository, MAIN)
    delete(stage, b"01", b"03")
    whole = diff_uncommitted(stage.lake, stage.repository, MAIN)
    assert len(whole.changes) == 8
    for number in count(1):
        store = Faulty(stage.lake.store, fail_nth(number, Fault.ERROR), WORLD)
        lake = Lake.of(store, WORLD, stage.lake.storage)
        if is_whole(lake, stage, whole) and store.calls < number:
            break
        assert store.calls >= number


def is_whole(lake: Lake, stage: Stage, whole: DiffPage) -> bool:
    try:
        found = diff_uncommitted(lake, stage.repository, MAIN)
    except Unavailable:
        return False
    assert found == whole
    return True


def given_storage(storage: Storage, namespace: StorageNamespace) -> Storage:
    return storage


def test_rel_H9_no_failing_read_of_a_tree_makes_a_diff_shorter() -> None:
    stage = open_stage(cuts=Cuts(raggedness=2))
    for number in range(12):
        put(stage, b"%02d" % number, b"1")
    first = record(stage)
    for number in range(0, 12, 2):
        put(stage, b"%02d" % number, b"2")
    last = record(stage)
    where = (stage.repository, first.id, last.id)
    whole = diff_two_dot(stage.lake, *where)
    for number in count(1):
        plan = faulty_objects.fail_nth(number, Fault.ERROR)
        objects = faulty_objects.Faulty(stage.storage.objects, plan, WORLD)
        snapshots = Snapshots(Files(objects, WORLD), WORLD)
        storage = Storage(objects, stage.storage.addresses, snapshots)
        lake = Lake.of(stage.lake.store, WORLD, partial(given_storage, storage))
        try:
            assert diff_two_dot(lake, *where) == whole
        except Unavailable:
            continue
        if objects.calls < number:
            break


def changed_in_three_ways(stage: Stage) -> None:
    for key in (b"a", b"b"):
        put(stage, key, key)
    record(stage)
    delete(stage, b"a")
    seal(stage.lake, stage.repository, MAIN)
    put(stage, b"b", b"2")
    put(stage, b"c", b"c")


def compacted_and_cleaned(stage: Stage) -> None:
    compact(stage.lake, stage.repository, MAIN)
    for _ in range(3):
        Cleaner(stage.lake.store, WORLD, grace_s=0).run()


def test_rel_H2_a_page_shows_all_that_is_uncommitted_or_a_commit_that_took_it() -> None:
    whole, after = [(REMOVED, b"a"), (CHANGED, b"b"), (ADDED, b"c")], 0
    for _, harried in every_place(changed_in_three_ways, committed_and_cleaned):
        found = told(diff_uncommitted(harried.lake, harried.repository, MAIN))
        assert found in (whole, [])
        after += found == []
    assert after > 0
    for _, harried in every_place(changed_in_three_ways, compacted_and_cleaned):
        assert told(diff_uncommitted(harried.lake, harried.repository, MAIN)) == whole
