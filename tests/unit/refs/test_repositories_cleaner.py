# SPDX-License-Identifier: Apache-2.0
"""What the cleaner removes, what it leaves alone, and what it tells."""

import msgspec
import pytest

from lochan.errors import Conflict, Corruption, RepositoryNotFound, Unavailable
from lochan.faults import Fault
from lochan.kv.faulty import Call, Faulty, fail_nth
from lochan.kv.read import find
from lochan.kv.store import Store
from lochan.model.codec import decode_branch, encode_branch
from lochan.model.ids import BranchName, StagingToken, UniqueIdentifier
from lochan.model.instant import EPOCH, Instant
from lochan.model.keys import BRANCHES, CLEANUP, DELETED, GRAVELER, partition_of, token_partition
from lochan.model.records import Repository
from lochan.refs.cleaner import Cleaner
from lochan.refs.notes import DeletedNote, TokenNote, deleted_notes, note_deleted, note_tokens
from lochan.refs.notes import token_notes as notes_of_tokens
from lochan.refs.tables import RepositoryTables
from support.repository_life import (
    MAIN,
    NAME,
    OTHER,
    TurnedClock,
    World,
    every_call,
    fill,
    outcome,
    stage,
)


@pytest.fixture
def world() -> World:
    return World()


def forget_sealed_tokens(
    store: Store, clock: TurnedClock, repository: Repository
) -> tuple[StagingToken, ...]:
    """Do as a commit does: note the sealed tokens, then make the branch forget them."""
    branches = RepositoryTables.of(store, repository).branches
    stored = branches.get(MAIN.encode())
    sealed = stored.record.sealed_tokens
    note_tokens(store, clock, repository, MAIN, sealed)
    forgotten = msgspec.structs.replace(stored.record, sealed_tokens=())
    branches.set_if(MAIN.encode(), forgotten, stored.predicate)
    return sealed


def test_rel_R15_a_deleted_repository_goes_with_all_that_it_staged(world: World) -> None:
    fill(world, world.create())
    world.delete()
    assert len(world.partitions()) == 1 + 1 + 6
    world.cleaner().run()
    assert set(world.partitions()) == {DELETED, CLEANUP}
    world.clock.sleep(600)
    report = world.cleaner().run()
    assert world.partitions() == {}
    assert report.skipped == ()
    assert (report.done[DELETED], report.done[CLEANUP]) == (1, 6)


def test_rel_R15_the_note_about_tokens_comes_before_the_removal_of_their_branch(
    world: World,
) -> None:
    calls: list[tuple[str, bytes, bytes]] = []

    def plan(call: Call) -> Fault:
        calls.append((call.operation.removesuffix("_if"), call.partition, call.key))
        return Fault.OK

    repository = world.create()
    fill(world, repository)
    branch = RepositoryTables.of(world.store, repository).branches.get(MAIN.encode()).record
    world.delete()
    world.cleaner(through=world.failing(plan)).run()
    removal = calls.index(("delete", partition_of(repository), BRANCHES + MAIN.encode()))
    for token in (branch.staging_token, *branch.sealed_tokens):
        assert calls.index(("set", CLEANUP, token.encode())) < removal


def test_rel_R15_a_branch_that_changes_under_the_cleaner_leaks_no_token() -> None:
    def run(number: int) -> int:
        world = World()
        repository = world.create()
        fill(world, repository)
        world.delete()

        def commit_late() -> None:
            key = BRANCHES + MAIN.encode()
            found = find(world.store, partition_of(repository), key)
            if found is None:
                return
            token = StagingToken("lake-main:late")
            branch = decode_branch(found.value)
            moved = msgspec.structs.replace(branch, staging_token=token, sealed_tokens=())
            note_tokens(world.store, world.clock, repository, MAIN, branch.sealed_tokens)
            note_tokens(world.store, world.clock, repository, MAIN, [branch.staging_token])
            value = encode_branch(moved)
            world.store.set_if(partition_of(repository), key, value, found.predicate)
            stage(world, token)

        def plan(call: Call) -> Fault:
            if call.number == number:
                commit_late()
            return Fault.OK

        faulty = world.failing(plan)
        assert world.cleaner(through=faulty).run().skipped == ()
        world.clean_up()
        world.assert_nothing_but()
        return faulty.calls

    number = 1
    while run(number) >= number:
        number += 1
    assert number > 30


def test_rel_R15_a_deletion_that_stopped_after_its_mark_is_finished(world: World) -> None:
    fill(world, world.create())
    world.half_delete()
    report = world.cleaner().run()
    assert report.done[GRAVELER] == 1
    assert world.record() is None
    world.clean_up()
    world.assert_nothing_but()


@pytest.mark.parametrize(("age_s", "ended"), [(119.999, 0), (120, 1)])
def test_rel_R12_the_cleaner_gives_up_creations_of_two_minutes(
    age_s: float, ended: int, world: World
) -> None:
    world.abandon()
    world.clock.sleep(age_s)
    assert world.cleaner().run().done[GRAVELER] == ended
    assert (world.record() is None) == bool(ended)


