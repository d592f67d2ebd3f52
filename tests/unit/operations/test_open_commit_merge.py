# SPDX-License-Identifier: Apache-2.0
"""merge_commits: by replay and by squash, and what neither may do."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lochan.errors import Conflict, InvalidInput, NotFound
from lochan.kv.store import Store
from lochan.model.ids import BranchName, ObjectKey, RepositoryId
from lochan.model.instant import EPOCH
from lochan.model.records import Commit, Provenance, Repository
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.open_commits.cancel_commit import cancel_commit
from lochan.operations.open_commits.diffs import diffs
from lochan.operations.open_commits.finish_commit import finish_commit
from lochan.operations.open_commits.inspect_commit import inspect_commit
from lochan.operations.open_commits.merge_commits import merge_commits
from lochan.operations.open_commits.put_file import Mode
from lochan.operations.open_commits.start_commit import start_commit
from lochan.operations.put_object import put_object
from lochan.refs.kinship import Kinship
from support.lakes import MAIN
from support.open_commits import DELETE, Desk


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_pach_M1_replay_copies_each_commit_in_order(desk: Desk) -> None:
    base = desk.commit(branch="main", f=b"0")
    desk.commit(parent=base.id, branch="side", f=b"1")
    second = desk.commit(branch="side", g=b"2")
    ahead = desk.commit(branch="main", f=b"m")
    one, two = desk.merge(second, branch="main")

    assert (one.parents, two.parents) == ((ahead.id,), (one.id,))
    assert [made.clocks[-1].commit for made in (one, two)] == [3, 4]
    assert desk.files(one) == {"f": b"0m1"}
    assert desk.files(two) == {"f": b"0m1", "g": b"2"}
    assert desk.head() == two
    assert two.metadata == {"replay-origin": second.id}


def test_pach_M1_copies_of_several_sources_follow_each_other_and_shared_ones_come_once(
    desk: Desk,
) -> None:
    base = desk.commit(branch="main", f=b"0")
    shared = desk.commit(parent=base.id, branch="side", f=b"s")
    one = desk.commit(parent=shared.id, branch="one", f=b"1")
    two = desk.commit(parent=shared.id, branch="two", f=b"2")
    made = desk.merge(one, two, branch="main")

    assert [desk.read("f", each) for each in made] == [b"0s", b"0s1", b"0s12"]


def test_pach_M2_squash_makes_one_commit_of_all(desk: Desk) -> None:
    base = desk.commit(branch="main", f=b"0")
    desk.commit(parent=base.id, branch="side", f=b"1", g=b"x")
    second = desk.commit(branch="side", f=b"2", g=DELETE)
    (made,) = desk.merge(second, branch="main", squash=True)

    assert made.parents == (base.id,)
    assert desk.files(made) == {"f": b"012"}
    assert not Kinship.of(*store_of(desk)).is_ancestor(second, made)


def store_of(desk: Desk) -> tuple[Store, Repository]:
    return desk.stage.lake.store, desk.stage.repository


def test_pach_M3_without_target_a_merge_is_refused(desk: Desk) -> None:
    made = desk.commit(branch="side", f=b"1")
    with pytest.raises(InvalidInput, match="say where to merge"):
        desk.merge(made)
    with pytest.raises(InvalidInput, match="say what to merge"):
        desk.merge(branch="main")


@pytest.mark.parametrize("squash", [True, False])
def test_pach_M3_the_target_is_chosen_as_by_start_commit(desk: Desk, *, squash: bool) -> None:
    base = desk.commit(branch="foo", f=b"0")
    side = desk.commit(parent=base.id, branch="side", g=b"1")
    (fork,) = desk.merge(side, parent=base.id, branch="new", squash=squash)
    (behind,) = desk.merge(side, parent=base.id, squash=squash)
    rooted = desk.merge(side, branch="root", squash=squash)

    assert (fork.parents, desk.head("new")) == ((base.id,), fork)
    assert (behind.parents, desk.head("foo")) == ((base.id,), behind)
    assert rooted[0].parents == ()
    assert desk.files(rooted[-1]) == {"f": b"0", "g": b"1"}
    assert len(rooted) == (1 if squash else 2)
    with pytest.raises(Conflict, match="is not the head"):
        desk.merge(side, parent=base.id, squash=squash)


@pytest.mark.parametrize("squash", [True, False])
def test_pach_M4_the_shared_base_is_not_applied_again(desk: Desk, *, squash: bool) -> None:
    base = desk.commit(branch="main", f=b"0")
    side = desk.commit(parent=base.id, branch="side", f=b"1")
    desk.commit(branch="main", g=b"m")
    made = desk.merge(side, branch="main", squash=squash)
    assert len(made) == 1
    assert desk.files(made[-1]) == {"f": b"01", "g": b"m"}


def test_pach_M4_what_sources_share_is_squashed_once(desk: Desk) -> None:
    base = desk.commit(branch="main", f=b"0")
    shared = desk.commit(parent=base.id, branch="side", f=b"s")
    one = desk.commit(parent=shared.id, branch="one", f=b"1")
    two = desk.commit(parent=shared.id, branch="two", f=b"2")
    (made,) = desk.merge(one, shared, two, one, branch="main", squash=True)
    assert desk.read("f", made) == b"0s12"


def test_pach_M4_a_source_behind_another_brings_nothing_of_its_own(desk: Desk) -> None:
    base = desk.commit(branch="main", f=b"0")
    first = desk.commit(parent=base.id, branch="side", f=b"1", g=b"gone later")
    second = desk.commit(branch="side", f=b"2", g=DELETE)
    (made,) = desk.merge(first, second, branch="main", squash=True)
    assert desk.files(made) == {"f": b"012"}


def test_pach_M5_appends_of_sources_follow_each_other_in_the_order_of_the_list(
    desk: Desk,
) -> None:
    base = desk.commit(branch="main", f=b"0")
    sides = [
        desk.commit(parent=base.id, branch=f"s{n}", f=b"%d" % n, new=b"n%d" % n) for n in (1, 2, 3)
    ]
    (made,) = desk.merge(sides[2], sides[0], sides[1], parent=base.id, squash=True)
    assert desk.files(made) == {"f": b"0312", "new": b"n3n1n2"}


@pytest.mark.parametrize("deleter_first", [True, False])
def test_pach_M5_a_deletion_is_of_the_base_and_not_of_what_others_append(
    desk: Desk, *, deleter_first: bool
) -> None:
    base = desk.commit(branch="main", f=b"0", g=b"0")
    deleter = desk.commit(parent=base.id, branch="one", f=DELETE, g=DELETE)
    other = desk.commit(parent=base.id, branch="two", f=b"2")
    sources = (deleter, other) if deleter_first else (other, deleter)
    (made,) = desk.merge(*sources, parent=base.id, squash=True)
    assert desk.files(made) == {"f": b"2"}
    assert desk.read("f", made, base) == b"2"


def test_pach_M5_blocks_of_one_source_stay_together(desk: Desk) -> None:
    base = desk.commit(branch="main")
    sides = []
    for name in "ab":
        for _ in range(3):
            last = desk.commit(branch=name, f=name.encode())
        sides.append(last)
    (made,) = desk.merge(*sides, parent=base.id, squash=True)
    assert desk.read("f", made) == b"aaabbb"


def test_a_file_that_grew_by_a_merge_is_still_the_same_file(desk: Desk) -> None:
    base = desk.commit(branch="main", f=b"0")
    side = desk.commit(parent=base.id, branch="side", f=b"1")
    (made,) = desk.merge(side, branch="main", squash=True)
    assert desk.read("f", made, base) == b"1"
    last = desk.commit(branch="main", f=b"2")
    assert desk.read("f", last, base) == b"12"
    row = next(iter(diffs(*desk.where, made.id, "f")))
    assert (row.delete, row.size) == (False, 1)


def test_objects_put_whole_come_over_as_they_are(desk: Desk) -> None:
    base = desk.commit(branch="main", f=b"0")
    desk.commit(parent=base.id, branch="side")
    entry = put_object(*desk.where, BranchName("side"), ObjectKey(b"whole"), b"w")
    put_object(*desk.where, BranchName("side"), ObjectKey(b"f"), b"over")
    side = commit(*desk.where, BranchName("side"), CommitRequest("ada", "objects"))
    (made,) = desk.merge(side, branch="main", squash=True)

    assert desk.files(made) == {"f": b"over", "whole": b"w"}
    assert desk.read("f", made, base) == b"over"
    row = next(iter(diffs(*desk.where, made.id, "whole")))
    assert row.appends[0].blockrefs == (entry.address,)


def test_pach_M6_provenance_is_the_union_in_topological_order(desk: Desk) -> None:
    lake, repository = desk.where

    def derived(branch: str, *inputs: Commit) -> Commit:
        provenance = [
            Provenance(repository_id=RepositoryId("readings"), commit_id=made.id) for made in inputs
        ]
        opened = start_commit(lake, repository, branch=branch, provenance=provenance)
        return finish_commit(lake, repository, opened.id)

    raw = derived("raw")
    cleaned = derived("cleaned", raw)
    one, two = derived("one", cleaned), derived("two", raw, cleaned)
    (made,) = desk.merge(one, two, branch="main", squash=True)

    assert [each.commit_id for each in made.provenance] == [raw.id, cleaned.id]
    copies = desk.merge(one, two, branch="other")
    assert [copy.provenance for copy in copies] == [one.provenance, two.provenance]


@pytest.mark.parametrize("squash", [True, False])
def test_pach_M7_a_conflict_of_types_shows_nothing(desk: Desk, *, squash: bool) -> None:
    base = desk.commit(branch="main", f=b"0")
    desk.commit(parent=base.id, branch="side", g=b"fine")
    side = desk.commit(branch="side", a=b"file")
    other = desk.commit(parent=base.id, branch="other", a__b=b"directory")
    with pytest.raises(Conflict, match="'a' cannot be a file and a directory"):
        desk.merge(side, other, branch="main", squash=squash)
    with pytest.raises(Conflict):
        desk.merge(side, other, branch="new", squash=squash)
    assert desk.head() == base
    with pytest.raises(NotFound):
        desk.head("new")


def test_pach_M8_sources_are_finished_and_so_is_the_result(desk: Desk) -> None:
    opened, failed = desk.start(branch="side"), desk.start(branch="side")
    cancel_commit(*desk.where, failed.id)
    for source in (opened, failed):
        with pytest.raises(Conflict, match="must be finished first"):
            merge_commits(*desk.where, [source.id], branch="main")
    (made,) = merge_commits(*desk.where, [desk.finish(opened).id], branch="main", squash=True)
    assert EPOCH < made.started <= made.finished
    assert inspect_commit(*desk.where, made.id).ID == "readings/main/1"


@pytest.mark.parametrize("squash", [True, False])
def test_pach_M9_what_is_contained_is_not_merged(desk: Desk, *, squash: bool) -> None:
    first = desk.commit(branch="main", f=b"0")
    second = desk.commit(branch="main", f=b"1")
    side = desk.commit(parent=first.id, branch="side", g=b"2")
    merge(*desk.where, MAIN, side, MergeRequest("ada"))
    head = desk.head()
    for source in (first, second, side, head):
        assert desk.merge(source, branch="main", squash=squash) == ()
    assert desk.head() == head


@pytest.mark.parametrize("squash", [True, False])
def test_what_a_source_took_from_the_target_does_not_come_back(desk: Desk, *, squash: bool) -> None:
    base = desk.commit(branch="main", f=b"0")
    desk.commit(parent=base.id, branch="side", g=b"1")
    desk.commit(branch="main", f=b"m")
    merge(*desk.where, BranchName("side"), desk.head(), MergeRequest("ada"))
    side = desk.commit(branch="side", g=b"2")
    made = desk.merge(side, branch="main", squash=squash)
    assert desk.files(made[-1]) == {"f": b"0m", "g": b"12"}


def test_the_seeds_job_ends_in_one_squash_onto_the_parent(desk: Desk) -> None:
    parent = desk.commit(branch="out", total=b"0")
    shards = []
    for number in range(4):
        opened = desk.start(parent.id, f"shard{number}")
        desk.put(opened, "total", b"%d" % number)
        desk.put(opened, f"part{number}", b"p", Mode.OVERWRITE)
        shards.append(desk.finish(opened))
    (made,) = desk.merge(*shards, parent=parent.id, squash=True)
    assert made.parents == (parent.id,)
    assert desk.files(made) == {"total": b"00123", **{f"part{n}": b"p" for n in range(4)}}


edits = st.lists(
    st.tuples(st.sampled_from("fgh"), st.sampled_from(["put", "over", "delete"])), max_size=4
)


@settings(max_examples=40, deadline=None)
@given(edits, st.lists(edits, min_size=1, max_size=3))
def test_pach_M5_a_squash_equals_a_model_of_deletions_and_appends(
    below: list[tuple[str, str]], several: list[list[tuple[str, str]]]
) -> None:
    """Model: per path, whether the base goes, and what was appended since then."""
    desk, counter = Desk(), iter(range(1000))
    base, content = _made(desk, below, "main", None, counter)
    sources, gone, added = [], set[str](), dict[str, list[bytes]]()
    for number, steps in enumerate(several):
        made, changed = _made(desk, steps, f"s{number}", base.id, counter)
        sources.append(made)
        for path, (deleted, pieces) in changed.items():
            gone |= {path} if deleted and path in content else set()
            if pieces is not None:
                added.setdefault(path, []).extend(pieces)
    (made,) = desk.merge(*sources, parent=base.id, squash=True)
    kept = {path: list(pieces or []) for path, (_, pieces) in content.items() if path not in gone}
    for path, pieces in added.items():
        kept[path] = kept.get(path, []) + pieces
    assert desk.files(made) == {path: b"".join(pieces) for path, pieces in kept.items()}


Changed = dict[str, tuple[bool, list[bytes] | None]]


def _made(
    desk: Desk,
    steps: list[tuple[str, str]],
    branch: str,
    parent: str | None,
    counter: Iterator[int],
) -> tuple[Commit, Changed]:
    """Make a commit of steps; say of each path whether it was deleted, and what came since."""
    opened, changed = desk.start(parent, branch), Changed()
    for path, kind in steps:
        if kind == "delete":
            desk.delete(opened, path)
            changed[path] = (True, None)
            continue
        body = b"<%d>" % next(counter)
        over = kind == "over"
        desk.put(opened, path, body, Mode.OVERWRITE if over else Mode.APPEND)
        deleted, pieces = changed.get(path, (False, None))
        changed[path] = (True, [body]) if over else (deleted, [*(pieces or []), body])
    made = desk.finish(opened)
    return made, {p: each for p, each in changed.items() if parent or each[1] is not None}
