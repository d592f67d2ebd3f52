# SPDX-License-Identifier: Apache-2.0
"""What long work holds is not collected, however long it takes; afterwards it is like all else."""

import pytest

from lochan.kernel.records import Records
from lochan.model.codec import encode_entry
from lochan.model.entry import Entry, identity
from lochan.model.ids import EMPTY_TREE
from lochan.model.instant import Instant, from_seconds
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.gc.expiry import HIDDEN
from lochan.operations.gc.held import hold, holds, let_go, reusable
from support.collected_lake import DAY, GRACE, Ground, expire, long_dead
from support.lakes import MAIN

LONG = 20 * DAY


@pytest.fixture
def ground() -> Ground:
    return Ground.open()


def now(ground: Ground) -> Instant:
    return from_seconds(ground.clock.now())


def written(ground: Ground) -> Entry:
    """Store an object that nothing names, as a job does."""
    storage = ground.stage.storage
    address = storage.addresses.new("k")
    storage.objects.put(address, b"body")
    return Entry(address=address, last_modified=now(ground), size=4, e_tag="00")


def test_rel_P4_what_an_open_job_has_written_survives_however_long_it_runs(ground: Ground) -> None:
    hold(*ground.where, "job", now(ground))
    made = written(ground)
    for _ in range(4):
        ground.wait(LONG)
        ground.run()
    assert ground.is_there(made)
    let_go(*ground.where, "job")
    assert ground.run_twice().moved == 1
    assert not ground.is_there(made)


def test_what_was_there_before_the_work_began_is_collected_meanwhile(ground: Ground) -> None:
    long_dead(ground)
    ground.wait(GRACE)
    hold(*ground.where, "job", now(ground))
    assert ground.run_twice().moved == 1


def test_the_earliest_of_several_counts_and_those_that_only_read_do_not(ground: Ground) -> None:
    hold(*ground.where, "first", now(ground))
    made = written(ground)
    ground.wait(LONG)
    hold(*ground.where, "second", now(ground))
    hold(*ground.where, "reader", commits=[])
    ground.run_twice()
    assert ground.is_there(made)
    let_go(*ground.where, "first")
    assert ground.run_twice().moved == 1
    assert len(holds(*ground.where)) == 2


def test_a_held_commit_outlives_the_rules_of_retention(ground: Ground) -> None:
    old = expire(ground)
    hold(*ground.where, "job", commits=[old])
    ground.run_twice()
    assert ground.read("k", old) == b"first"
    let_go(*ground.where, "job")
    assert ground.run_twice().moved == 1


def test_what_a_commit_hides_is_kept_for_as_long_as_the_commit(ground: Ground) -> None:
    made = written(ground)
    row = (b"k\0" + bytes(32), identity(made), encode_entry(made))
    tree = ground.stage.storage.snapshots.apply(EMPTY_TREE, [Records.of([row])]).id
    said = CommitRequest("me", "what", metadata={HIDDEN: tree}, allow_empty=True)
    commit(*ground.where, MAIN, said)
    ground.wait(LONG)
    ground.run_twice()
    assert ground.is_there(made)


def test_a_commit_that_names_no_tree_as_hidden_stops_nobody(ground: Ground) -> None:
    said = CommitRequest("me", "what", metadata={HIDDEN: "a" * 64}, allow_empty=True)
    commit(*ground.where, MAIN, said)
    long_dead(ground)
    assert ground.run_twice().moved == 1


def test_what_is_condemned_is_not_used_again_and_what_is_used_again_is_not_collected(
    ground: Ground,
) -> None:
    condemned = written(ground)
    ground.wait(GRACE + 1)
    ground.run()
    young = written(ground)
    ground.wait(GRACE - 1)
    addresses = [condemned.address, young.address]
    assert reusable(*ground.where, addresses) == {young.address}
    ground.wait(2)
    ground.run()
    ground.wait(GRACE + 1)
    ground.run()
    assert ground.is_there(young), "the log of copies has it"


def test_while_work_is_held_nothing_that_it_uses_again_is_forgotten(ground: Ground) -> None:
    used = written(ground)
    ground.wait(2 * GRACE)
    hold(*ground.where, "job", now(ground))
    reusable(*ground.where, [used.address])
    for _ in range(4):
        ground.wait(LONG)
        ground.run()
    assert ground.is_there(used)
    let_go(*ground.where, "job")
    ground.run()
    assert ground.run_twice().moved == 1