def test_rel_R15_living_repositories_are_left_alone(world: World) -> None:
    repository = world.create()
    fill(world, repository)
    before = world.partitions()
    world.clock.sleep(1000)
    world.clean_up()
    assert world.partitions() == before


def test_rel_R15_a_living_repository_is_not_cleaned_even_if_it_is_noted(world: World) -> None:
    repository = world.create()
    fill(world, repository)
    note_deleted(world.store, world.clock, repository)
    before = world.partitions()
    (skipped,) = world.cleaner().run().skipped
    assert isinstance(skipped.error, Conflict)
    assert skipped.error.code == "living-repository"
    assert world.partitions() == before


def test_rel_R15_one_failure_is_skipped_and_told(world: World) -> None:
    """The keys of one dead repository cannot be removed; everything else is."""
    stuck = world.create()
    world.delete()
    world.create(OTHER)
    world.delete(OTHER)

    def plan(call: Call) -> Fault:
        held = call.partition == partition_of(stuck) and call.operation == "delete"
        return Fault.ERROR if held else Fault.OK

    cleaner = world.cleaner(through=world.failing(plan))
    cleaner.run()
    world.clock.sleep(600)
    report = cleaner.run()
    assert [(found.partition, found.key) for found in report.skipped] == [
        (DELETED, f"repo/lake/{stuck.unique_identifier}".encode())
    ]
    assert isinstance(report.skipped[0].error, Unavailable)
    assert set(world.partitions()) <= {DELETED, CLEANUP, partition_of(stuck)}
    world.clean_up()
    world.assert_nothing_but()


@pytest.mark.parametrize("partition", [GRAVELER, DELETED, CLEANUP])
def test_rel_R15_a_scan_that_fails_does_not_stop_the_others(partition: bytes, world: World) -> None:
    def plan(call: Call) -> Fault:
        scanning = call.operation in {"scan", "scan_next"} and call.partition == partition
        return Fault.ERROR if scanning else Fault.OK

    fill(world, world.create())
    world.delete()
    fill(world, world.create(OTHER))
    world.half_delete(OTHER)
    report = world.cleaner(through=world.failing(plan)).run()
    assert [found.partition for found in report.skipped] == [partition]
    world.clean_up()
    world.assert_nothing_but()


def test_damaged_records_are_told_and_nothing_else_is_held_up(world: World) -> None:
    world.store.set(GRAVELER, b"repos/aaa", b"\xff")
    world.store.set(DELETED, b"repo/aaa/1", b"{}")
    world.store.set(CLEANUP, b"aaa", b"not json")
    world.create()
    world.half_delete()
    report = world.cleaner().run()
    assert [found.partition for found in report.skipped] == [GRAVELER, DELETED, CLEANUP]
    assert all(isinstance(found.error, Corruption) for found in report.skipped)
    assert world.record() is None


def test_rel_H10_a_forgotten_token_is_wiped_and_swept_again_after_the_time_of_grace(
    world: World,
) -> None:
    repository = world.create()
    fill(world, repository)
    late, other = forget_sealed_tokens(world.store, world.clock, repository)
    world.cleaner().run()
    assert {token_partition(late), token_partition(other)}.isdisjoint(world.partitions())
    stage(world, late)
    world.clock.sleep(599.999)
    world.cleaner().run()
    stage(world, late)
    assert set(world.partitions()[CLEANUP]) == {late.encode(), other.encode()}
    world.clock.sleep(0.001)
    assert world.cleaner().run().done[CLEANUP] == 2
    world.assert_nothing_but(world.get())


def test_rel_H10_a_noted_token_that_its_branch_still_names_is_kept(world: World) -> None:
    """A committer wrote its note, and lost its compare-and-swap or died."""
    repository = world.create()
    fill(world, repository)
    branch = RepositoryTables.of(world.store, repository).branches.get(MAIN.encode()).record
    tokens = (branch.staging_token, *branch.sealed_tokens)
    note_tokens(world.store, world.clock, repository, MAIN, tokens)
    before = world.partitions()
    for _ in range(3):
        world.clock.sleep(1000)
        assert world.cleaner().run().skipped == ()
    assert world.partitions() == before


def test_rel_H10_the_branch_of_the_note_is_asked_and_no_other(world: World) -> None:
    """Tokens are never parsed: a note names the incarnation and the branch."""
    old = world.create()
    fill(world, old)
    world.delete()
    new = world.create()
    token = StagingToken("lake-main:odd")
    stage(world, token)
    stored = RepositoryTables.of(world.store, new).branches.get(MAIN.encode())
    named = msgspec.structs.replace(stored.record, staging_token=token)
    RepositoryTables.of(world.store, new).branches.set(MAIN.encode(), named)
    note_tokens(world.store, world.clock, new, MAIN, [token])
    world.clean_up()
    assert token_partition(token) in world.partitions()
    note_tokens(world.store, world.clock, new, BranchName("side"), [token])
    world.cleaner().run()
    assert token_partition(token) not in world.partitions()


