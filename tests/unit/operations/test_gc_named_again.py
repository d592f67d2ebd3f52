# SPDX-License-Identifier: Apache-2.0
"""What is dead is named by nobody again: every way by which somebody might try, and when."""

from collections.abc import Callable

import pytest

from lochan.errors import Gone, NotFound
from lochan.kernel.records import Records
from lochan.model.entry import addresses_of
from lochan.model.ids import EMPTY_TREE, BranchName, CommitId, MetaRangeId, ObjectKey
from lochan.model.instant import from_seconds
from lochan.model.records import Commit
from lochan.objects.store import ObjectStore
from lochan.operations import copy_object as copying
from lochan.operations.commit import CommitRequest, commit_tree
from lochan.operations.copy_object import Source, copy_object
from lochan.operations.gc import condemned as condemning
from lochan.operations.gc.collect import collect
from lochan.operations.gc.condemned import read_dead, write_condemned
from lochan.operations.gc.empty import empty_trash
from lochan.operations.gc.held import reusable
from lochan.operations.gc.mark import Told
from lochan.operations.open_commits.cancel_commit import cancel_commit
from lochan.operations.open_commits.finish_commit import finish_commit
from lochan.operations.open_commits.put_file import put_file
from lochan.operations.open_commits.start_commit import start_commit
from lochan.operations.publish import Chain
from lochan.operations.read_object import stat_committed
from lochan.operations.reference import commit_of
from lochan.operations.retention import set_gc_rules
from lochan.refs.cleaner import Cleaner
from lochan.refs.expired import require_kept
from lochan.refs.resolve import Resolved, resolve
from lochan.refs.tables import RepositoryTables
from support.collected_lake import (
    DAY,
    FORCED,
    GRACE,
    HOUR,
    Ground,
    expire,
    let_pass,
    long_dead,
)
from support.lakes import MAIN

Patch = pytest.MonkeyPatch
ME = CommitRequest("me", "again")
DEV = BranchName("dev")


@pytest.fixture
def ground() -> Ground:
    return Ground.open()


def once(what: str, work: Callable[[], object]) -> Told:
    """Work in the middle of a run, when it first tells of something."""
    waiting = [work]

    def told(said: str, _: int) -> None:
        if said == what and waiting:
            waiting.pop()()

    return told


def tree_of(ground: Ground, commit: CommitId) -> MetaRangeId:
    lake, repository = ground.where
    return lake.commits.tree(repository, commit)


@pytest.mark.parametrize("what", ["listed", "roots", "ranges", "moved"])
def test_the_tree_of_an_expired_commit_is_not_committed_while_a_run_removes_it(
    ground: Ground, what: str
) -> None:
    tree = tree_of(ground, expire(ground))
    ground.run()
    ground.wait(GRACE + 1)

    def commits() -> None:
        with pytest.raises(Gone, match="collected, or are about to be"):
            commit_tree(*ground.where, MAIN, tree, ME)

    assert collect(*ground.where, FORCED, once(what, commits)).moved > 0
    assert ground.read("k") == b"third"


def test_the_tree_of_an_expired_commit_is_not_committed_while_or_after_the_trash_is_emptied(
    ground: Ground,
) -> None:
    tree = tree_of(ground, expire(ground))
    ground.run_twice()
    ground.wait(GRACE + 1)

    def commits() -> None:
        with pytest.raises(Gone, match="collected, or are about to be"):
            commit_tree(*ground.where, MAIN, tree, ME)

    gone, back = empty_trash(*ground.where, None, once("ranges", commits))
    assert (gone.count, back.count) == (2, 0)
    commits()


def test_a_tree_that_was_never_committed_is_committed_while_its_objects_are_there(
    ground: Ground,
) -> None:
    lake, repository = ground.where
    snapshots = lake.storage(repository.storage_namespace).snapshots
    ground.put("k", b"first")
    first = ground.commit()
    ground.put("z", b"second")
    second = ground.commit()
    row = snapshots.get(second.meta_range_id, b"z")
    assert row is not None
    tree = snapshots.apply(EMPTY_TREE, [Records.of([row])]).id
    assert tree not in {first.meta_range_id, second.meta_range_id}
    ground.wait(3 * DAY)

    commit_tree(*ground.where, MAIN, tree, ME)
    assert ground.read("z") == b"second"


def test_a_tree_is_committed_whose_condemned_block_the_head_names_again(ground: Ground) -> None:
    lake, repository = ground.where
    snapshots = lake.storage(repository.storage_namespace).snapshots
    give_up(ground)
    ground.wait(GRACE + HOUR)
    assert ground.run().waiting.count == 1
    opened = start_commit(*ground.where, None, MAIN)
    put_file(*ground.where, opened.id, "f", b"block")
    head = finish_commit(*ground.where, opened.id).meta_range_id
    row = snapshots.get(head, b"f")
    assert row is not None
    tree = snapshots.apply(head, [Records.of([(b"g", row.identity, row.value)])]).id

    commit_tree(*ground.where, MAIN, tree, ME)
    assert ground.read("g") == b"block"


