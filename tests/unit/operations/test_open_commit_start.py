# SPDX-License-Identifier: Apache-2.0
"""Where a started commit goes: every row of the table of StartCommit."""

import pytest
from msgspec.structs import replace

from lochan.errors import Conflict, InvalidInput, NotFound, Refused, RepositoryDeleting
from lochan.model.ids import BranchName, CommitId, TagName
from lochan.model.instant import EPOCH
from lochan.model.records import (
    BlockedAction,
    BranchProtectionRule,
    OpenCommit,
    Provenance,
    RepositoryState,
    Slot,
    Tag,
)
from lochan.operations.branches import create_branch, delete_branch
from lochan.operations.open_commits.cancel_commit import cancel_commit
from lochan.operations.open_commits.inspect_commit import inspect_commit
from lochan.operations.open_commits.list_commit import list_commit
from lochan.operations.open_commits.merge_commits import merge_commits
from lochan.operations.open_commits.start_commit import start_commit
from lochan.operations.reference import commit_of
from lochan.refs.tables import repositories
from support.open_commits import Desk


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_pach_start_commit_without_parent_and_branch_begins_a_root_on_a_fresh_branch(
    desk: Desk,
) -> None:
    one, other = desk.start(), desk.start()
    made = desk.finish(one)

    assert one.branch != other.branch
    assert desk.head(one.branch) == made
    assert (made.parents, [clock.commit for clock in made.clocks]) == ((), [0])


def test_pach_start_commit_pach_C1_on_a_new_name_begins_a_root(desk: Desk) -> None:
    made = desk.commit(branch="foo", f=b"x")
    assert (made.parents, [clock.commit for clock in made.clocks]) == ((), [0])
    assert inspect_commit(*desk.where, made.id).ID == "readings/foo/0"


def test_pach_start_commit_on_an_existing_name_goes_on_from_its_head(desk: Desk) -> None:
    first = desk.commit(branch="foo", f=b"x")
    made = desk.commit(branch="foo", g=b"y")

    assert made.parents == (first.id,)
    assert made.clocks == (first.clocks[0]._replace(commit=1),)


def test_pach_start_commit_pach_C3_behind_a_head_goes_on_the_heads_branch(desk: Desk) -> None:
    first = desk.commit(branch="foo", f=b"x")
    made = desk.commit(parent=first.id, g=b"y")
    assert desk.head("foo") == made
    assert made.clocks == (first.clocks[0]._replace(commit=1),)


def test_pach_start_commit_behind_a_commit_that_is_no_head_is_refused(desk: Desk) -> None:
    first = desk.commit(branch="foo", f=b"x")
    desk.commit(branch="foo", g=b"y")
    with pytest.raises(Conflict, match="is not the head of branch 'foo'") as told:
        desk.start(parent=first.id)
    assert told.value.code == "slot-taken"


def test_a_commit_whose_branch_is_gone_needs_another(desk: Desk) -> None:
    first = desk.commit(branch="foo", f=b"x")
    delete_branch(*desk.where, BranchName("foo"))
    with pytest.raises(Conflict, match="no branch goes on from"):
        desk.start(parent=first.id)
    assert desk.commit(parent=first.id, branch="bar").parents == (first.id,)


def test_pach_start_commit_pach_C2_behind_a_parent_on_a_new_name_forks(desk: Desk) -> None:
    first = desk.commit(branch="foo", f=b"x")
    desk.commit(branch="foo", g=b"y")
    made = desk.commit(parent=first.id, branch="bar", h=b"z")

    assert made.parents == (first.id,)
    assert made.clocks[:-1] == first.clocks
    assert made.clocks[-1].commit == 0
    assert desk.files(made) == {"f": b"x", "h": b"z"}


def test_pach_start_commit_behind_a_parent_on_an_existing_name_asks_for_its_head(
    desk: Desk,
) -> None:
    first = desk.commit(branch="foo", f=b"x")
    second = desk.commit(branch="foo", g=b"y")
    with pytest.raises(Conflict, match="is not the head"):
        desk.start(parent=first.id, branch="foo")
    assert desk.commit(parent=second.id, branch="foo").parents == (second.id,)


def test_a_branch_made_at_a_commit_begins_a_line_of_its_own(desk: Desk) -> None:
    first = desk.commit(branch="foo", f=b"x")
    create_branch(*desk.where, BranchName("bar"), first.id)
    made = desk.commit(branch="bar", f=b"y")
    assert made.clocks[:-1] == first.clocks
    entry = desk.commit(branch="bar", g=b"z")
    assert entry.clocks[-1].commit == 1


def test_pach_start_commit_of_unknown_things_is_not_found(desk: Desk) -> None:
    with pytest.raises(NotFound):
        desk.start(parent="0" * 64)
    with pytest.raises(NotFound):
        desk.start(parent="readings/foo/0")
    with pytest.raises(InvalidInput, match="another repository"):
        desk.start(parent="others/main/0")


def test_pach_start_commit_in_a_repository_that_goes_is_refused(desk: Desk) -> None:
    lake, repository = desk.where
    opened = desk.start(branch="main")
    gone = replace(repository, repository_state=RepositoryState.DELETING)
    repositories(lake.store).set(repository.repository_id.encode(), gone)
    with pytest.raises(RepositoryDeleting):
        desk.start(branch="main")
    with pytest.raises(RepositoryDeleting):
        desk.put(opened, "f", b"x")


