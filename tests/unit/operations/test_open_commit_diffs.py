# SPDX-License-Identifier: Apache-2.0
"""The seed's rows: repositories, branches, commits, diffs, and what is listed of them."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lochan.committed import Cuts, Files, Snapshots
from lochan.errors import InvalidInput, NotFound, NotUnique
from lochan.model.clock import parse_commit_number
from lochan.model.diff import Append, Diff
from lochan.model.ids import BranchName, CommitId, ObjectKey, RepositoryId, StorageNamespace
from lochan.model.instant import EPOCH
from lochan.model.keys import BRANCHES, partition_of
from lochan.model.records import Commit, Provenance, Repository
from lochan.objects.faulty import Faulty as FaultyObjects
from lochan.objects.faulty import no_faults
from lochan.operations.branches import delete_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.lake import Lake, Storage
from lochan.operations.open_commits.diffs import diffs
from lochan.operations.open_commits.finish_commit import finish_commit
from lochan.operations.open_commits.history import history
from lochan.operations.open_commits.inspect_commit import inspect_commit
from lochan.operations.open_commits.list_commit import list_commit
from lochan.operations.open_commits.start_commit import start_commit
from lochan.operations.put_object import put_object
from lochan.refs.branches import list_branches
from lochan.refs.creation import create_repository
from support.lakes import MAIN, open_stage
from support.open_commits import DELETE, Desk


@pytest.fixture
def desk() -> Desk:
    return Desk()


def ref(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def rows(desk: Desk, made: Commit) -> dict[bytes, Diff]:
    found = list(diffs(*desk.where, made.id))
    assert len({row.path for row in found}) == len(found)
    return {row.path: row for row in found}


def make_repository(desk: Desk, name: str) -> Repository:
    lake, _ = desk.where
    return create_repository(
        lake.store,
        lake.environment,
        repository_id=RepositoryId(name),
        storage_namespace=StorageNamespace(f"mem://{lake.environment.new_id()}"),
        default_branch=MAIN,
    )


def test_pach_S1_a_repository_has_one_name_and_a_time_of_creation(desk: Desk) -> None:
    made = make_repository(desk, "photos")
    assert made.creation_date > EPOCH
    with pytest.raises(NotUnique):
        make_repository(desk, "photos")


def test_pach_S2_branches_are_listed_by_one_scan_of_their_repository(desk: Desk) -> None:
    lake, repository = desk.where
    fresh = desk.finish(desk.start())
    desk.commit(branch="foo")
    named = [branch.branch_id for branch in list_branches(lake.tables(repository))]
    rows = [key for key, _ in lake.store.scan(partition_of(repository), BRANCHES)]
    uuid = inspect_commit(*desk.where, fresh.id).ID.split("/")[1]

    assert named == sorted(["foo", "main", uuid])
    assert [key for key in rows if key.startswith(BRANCHES)] == [
        BRANCHES + name.encode() for name in named
    ]


def test_pach_S3_the_first_commit_of_a_branch_is_0(desk: Desk) -> None:
    first = desk.commit(branch="foo")
    fork = desk.commit(parent=first.id, branch="bar")
    assert (first.clocks[-1].commit, fork.clocks[-1].commit) == (0, 0)


def test_pach_S4_a_commits_id_is_its_last_clock_component(desk: Desk) -> None:
    desk.commit(branch="foo")
    made = desk.commit(branch="foo")
    found = inspect_commit(*desk.where, made.id)
    number = parse_commit_number(found.ID)

    assert (number.repository, number.branch) == ("readings", "foo")
    assert number.number == found.clocks[-1].commit == 1
    assert inspect_commit(*desk.where, found.ID) == found


def test_pach_S5_a_commit_has_the_seeds_fields_and_is_found_by_its_clock(desk: Desk) -> None:
    made = desk.commit(branch="foo", f=b"x")
    found = inspect_commit(*desk.where, "readings/foo/0")

    assert (found.repo, found.clocks, found.provenance) == ("readings", made.clocks, ())
    assert EPOCH < found.started <= found.finished
    assert found.id == made.id


def test_a_commit_made_otherwise_started_and_finished_when_it_was_created(desk: Desk) -> None:
    made = commit(*desk.where, MAIN, CommitRequest("ada", "x", allow_empty=True))
    found = inspect_commit(*desk.where, made.id)
    assert found.started == found.finished == made.creation_date


def test_a_commit_whose_branch_is_gone_has_its_hash_alone(desk: Desk) -> None:
    made = desk.commit(branch="foo", f=b"x")
    delete_branch(*desk.where, BranchName("foo"))
    assert made.id == inspect_commit(*desk.where, made.id).ID
    assert next(iter(diffs(*desk.where, made.id))).commit == made.id


def of(repository: Repository, made: Commit) -> Provenance:
    return Provenance(repository_id=repository.repository_id, commit_id=made.id)


def test_pach_S7_provenance_is_whole_and_in_topological_order(desk: Desk) -> None:
    lake, repository = desk.where

    def derived(*inputs: Commit) -> Commit:
        provenance = [of(repository, made) for made in inputs]
        opened = start_commit(lake, repository, branch="main", provenance=provenance)
        return finish_commit(lake, repository, opened.id)

    raw, model = derived(), derived()
    cleaned = derived(raw)
    trained = derived(cleaned, model)
    report = derived(raw, trained, cleaned)
    found = [each.commit_id for each in inspect_commit(*desk.where, report.id).provenance]

    assert sorted(found) == sorted([raw.id, model.id, cleaned.id, trained.id])
    for made in (cleaned, trained):
        for before in made.provenance:
            assert found.index(before.commit_id) < found.index(made.id)
    assert [each.commit_id for each in report.provenance] == [raw.id, trained.id, cleaned.id]


def test_provenance_of_what_is_gone_is_still_named(desk: Desk) -> None:
    gone = Provenance(repository_id=RepositoryId("nowhere"), commit_id=CommitId("0" * 64))
    opened = start_commit(*desk.where, branch="main", provenance=[gone])
    made = finish_commit(*desk.where, opened.id)
    assert inspect_commit(*desk.where, made.id).provenance == (gone,)


def test_pach_S8_a_diff_has_one_row_a_path(desk: Desk) -> None:
    desk.commit(branch="foo", f=b"1", g=b"2")
    made = desk.commit(branch="foo", f=b"3", g=DELETE, h=b"4")
    found = rows(desk, made)

    assert set(found) == {b"f", b"g", b"h", b""}
    assert found[b"f"] == Diff(
        ID=b"readings/foo/1:f",
        repo=desk.stage.repository.repository_id,
        commit="readings/foo/1",
        path=ObjectKey(b"f"),
        delete=False,
        clocks=made.clocks,
        appends=(Append(blockrefs=(ref(b"3"),)),),
        size=1,
    )
    assert (found[b"g"].delete, found[b"g"].appends) == (True, (Append(delete=True),))


def test_pach_S8_a_file_that_begins_anew_is_deleted_and_then_appended_to(desk: Desk) -> None:
    desk.commit(branch="foo", f=b"1")
    opened = desk.start(branch="foo")
    desk.delete(opened, "f")
    desk.put(opened, "f", b"2")
    row = rows(desk, desk.finish(opened))[b"f"]

    assert row.delete
    assert row.appends == (Append(delete=True), Append(blockrefs=(ref(b"2"),)))


def test_pach_S9_the_diff_of_one_path_touches_no_other() -> None:
    desk = Desk(open_stage(cuts=Cuts(raggedness=2)))
    lake, repository = desk.where
    there = desk.start(branch="foo")
    for number in range(40):
        desk.put(there, f"f{number}", b"x")
    desk.finish(there)
    gone = desk.start(branch="foo")
    for number in range(0, 40, 2):
        desk.delete(gone, f"f{number}")
    made = desk.finish(gone)

    def looked(path: str | None) -> tuple[list[Diff], int]:
        """Give the rows, and how often files of the trees were read."""
        world, kept = lake.environment, desk.stage.storage
        counted = FaultyObjects(kept.objects, no_faults, world)
        snapshots = Snapshots(Files(counted, world), world, cuts=Cuts(raggedness=2))
        storage = Storage(counted, kept.addresses, snapshots)
        looking = Lake.of(lake.store, world, lambda _: storage)
        return list(diffs(looking, repository, made.id, path)), counted.calls

    found, reads = looked("f8")
    assert [(row.path, row.delete) for row in found] == [(b"f8", True)]
    assert reads * 3 < looked(None)[1]


def test_pach_S10_blockrefs_are_in_the_order_of_writes(desk: Desk) -> None:
    opened = desk.start(branch="foo")
    for body in (b"3", b"1", b"2"):
        desk.put(opened, "f", body)
    row = rows(desk, desk.finish(opened))[b"f"]
    assert row.appends[0].blockrefs == (ref(b"3"), ref(b"1"), ref(b"2"))


def test_pach_S10_pach_S11_directories_name_the_children_that_came_and_went(desk: Desk) -> None:
    first = desk.commit(branch="foo", a__b__c=b"1", a__d=b"2", e=b"3")
    assert {path: row.appends[0].children for path, row in rows(desk, first).items()} == {
        b"": {b"a": True, b"e": True},
        b"a": {b"b": True, b"d": True},
        b"a/b": {b"c": True},
        **{path: {} for path in (b"a/b/c", b"a/d", b"e")},
    }
    second = desk.commit(branch="foo", a__b=DELETE, a__f=b"4", e=b"5")
    found = rows(desk, second)
    assert found[b"a"].appends[0].children == {b"b": False, b"f": True}
    assert found[b"a/b"].appends[0].children == {b"c": False}
    assert b"" not in found


def test_pach_S8_pach_S11_a_file_that_becomes_a_directory_has_one_row(desk: Desk) -> None:
    desk.commit(branch="foo", a=b"1")
    there, back = desk.start(branch="foo"), b"3"
    desk.delete(there, "a")
    desk.put(there, "a/b", b"2")
    found = rows(desk, desk.finish(there))
    assert found[b""].appends[0].children == {b"a": True}
    assert found[b"a"].appends == (Append(delete=True), Append(children={b"b": True}))

    again = desk.start(branch="foo")
    desk.delete(again, "a")
    desk.put(again, "a", back)
    found = rows(desk, desk.finish(again))
    assert found[b""].appends[0].children == {b"a": True}
    row = found[b"a"]
    assert row.appends == (Append(children={b"b": False}), Append(blockrefs=(ref(back),)))
    assert row.size == 1


def test_pach_S12_the_size_of_a_diff_is_that_of_its_blocks(desk: Desk) -> None:
    desk.commit(branch="foo", f=b"123")
    made = desk.commit(branch="foo", f=b"45", g=b"")
    assert {path: row.size for path, row in rows(desk, made).items()} == {
        b"f": 2,
        b"g": 0,
        b"": 0,
    }


def test_an_object_put_whole_is_named_by_its_address(desk: Desk) -> None:
    entry = put_object(*desk.where, MAIN, ObjectKey(b"f"), b"whole")
    made = commit(*desk.where, MAIN, CommitRequest("ada", "x"))
    row = rows(desk, made)[b"f"]
    assert (row.appends[0].blockrefs, row.size, row.delete) == ((entry.address,), 5, False)


def test_an_object_over_a_directory_has_its_row(desk: Desk) -> None:
    for key in (b"a/b", b"a", b"z"):
        put_object(*desk.where, MAIN, ObjectKey(key), key)
        made = commit(*desk.where, MAIN, CommitRequest("ada", "x"))
        assert rows(desk, made)[key].size == len(key)


paths = st.sampled_from(["a", "a/b", "a/b/c", "a-b", "b", "b/c/d", "b/c/e"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.dictionaries(paths, st.booleans(), max_size=4), min_size=1, max_size=4))
def test_pach_P6_children_that_came_and_went_add_up_to_what_is_listed(
    steps: list[dict[str, bool]],
) -> None:
    desk, known = Desk(), dict[bytes, set[bytes]]()
    for step in steps:
        opened = desk.start(branch="foo")
        for path, is_put in step.items():
            desk.delete(opened, path)
            if is_put:
                for above in (path[:place] for place, mark in enumerate(path) if mark == "/"):
                    desk.delete(opened, above)
                desk.put(opened, path, b"x")
        made = desk.finish(opened)
        for row in rows(desk, made).values():
            for append in row.appends:
                for child, came in append.children.items():
                    known.setdefault(row.path, set())
                    (known[row.path].add if came else known[row.path].discard)(child)
        assert {path: names for path, names in known.items() if names} == shown(desk.files(made))


def shown(files: dict[str, bytes]) -> dict[bytes, set[bytes]]:
    """List every directory of some files."""
    found: dict[bytes, set[bytes]] = {}
    for path in files:
        parts = path.encode().split(b"/")
        for depth, name in enumerate(parts):
            found.setdefault(b"/".join(parts[:depth]), set()).add(name)
    return found


def test_pach_C10_list_commit_gives_what_branches_lead_to_parents_first(desk: Desk) -> None:
    first = desk.commit(branch="foo")
    desk.commit(parent=first.id, branch="bar")
    desk.commit(branch="foo")
    desk.put(desk.start(branch="foo"), "f", b"open")

    listed = [found.ID for found in list_commit(*desk.where, "foo")]
    assert listed == ["readings/foo/0", "readings/foo/1"]
    assert [found.ID for found in list_commit(*desk.where, "bar")] == [
        "readings/foo/0",
        "readings/bar/0",
    ]
    everything = [found.ID for found in list_commit(*desk.where)]
    assert sorted(everything) == sorted([*listed, "readings/bar/0", "readings/main/0"])
    with pytest.raises(NotFound):
        list_commit(*desk.where, "never")


def ids(found: object) -> list[str]:
    return [each.id for each in found]  # type: ignore[attr-defined]


def test_pach_H2_pach_H4_pach_H6_history_of_the_verbs(desk: Desk) -> None:
    c0, c1, c2 = (desk.commit(branch="foo") for _ in range(3))
    assert ids(history(*desk.where, c2.id, c0.id)) == [c1.id, c2.id]
    assert ids(history(*desk.where, "readings/foo/2")) == [c0.id, c1.id, c2.id]
    assert ids(history(*desk.where, c2.id, c2.id)) == []
    assert ids(history(*desk.where, c0.id, c2.id)) == []


def test_pach_H3_pach_H5_history_from_beside_is_a_difference(desk: Desk) -> None:
    c0 = desk.commit(branch="foo")
    c1 = desk.commit(branch="foo")
    side = desk.commit(parent=c0.id, branch="bar")
    assert ids(history(*desk.where, side.id, c1.id)) == [side.id]
    with pytest.raises(InvalidInput, match="is no ancestor"):
        history(*desk.where, side.id, c1.id, strict=True)
