# SPDX-License-Identifier: Apache-2.0
"""Whatever fails, and whoever else is at work: what create and delete answer is what is stored."""

from itertools import count

import pytest

from lochan.errors import Conflict, LochanError, NotFound, NotUnique, Unavailable, UnknownOutcome
from lochan.faults import Crashed, Delay, Fault
from lochan.kv.faulty import Call, Faulty, fail_nth
from lochan.model.ids import BranchName, CommitId, TagName
from lochan.model.records import Tag
from lochan.refs.branches import create_branch, delete_branch, get_branch
from lochan.refs.tables import RepositoryTables
from lochan.refs.tags import create_tag, delete_tag, get_tag
from support.histories import ENVIRONMENT, branch_of, faulty, new_tables, tables_of

MAIN = BranchName("main")
FAULTS = [fault for fault in Fault if fault not in {Fault.OK, Fault.ZOMBIE}]
THREADS = 8


def attempt(work: object, *arguments: object) -> type[BaseException] | None:
    assert callable(work)
    try:
        work(*arguments)
    except (LochanError, Crashed) as error:
        return type(error)
    return None


def is_there(tables: RepositoryTables) -> bool:
    return tables.branches.find(b"main") is not None


@pytest.mark.parametrize("fault", FAULTS)
def test_rel_H15_create_answers_truly_whichever_call_fails(fault: Fault) -> None:
    for number in count(1):
        tables = new_tables()
        broken = Faulty(tables.branches.store, fail_nth(number, fault), ENVIRONMENT)
        answer = attempt(create_branch, tables_of(broken), branch_of("main"))
        if answer is None:
            assert is_there(tables)
        if answer is Unavailable:
            assert not is_there(tables)
        assert answer in {None, Unavailable, UnknownOutcome, Crashed}
        if broken.calls < number:
            break


@pytest.mark.parametrize("fault", FAULTS)
def test_rel_H15_delete_answers_truly_whichever_call_fails(fault: Fault) -> None:
    for number in count(1):
        tables = new_tables()
        create_branch(tables, branch_of("main"))
        stored = get_branch(tables, MAIN)
        broken = Faulty(tables.branches.store, fail_nth(number, fault), ENVIRONMENT)
        answer = attempt(delete_branch, tables_of(broken), stored)
        if answer is None:
            assert not is_there(tables)
        if answer is Unavailable:
            assert is_there(tables)
        assert answer in {None, Unavailable, UnknownOutcome, Crashed}
        if broken.calls < number:
            break


@pytest.mark.parametrize("operation", ["set_if", "delete_if"])
def test_rel_H15_a_store_that_dies_after_a_lost_answer_leaves_the_outcome_unknown(
    operation: str,
) -> None:
    lost: list[Call] = []

    def lose_one_and_die(call: Call) -> Fault | Delay:
        if lost:
            return Fault.ERROR
        if call.operation == operation:
            lost.append(call)
            return Fault.LOST_RESPONSE
        return Fault.OK

    def create_and_delete(tables: RepositoryTables) -> None:
        create_branch(tables, branch_of("main"))
        delete_branch(tables, get_branch(tables, MAIN))

    def tag_and_untag(tables: RepositoryTables) -> None:
        create_tag(tables, Tag(tag_id=TagName("v1"), commit_id=CommitId("c1")))
        delete_tag(tables, get_tag(tables, TagName("v1")))

    for work in (create_and_delete, tag_and_untag):
        lost.clear()
        assert attempt(work, faulty(new_tables(), lose_one_and_die)) is UnknownOutcome


def test_one_of_many_creators_wins_and_the_others_hear_of_it() -> None:
    tables = new_tables()
    made = [branch_of("main", token=f"token-{number}") for number in range(THREADS)]
    with ENVIRONMENT.executor(THREADS) as pool:
        answers = list(pool.map(lambda branch: attempt(create_branch, tables, branch), made))
    assert sorted(answers, key=str) == sorted([None] + [NotUnique] * (THREADS - 1), key=str)
    assert get_branch(tables, MAIN).record == made[answers.index(None)]


def test_one_of_many_deleters_wins_and_the_others_hear_of_it() -> None:
    tables = new_tables()
    create_branch(tables, branch_of("main"))
    stored = get_branch(tables, MAIN)
    with ENVIRONMENT.executor(THREADS) as pool:
        answers = list(pool.map(lambda _: attempt(delete_branch, tables, stored), range(THREADS)))
    assert answers.count(None) == 1
    assert set(answers) <= {None, NotFound, Conflict}
    assert not is_there(tables)