def test_a_protected_branch_takes_no_started_commits(desk: Desk) -> None:
    lake, repository = desk.where
    rule = BranchProtectionRule("main", (BlockedAction.COMMIT,))
    ruled = replace(repository, branch_protection=(rule,))
    repositories(lake.store).set(repository.repository_id.encode(), ruled)
    with pytest.raises(Refused):
        desk.start(branch="main")


def test_pach_F5_an_open_commit_is_nobodys_parent(desk: Desk) -> None:
    opened = desk.start(branch="foo")
    with pytest.raises(Conflict, match="is open; it must be finished first"):
        desk.start(parent=opened.id)


def test_pach_F5_an_open_commit_is_refused_wherever_something_goes_on_from_a_commit(
    desk: Desk,
) -> None:
    made, opened = desk.commit(branch="main", f=b"1"), desk.start(branch="foo")
    desk.put(opened, "g", b"2")
    before = desk.head()
    for use in (
        lambda: desk.start(parent=opened.id, branch="new"),
        lambda: desk.start(parent=opened.id, branch="main"),
        lambda: merge_commits(*desk.where, [opened.id], None, "main"),
        lambda: merge_commits(*desk.where, [made.id, opened.id], None, "main", squash=True),
        lambda: merge_commits(*desk.where, [made.id], opened.id, "new"),
    ):
        with pytest.raises(Conflict, match="is open; it must be finished first") as no:
            use()
        assert no.value.code == "commit-not-finished"
    with pytest.raises(NotFound):  # what makes branches and tags, moves, reverts and picks asks so
        commit_of(*desk.where, opened.id)
    assert desk.head() == before


def test_pach_F4_what_is_not_finished_is_no_provenance(desk: Desk) -> None:
    made, opened, failed, done = (desk.start(branch=name) for name in ("a", "b", "c", "d"))
    finished, became = desk.finish(made), desk.finish(done)
    cancel_commit(*desk.where, failed.id)

    def start(named: str) -> OpenCommit:
        source = Provenance(repository_id=desk.where[1].repository_id, commit_id=CommitId(named))
        return start_commit(*desk.where, None, "work", provenance=[source])

    for named, told in (
        (opened.id, "is open; it must be finished first"),
        (failed.id, "is failed; it must be finished first"),
        (done.id, f"is finished; name {became.id}, which it became"),
    ):
        with pytest.raises(InvalidInput, match=f"input {named} in 'readings' .*{told}") as no:
            start(named)
        assert no.value.code == "provenance-not-finished"
    assert desk.finish(start(finished.id)).provenance[0].commit_id == finished.id


def test_pach_S6_an_open_commit_has_no_time_of_finishing_and_is_seen_by_its_id_alone(
    desk: Desk,
) -> None:
    opened = desk.start(branch="main")
    found = inspect_commit(*desk.where, opened.id)

    assert (found.finished, found.clocks, found.id) == (EPOCH, (), "")
    assert found.started == opened.started > EPOCH
    assert [each.ID for each in list_commit(*desk.where)] == ["readings/main/0"]


def test_pach_start_commit_resets_what_belongs_to_the_parent(desk: Desk) -> None:
    first = desk.commit(branch="foo", f=b"x")
    opened = desk.start(parent=first.id)
    second = desk.finish(opened)
    assert second.id != first.id
    assert second.started == opened.started > first.started
    assert second.finished > first.finished


def test_rel_P2_pach_C11_of_two_for_one_place_exactly_one_wins(desk: Desk) -> None:
    first = desk.commit(branch="foo", f=b"x")
    one, other = desk.start(parent=first.id), desk.start(parent=first.id)
    assert (one.slot, other.slot) == (Slot.CONTINUES, Slot.CONTINUES)
    won = desk.finish(other)
    with pytest.raises(Conflict) as told:
        desk.finish(one)
    assert told.value.code == "slot-taken"
    assert desk.head("foo") == won


def test_rel_P2_two_that_begin_one_branch_never_share_a_clock(desk: Desk) -> None:
    one, other = desk.start(branch="foo"), desk.start(branch="foo")
    won = desk.finish(one)
    with pytest.raises(Conflict, match="was made meanwhile"):
        desk.finish(other)
    assert desk.head("foo") == won


def test_rel_P2_two_that_follow_a_branch_both_get_a_place(desk: Desk) -> None:
    one, other = desk.start(branch="main"), desk.start(branch="main")
    desk.put(one, "f", b"1")
    desk.put(other, "f", b"2")
    second, third = desk.finish(other), desk.finish(one)

    assert third.parents == (second.id,)
    assert [c.clocks[-1].commit for c in (second, third)] == [1, 2]
    assert desk.read("f", third) == b"21"


def test_pach_start_commit_that_is_never_finished_is_in_nobodys_way(desk: Desk) -> None:
    first = desk.commit(branch="foo", f=b"x")
    desk.put(desk.start(parent=first.id), "g", b"abandoned")
    made = desk.commit(parent=first.id, g=b"kept")
    assert desk.files(made) == {"f": b"x", "g": b"kept"}


def test_a_tag_can_be_a_parent_and_not_a_new_branch(desk: Desk) -> None:
    lake, repository = desk.where
    first = desk.commit(branch="foo", f=b"x")
    lake.tables(repository).tags.set(b"v1", Tag(tag_id=TagName("v1"), commit_id=first.id))
    assert desk.commit(parent="v1", branch="bar").parents == (first.id,)
