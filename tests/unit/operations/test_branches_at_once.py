# SPDX-License-Identifier: Apache-2.0
"""Where the store compares several records with one write, a branch is made by that write alone.

The clock stands still, so that what a process has seen of the repository never grows old.
"""

from collections.abc import Mapping

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import (
    AlreadyExists,
    NotUnique,
    Refused,
    RepositoryDeleting,
    RepositoryNotFound,
    Unavailable,
    UnknownOutcome,
)
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.store import Place, Present
from lochan.model.ids import BranchName, CommitId, TagName
from lochan.operations.branches import create_branch, delete_branch
from lochan.operations.repositories import set_read_only
from lochan.operations.tags import create_tag
from lochan.refs.branches import list_branches
from lochan.refs.deletion import delete_repository
from lochan.refs.repositories import mark_deleting
from lochan.refs.tables import repositories
from support.lakes import MAIN, NAME, Stage, open_stage

DEV, NEW = BranchName("dev"), BranchName("new")


class StillClock(RealEnvironment):
    def monotonic(self) -> float:
        return 0.0


class Disturbed(MemoryStore):
    """Fails its conditional writes as told, before or after they take effect."""

    before: Exception | None = None
    after: Exception | None = None

    def set_if_all(
        self, partition: bytes, key: bytes, value: bytes, predicates: Mapping[Place, Present | None]
    ) -> None:
        if self.before:
            raise self.before
        super().set_if_all(partition, key, value, predicates)
        if self.after:
            raise self.after


def prepared() -> tuple[Stage, Disturbed, CommitId]:
    """Open a lake whose process has seen the repository and the commit."""
    store = Disturbed(StillClock())
    stage = open_stage(store, StillClock())
    head = stage.lake.branches.fresh(stage.repository, MAIN).record.commit_id
    create_branch(stage.lake, stage.repository, DEV, head)
    return stage, store, head


def names(stage: Stage) -> list[str]:
    return [branch.branch_id for branch in list_branches(stage.lake.tables(stage.repository))]


def test_rel_H14_a_read_only_repository_gains_no_branch_however_lately_it_was_seen() -> None:
    stage, _, head = prepared()
    set_read_only(stage.lake, stage.repository, read_only=True)
    with pytest.raises(Refused, match="is read-only"):
        create_branch(stage.lake, stage.repository, NEW, head)
    assert names(stage) == ["dev", "main"]
    create_branch(stage.lake.forcing(), stage.repository, NEW, head)
    set_read_only(stage.lake, stage.repository, read_only=False)
    create_branch(stage.lake, stage.repository, BranchName("newer"), head)
    assert names(stage) == ["dev", "main", "new", "newer"]


def test_rel_R17_a_deleted_repository_gains_no_branch_however_lately_it_was_seen() -> None:
    stage, store, head = prepared()
    table = repositories(store)
    mark_deleting(table, table.get(NAME.encode()))
    with pytest.raises(RepositoryDeleting):
        create_branch(stage.lake, stage.repository, NEW, head)
    assert names(stage) == ["dev", "main"]
    delete_repository(store, stage.lake.environment, NAME)
    with pytest.raises(RepositoryNotFound):
        create_branch(stage.lake, stage.repository, NEW, head)


def test_a_name_that_a_tag_a_commit_or_a_branch_has_is_refused() -> None:
    stage, _, head = prepared()
    record = stage.lake.tables(stage.repository).commits.get(head.encode()).record
    create_tag(stage.lake, stage.repository, TagName("new"), record)
    with pytest.raises(AlreadyExists, match="there is a tag 'new'"):
        create_branch(stage.lake, stage.repository, NEW, head)
    with pytest.raises(AlreadyExists, match="there is a commit"):
        create_branch(stage.lake, stage.repository, BranchName(head), head)
    with pytest.raises(NotUnique):
        create_branch(stage.lake, stage.repository, DEV, head)
    assert names(stage) == ["dev", "main"]


def test_rel_H15_a_creation_whose_answer_was_lost_is_judged_by_its_token() -> None:
    stage, store, head = prepared()
    store.after = UnknownOutcome("the answer was lost")
    made = create_branch(stage.lake, stage.repository, NEW, head)
    assert stage.lake.branches.fresh(stage.repository, NEW).record == made
    store.before = UnknownOutcome("the question was lost")
    with pytest.raises(UnknownOutcome):
        create_branch(stage.lake, stage.repository, NEW, head)
    store.before = Unavailable("nothing was written")
    with pytest.raises(Unavailable):
        create_branch(stage.lake, stage.repository, BranchName("newer"), head)
    assert names(stage) == ["dev", "main", "new"]


def test_rel_R8_a_branch_made_again_has_a_token_and_a_count_of_resets_of_its_own() -> None:
    stage, _, head = prepared()
    first = create_branch(stage.lake, stage.repository, NEW, head)
    delete_branch(stage.lake, stage.repository, NEW)
    second = create_branch(stage.lake, stage.repository, NEW, head)
    assert first.staging_token != second.staging_token
    assert first.resets != second.resets
