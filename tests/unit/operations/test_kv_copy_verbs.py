# SPDX-License-Identifier: Apache-2.0
"""A copy of a lake beside every verb: what is acknowledged is copied, and no branch moves after it.

The whole copy falls between two calls of a verb, wherever these are, on a branch with staged and
sealed rows.
"""

from collections.abc import Callable
from contextlib import suppress

import pytest

from lochan.committed import Files, Snapshots
from lochan.errors import Refused
from lochan.faults import Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Faulty
from lochan.kv.store import Store
from lochan.model.ids import BranchName, CommitId
from lochan.model.records import OpenCommit
from lochan.objects.faulty import Call
from lochan.objects.faulty import Faulty as FaultyObjects
from lochan.operations.kv_copy import copy_lake
from lochan.operations.lake import Lake, Storage
from lochan.operations.list_objects import list_objects
from lochan.operations.open_commits.published import find_published
from lochan.refs.branches import list_branches
from lochan.refs.open_commits import State, open_commits, state_of
from lochan.refs.repositories import get_repository
from support.every_change import BEGINS, CLEAN, MOVES, WRITES, Ground, prepared_for
from support.kv_copies import WORLD, clone
from support.lakes import MAIN, NAME
from support.repository_life import at, every_call

BESIDE = {**WRITES, **MOVES, **CLEAN}


def begun(verb: str) -> tuple[Ground, MemoryStore]:
    """Open a lake for a verb, and the store that it is copied from."""
    store = MemoryStore(WORLD)
    return prepared_for(verb, store), store


def seen(ground: Ground, store: Store, storage: Storage | None = None) -> Ground:
    """Give the ground as a fresh process sees it in another store."""
    return ground.over(Lake.of(store, WORLD, lambda _: storage or ground.stage.storage))


def heads(ground: Ground) -> dict[BranchName, CommitId]:
    tables = ground.stage.lake.tables(ground.stage.repository)
    return {branch.branch_id: branch.commit_id for branch in list_branches(tables, hidden=True)}


def shown(ground: Ground) -> dict[str, object]:
    """Give what a lake shows of everything that a verb may change."""
    lake, repository = ground.where
    opened = [record for _, record in open_commits(lake.store, repository).scan()]
    return {
        "heads": heads(ground),
        "objects": list_objects(lake, repository, MAIN).items,
        "committed": list_objects(lake, repository, f"{MAIN}@").items,
        "came of": [find_published(lake, repository, each) for each in opened],
        "failed": [each.error for each in opened],
        "files": [
            list(lake.staging.scan(each.staging_token)) for each in opened if not each.finished
        ],
        "rules": get_repository(lake.store, WORLD, NAME).branch_protection,
    }


def is_open(opened: OpenCommit) -> bool:
    return state_of(opened) is State.OPEN


def is_done(verb: Callable[[Ground], object], ground: Ground) -> bool:
    with suppress(Refused):
        verb(ground)
        return True
    return False


@pytest.mark.parametrize("verb", BESIDE)
def test_a_verb_that_meets_the_copy_at_any_step_is_refused_or_copied(verb: str) -> None:
    ground, held = begun(verb)
    refused = 0

    def run(number: int) -> Faulty:
        nonlocal refused
        source, target = clone(held), MemoryStore(WORLD)
        copy = at(number, lambda: copy_lake(source, target, WORLD, settle_s=0))
        store = Faulty(source, copy, WORLD)
        done = is_done(BESIDE[verb], seen(ground, store))
        if store.calls >= number:
            left, right = seen(ground, source), seen(ground, target)
            assert heads(left) == heads(right)
            assert not done or shown(left) == shown(right)
            refused += not done
        return store

    every_call(run)
    assert refused > 1, "one of them was under way"


@pytest.mark.parametrize("verb", BEGINS)
def test_a_branch_whose_tree_is_being_built_as_the_copy_comes_is_not_begun(verb: str) -> None:
    """However long that takes: the copy waits for single writes alone."""
    ground, held = begun(verb)

    def run(number: int) -> FaultyObjects:
        source, target = clone(held), MemoryStore(WORLD)

        def plan(call: Call) -> Fault:
            if call.number == number:
                copy_lake(source, target, WORLD, settle_s=0)
            return Fault.OK

        objects = FaultyObjects(ground.stage.storage.objects, plan, WORLD)
        snapshots = Snapshots(Files(objects, WORLD), WORLD)
        storage = Storage(objects, ground.stage.storage.addresses, snapshots)
        done = is_done(BEGINS[verb], seen(ground, source, storage))
        assert done == (objects.calls < number)
        assert done or heads(seen(ground, source)) == heads(seen(ground, target))
        return objects

    number = 1
    while run(number).calls >= number:
        number += 1
    assert number > 1