def test_rel_H10_a_token_is_kept_when_its_branch_cannot_be_read(world: World) -> None:
    repository = world.create()
    fill(world, repository)
    sealed = forget_sealed_tokens(world.store, world.clock, repository)
    key = BRANCHES + MAIN.encode()

    def plan(call: Call) -> Fault:
        return Fault.ERROR if call.key == key else Fault.OK

    report = world.cleaner(through=world.failing(plan)).run()
    assert [found.key for found in report.skipped] == sorted(token.encode() for token in sealed)
    assert {token_partition(token) for token in sealed} <= set(world.partitions())


def test_rel_H10_a_crash_between_note_and_swap_neither_leaks_nor_destroys() -> None:
    def run(number: int) -> Faulty:
        world = World()
        repository = world.create()
        fill(world, repository)
        faulty = world.failing(fail_nth(number, Fault.CRASH_AFTER))
        outcome(lambda: forget_sealed_tokens(faulty, world.clock, repository))
        world.clean_up()
        branches = RepositoryTables.of(world.store, repository).branches
        for _, branch in branches.scan():
            for token in (branch.staging_token, *branch.sealed_tokens):
                assert token_partition(token) in world.partitions()
        if not branches.get(MAIN.encode()).record.sealed_tokens:
            world.assert_nothing_but(repository)
        return faulty

    assert every_call(run) == 4


@pytest.mark.parametrize("fault", [Fault.LOST_REQUEST, Fault.LOST_RESPONSE])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_rel_H10_a_lost_note_is_written_again(fault: Fault, number: int, world: World) -> None:
    repository = world.create()
    tokens = [StagingToken(f"lake-main:{letter}") for letter in "abc"]
    faulty = world.failing(fail_nth(number, fault))
    note_tokens(faulty, world.clock, repository, MAIN, iter(tokens))
    assert list(world.partitions()[CLEANUP]) == [token.encode() for token in tokens]


def test_a_renewed_note_is_not_removed_by_a_cleaner_at_its_end(world: World) -> None:
    repository = world.create()
    world.delete()
    world.cleaner().run()
    world.clock.sleep(600)

    def plan(call: Call) -> Fault:
        if call.operation.startswith("delete") and call.partition == DELETED:
            note_deleted(world.store, world.clock, repository)
        return Fault.OK

    world.cleaner(through=world.failing(plan)).run()
    assert len(world.partitions()[DELETED]) == 1


def test_a_note_dated_by_a_wrong_clock_is_dated_again(world: World) -> None:
    world.create()
    world.delete()
    world.clock.sleep(1e9)
    world.cleaner().run()
    world.clock.sleep(-1e9)
    world.clean_up()
    world.assert_nothing_but()


def test_notes_are_the_bytes_of_the_format_page(world: World) -> None:
    uid, one, two = UniqueIdentifier("5f"), Instant(1), Instant(2)
    deleted = DeletedNote(repository=NAME, unique_identifier=uid, time=one)
    token = TokenNote(repository=NAME, unique_identifier=uid, branch=MAIN, time=one, swept=two)
    deleted_notes(world.store).set(b"d", deleted)
    notes_of_tokens(world.store).set(b"t", token)
    same = b'{"repository":"lake","unique_identifier":"5f",'
    assert world.partitions() == {
        DELETED: {b"d": same + b'"time":1}'},
        CLEANUP: {b"t": same + b'"branch":"main","time":1,"swept":2}'},
    }
    assert deleted_notes(world.store).get(b"d").record == deleted
    assert notes_of_tokens(world.store).get(b"t").record == token


def test_a_run_that_is_told_to_stop_leaves_the_rest_to_another(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        world.create()
        world.delete()
    cleaner = Cleaner(world.store, world.clock)
    sweep = Cleaner._sweep_repository

    def stops(own: Cleaner, key: bytes, value: bytes) -> bool:
        cleaner.stop()
        return sweep(own, key, value)

    monkeypatch.setattr(Cleaner, "_sweep_repository", stops)
    cleaner.run()
    assert [note.swept for _, note in deleted_notes(world.store).scan()] == [EPOCH] * 3
    monkeypatch.undo()
    Cleaner(world.store, world.clock).run()
    assert EPOCH not in [note.swept for _, note in deleted_notes(world.store).scan()]


def test_rel_R17_a_deleted_repository_is_gone_with_the_next_call(world: World) -> None:
    world.create()
    world.get()
    world.delete()
    with pytest.raises(RepositoryNotFound):
        world.get()


def test_a_run_that_is_told_to_stop_leaves_the_rest_of_a_token_to_another(world: World) -> None:
    repository = world.create()
    token = StagingToken("lake-gone:1")
    world.store.set_many(token_partition(token), {b"key/%d" % number: b"" for number in range(9)})
    note_tokens(world.store, world.clock, repository, BranchName("gone"), [token])

    def plan(call: Call) -> Fault:
        if call.operation == "delete":
            cleaner.stop()
        return Fault.OK

    cleaner = world.cleaner(through=world.failing(plan))
    cleaner.run()
    assert len(world.partitions()[token_partition(token)]) == 8
    assert [note.swept for _, note in notes_of_tokens(world.store).scan()] == [EPOCH]
    world.clean_up()
    assert token_partition(token) not in world.partitions()