def give_up(ground: Ground) -> None:
    """Have a block that nobody names."""
    opened = start_commit(*ground.where, None, MAIN)
    put_file(*ground.where, opened.id, "f", b"block")
    cancel_commit(*ground.where, opened.id)


def file_of_blocks(ground: Ground) -> tuple[Commit, str]:
    """Have a commit with a file of one block, long behind."""
    set_gc_rules(*ground.where, 7, {})
    opened = start_commit(*ground.where, None, MAIN)
    put_file(*ground.where, opened.id, "f", b"block")
    made = finish_commit(*ground.where, opened.id)
    (address,) = addresses_of(stat_committed(*ground.where, made.id, ObjectKey(b"f")))
    ground.wait(1)
    ground.delete("f")
    ground.commit()
    let_pass(ground)
    cleaned(ground)
    return made, address


def cleaned(ground: Ground) -> None:
    """Have the records of finished commits go."""
    for _ in range(3):
        Cleaner(ground.stage.lake.store, ground.clock, grace_s=0).run()
        ground.wait(1)


def copies(ground: Ground, ref: str) -> None:
    copy_object(*ground.where, MAIN, ObjectKey(b"g"), Source(ref, ObjectKey(b"f")))


def test_a_file_of_blocks_is_not_copied_from_an_expired_commit(ground: Ground) -> None:
    old, address = file_of_blocks(ground)
    ground.run()
    ground.wait(GRACE + 1)

    def tries() -> None:
        with pytest.raises(Gone, match="older than the rules"):
            copies(ground, old.id)

    assert collect(*ground.where, FORCED, once("roots", tries)).moved == 1
    assert address not in ground.addresses()
    tries()


def test_a_copy_asks_for_the_commit_that_it_reads(ground: Ground, monkeypatch: Patch) -> None:
    """The ref leads to another commit, which is kept, when it is looked at once more."""
    old, _ = file_of_blocks(ground)
    ground.run_twice()
    refs = [f"{MAIN}~{number}" for number in range(1, 5)]
    (ref,) = [each for each in refs if commit_of(*ground.where, each).id == old.id]

    def late(tables: RepositoryTables, ref: str) -> Resolved:
        monkeypatch.undo()
        ground.commit(), ground.commit()
        found = resolve(tables, ref)
        require_kept(ground.stage.lake.store, ground.stage.repository, found.commit_id)
        return found

    monkeypatch.setattr(copying, "resolve", late)
    with pytest.raises(NotFound):
        copies(ground, ref)


def test_a_file_of_blocks_that_is_copied_before_its_commit_expires_stays(ground: Ground) -> None:
    old, address = file_of_blocks(ground)

    collect(*ground.where, FORCED, once("roots", lambda: copies(ground, old.id)))
    ground.wait(GRACE + 1)
    ground.run()
    assert address in ground.addresses()
    assert ground.read("g") == b"block"


def test_a_block_that_is_put_again_and_cancelled_while_it_is_published_stays(
    ground: Ground, monkeypatch: Patch
) -> None:
    """No run sees the block named between the two that find it dead."""
    set_gc_rules(*ground.where, 7, {})
    give_up(ground)
    ground.wait(GRACE + HOUR)
    assert ground.run().waiting.count == 1
    ground.wait(30 * HOUR)
    again = start_commit(*ground.where, None, MAIN)
    put_file(*ground.where, again.id, "f", b"block")
    ground.wait(47 * HOUR)
    publish = Chain.publish

    def late(chain: Chain, *given: object) -> object:
        monkeypatch.undo()
        cancel_commit(*ground.where, again.id)
        ground.wait(2 * HOUR)
        assert ground.run().moved == 0
        return publish(chain, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Chain, "publish", late)
    finish_commit(*ground.where, again.id)
    assert ground.read("f") == b"block"


def test_what_is_condemned_is_not_reusable_while_the_list_is_written_anew(
    ground: Ground, monkeypatch: Patch
) -> None:
    first = ground.put("k", b"first")
    ground.put("k", b"second")
    ground.wait(GRACE + HOUR)
    ground.run()

    def late(objects: ObjectStore, address: str) -> object:
        monkeypatch.undo()
        same = list(read_dead(objects, address))
        write_condemned(*ground.where, "next", from_seconds(ground.clock.time), same)
        return read_dead(objects, address)

    monkeypatch.setattr(condemning, "read_dead", late)
    assert reusable(*ground.where, [first.address]) == frozenset()


def test_a_list_of_the_condemned_that_somebody_cleared_away_condemns_nothing(
    ground: Ground,
) -> None:
    long_dead(ground)
    ground.run()
    ground.wait(GRACE + 1)
    ground.stage.storage.objects.delete(*ground.addresses("_lochan/gc/condemned/"))
    assert (ground.run().moved, ground.run().waiting.count) == (0, 1)


def test_a_commit_that_was_started_and_failed_keeps_nothing(ground: Ground) -> None:
    set_gc_rules(*ground.where, 7, {})
    entry = ground.put("x", b"x")
    ground.commit()
    cancel_commit(*ground.where, start_commit(*ground.where, None, MAIN).id)
    ground.delete("x")
    ground.commit()
    let_pass(ground)
    ground.run_twice()
    assert not ground.is_there(entry)
