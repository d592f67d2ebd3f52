# SPDX-License-Identifier: Apache-2.0
import msgspec
import pytest

from lochan.errors import AlreadyExists, Conflict, NotFound, NotUnique, UnknownOutcome
from lochan.faults import Delay, Fault
from lochan.kv.faulty import Call, Plan
from lochan.model.ids import BranchName, CommitId, StagingToken
from lochan.model.records import Branch
from lochan.refs.branches import (
    create_branch,
    delete_branch,
    get_branch,
    list_branches,
    list_branches_by_commit,
)
from lochan.refs.seek import following
from lochan.refs.tables import RepositoryTables
from support.histories import (
    assert_every_failure_is_raised,
    branch_of,
    commit_of,
    faulty,
    new_tables,
    put_tag,
)

MAIN = BranchName("main")


@pytest.fixture
def tables() -> RepositoryTables:
    return new_tables()


def fail_every(operation: str, fault: Fault) -> Plan:
    def plan(call: Call) -> Fault | Delay:
        return fault if call.operation == operation else Fault.OK

    return plan


def fail_first(operation: str, fault: Fault) -> Plan:
    waiting = [fault]

    def plan(call: Call) -> Fault | Delay:
        return waiting.pop() if waiting and call.operation == operation else Fault.OK

    return plan


def test_a_branch_that_was_created_is_read_back(tables: RepositoryTables) -> None:
    create_branch(tables, branch_of("main", "c1"))
    assert get_branch(tables, MAIN).record == branch_of("main", "c1")


def test_a_branch_that_is_not_there_is_not_found(tables: RepositoryTables) -> None:
    with pytest.raises(NotFound) as missing:
        get_branch(tables, MAIN)
    assert missing.value.code == "branch-not-found"


def test_a_second_branch_of_a_name_is_not_unique(tables: RepositoryTables) -> None:
    create_branch(tables, branch_of("main", "c1"))
    with pytest.raises(NotUnique):
        create_branch(tables, branch_of("main", "c2", "other"))
    assert get_branch(tables, MAIN).record.commit_id == "c1"


def test_a_branch_takes_no_name_of_a_tag_or_commit(tables: RepositoryTables) -> None:
    commit = commit_of("a")
    tables.commits.set(commit.id.encode(), commit)
    put_tag(tables, "v1", commit)
    for name in ("v1", commit.id):
        with pytest.raises(AlreadyExists) as taken:
            create_branch(tables, branch_of(name, commit))
        assert not isinstance(taken.value, NotUnique)
    assert list(list_branches(tables, hidden=True)) == []


def test_rel_H15_a_lost_answer_to_a_create_that_landed_is_success(tables: RepositoryTables) -> None:
    broken = faulty(tables, fail_first("set_if", Fault.LOST_RESPONSE))
    create_branch(broken, branch_of("main", "c1"))
    assert get_branch(tables, MAIN).record.commit_id == "c1"


def test_rel_H15_a_lost_create_stays_unknown(tables: RepositoryTables) -> None:
    with pytest.raises(UnknownOutcome):
        create_branch(faulty(tables, fail_first("set_if", Fault.LOST_REQUEST)), branch_of("main"))
    assert tables.branches.find(b"main") is None


def test_rel_H15_a_lost_create_beside_another_branch_is_not_taken_for_ours(
    tables: RepositoryTables,
) -> None:
    create_branch(tables, branch_of("main", "c1", "theirs"))
    broken = faulty(tables, fail_first("set_if", Fault.LOST_RESPONSE))
    with pytest.raises(UnknownOutcome):
        create_branch(broken, branch_of("main", "c1", "ours"))


def test_rel_H15_a_create_is_known_by_its_token_after_others_sealed_it(
    tables: RepositoryTables,
) -> None:
    ours = branch_of("main", "c1", "ours")
    sealed = msgspec.structs.replace(
        ours, staging_token=StagingToken("next"), sealed_tokens=(ours.staging_token,)
    )

    def seal_meanwhile(call: Call) -> Fault | Delay:
        if call.operation == "get" and tables.branches.find(b"main") is not None:
            tables.branches.set(b"main", sealed)
        return Fault.LOST_RESPONSE if call.operation == "set_if" else Fault.OK

    create_branch(faulty(tables, seal_meanwhile), ours)
    assert get_branch(tables, MAIN).record == sealed


def test_a_branch_that_was_deleted_is_gone(tables: RepositoryTables) -> None:
    create_branch(tables, branch_of("main"))
    stored = get_branch(tables, MAIN)
    delete_branch(tables, stored)
    assert tables.branches.find(b"main") is None
    with pytest.raises(NotFound):
        delete_branch(tables, stored)


def test_rel_H18_a_late_delete_spares_a_branch_that_was_made_again(
    tables: RepositoryTables,
) -> None:
    create_branch(tables, branch_of("main", "c1", "first"))
    late = get_branch(tables, MAIN)
    delete_branch(tables, get_branch(tables, MAIN))
    create_branch(tables, branch_of("main", "c1", "second"))
    with pytest.raises(Conflict):
        delete_branch(tables, late)
    assert get_branch(tables, MAIN).record.staging_token == "second"


def test_rel_H18_a_delete_spares_a_branch_that_moved_since_it_was_read(
    tables: RepositoryTables,
) -> None:
    create_branch(tables, branch_of("main", "c1"))
    stored = get_branch(tables, MAIN)
    moved = msgspec.structs.replace(stored.record, commit_id=CommitId("c2"))
    tables.branches.set(b"main", moved)
    with pytest.raises(Conflict) as changed:
        delete_branch(tables, stored)
    assert changed.value.code == "branch-changed"
    assert get_branch(tables, MAIN).record == moved


@pytest.mark.parametrize("fault", [Fault.LOST_REQUEST, Fault.LOST_RESPONSE])
def test_rel_H15_a_delete_whose_answer_was_lost_ends_with_the_branch_gone(
    tables: RepositoryTables, fault: Fault
) -> None:
    create_branch(tables, branch_of("main"))
    delete_branch(faulty(tables, fail_first("delete_if", fault)), get_branch(tables, MAIN))
    assert tables.branches.find(b"main") is None


def test_rel_H15_a_delete_that_never_gets_through_stays_unknown(tables: RepositoryTables) -> None:
    create_branch(tables, branch_of("main"))
    with pytest.raises(UnknownOutcome):
        delete_branch(
            faulty(tables, fail_every("delete_if", Fault.LOST_REQUEST)), get_branch(tables, MAIN)
        )
    assert tables.branches.find(b"main") is not None


@pytest.mark.parametrize(
    ("now", "error"),
    [
        (branch_of("main", "c2", "lake-main:1"), Conflict),
        (branch_of("main", "c1", "another"), UnknownOutcome),
    ],
)
def test_rel_H15_a_lost_delete_judges_a_changed_record_by_its_token(
    tables: RepositoryTables, now: Branch, error: type[Exception]
) -> None:
    create_branch(tables, branch_of("main", "c1"))
    stored = get_branch(tables, MAIN)
    tables.branches.set(b"main", now)
    with pytest.raises(error):
        delete_branch(faulty(tables, fail_every("delete_if", Fault.LOST_RESPONSE)), stored)
    assert get_branch(tables, MAIN).record == now


@pytest.fixture
def listed(tables: RepositoryTables) -> RepositoryTables:
    for name, commit, hidden in [
        ("b", "c1", False),
        ("a", "c3", False),
        ("d", "c1", False),
        ("c", "c2", True),
    ]:
        create_branch(tables, branch_of(name, commit, hidden=hidden))
    tables.branches.store.set(tables.branches.partition, b"branches0", b"beyond the prefix")
    return tables


def names(branches: object) -> list[str]:
    assert hasattr(branches, "__iter__")
    return [branch.branch_id for branch in branches]


def test_branches_are_listed_by_name_without_hidden_ones(listed: RepositoryTables) -> None:
    assert names(list_branches(listed)) == ["a", "b", "d"]
    assert names(list_branches(listed, hidden=True)) == ["a", "b", "c", "d"]


def test_branches_are_sought_by_name(listed: RepositoryTables) -> None:
    assert names(list_branches(listed, "b")) == ["b", "d"]
    assert names(list_branches(listed, following("b"))) == ["d"]
    assert names(list_branches(listed, "bb", hidden=True)) == ["c", "d"]
    assert names(list_branches(listed, "e")) == []


def test_branches_are_listed_by_commit_id_then_name(listed: RepositoryTables) -> None:
    assert names(list_branches_by_commit(listed)) == ["b", "d", "a"]
    assert names(list_branches_by_commit(listed, hidden=True)) == ["b", "d", "c", "a"]


def test_branches_are_sought_by_commit_id(listed: RepositoryTables) -> None:
    assert names(list_branches_by_commit(listed, "c1")) == ["b", "d", "a"]
    assert names(list_branches_by_commit(listed, "c2")) == ["a"]
    assert names(list_branches_by_commit(listed, "c2", hidden=True)) == ["c", "a"]
    assert names(list_branches_by_commit(listed, "c4")) == []


def test_rel_H9_a_failing_scan_of_branches_is_never_its_end(listed: RepositoryTables) -> None:
    assert_every_failure_is_raised(listed, lambda tables: list(list_branches(tables)))
    assert_every_failure_is_raised(listed, lambda tables: list(list_branches_by_commit(tables)))
    assert_every_failure_is_raised(listed, lambda tables: get_branch(tables, BranchName("a")))
