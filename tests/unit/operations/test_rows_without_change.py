# SPDX-License-Identifier: Apache-2.0
"""Staged rows that change nothing beside others that do, when something else moves the branch.

Over the new head such a row would be a change: it would hide what was brought, and the next commit
would undo it. Whoever stages it knows nothing of that: clients delete what is not there, and upload
again what is there.
"""

from collections.abc import Callable

import pytest

from lochan.model.ids import BranchName, ObjectKey
from lochan.model.instant import from_seconds
from lochan.model.records import Commit
from lochan.operations.advance import advance
from lochan.operations.allowed import Action
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.delete_objects import delete_objects
from lochan.operations.import_objects import ImportRequest, commit_imported
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.open_commits.finish_commit import finish_commit
from lochan.operations.open_commits.merge_commits import merge_commits
from lochan.operations.open_commits.put_file import Mode, put_file
from lochan.operations.open_commits.start_commit import start_commit
from lochan.operations.put_object import put_object
from lochan.operations.read_object import stat_object
from lochan.operations.request import Candidate, Said
from support.lakes import MAIN, Stage, open_stage

FIX = BranchName("fix")
OLD, NEW, DRAFT = ObjectKey(b"old"), ObjectKey(b"new"), ObjectKey(b"draft")


def brought(stage: Stage) -> Commit:
    """Commit other content of both keys on a branch beside."""
    head = stage.lake.branches.fresh(stage.repository, MAIN).record.commit_id
    create_branch(stage.lake, stage.repository, FIX, head)
    for key in (OLD, NEW):
        put_object(stage.lake, stage.repository, FIX, key, b"brought")
    return commit(stage.lake, stage.repository, FIX, CommitRequest("ada", "brought"))


def merged(stage: Stage) -> None:
    theirs = brought(stage)
    request = MergeRequest("ada", allow_dirty=True)
    merge(stage.lake, stage.repository, MAIN, theirs, request)


def finished(stage: Stage) -> None:
    opened = start_commit(stage.lake, stage.repository, branch=MAIN)
    for key in (OLD, NEW):
        put_file(
            stage.lake, stage.repository, opened.id, key.decode(), b"brought", mode=Mode.OVERWRITE
        )
    finish_commit(stage.lake, stage.repository, opened.id)


def squashed(stage: Stage) -> None:
    theirs = brought(stage)
    merge_commits(stage.lake, stage.repository, [theirs.id], branch=MAIN, squash=True)


def imported(stage: Stage) -> None:
    tree = brought(stage).meta_range_id
    commit_imported(stage.lake, stage.repository, MAIN, tree, ImportRequest("ada"))


def published(stage: Stage) -> None:
    """Publish as a job does."""
    tree = brought(stage).meta_range_id
    said = Said("ada", "job", {}, from_seconds(1))
    advance(
        stage.lake,
        stage.repository,
        MAIN,
        said,
        lambda _: Candidate(tree),
        action=Action.PUBLISH,
        allow_dirty=True,
    )


DOORS: dict[str, Callable[[Stage], None]] = {
    "merge": merged,
    "finish": finished,
    "squash": squashed,
    "import": imported,
    "publish": published,
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("drafted", [False, True])
def test_rel_G8_rows_that_change_nothing_undo_nothing_that_is_brought(
    door: str, *, drafted: bool
) -> None:
    stage = open_stage()
    put_object(stage.lake, stage.repository, MAIN, OLD, b"as it was")
    commit(stage.lake, stage.repository, MAIN, CommitRequest("ada", "first"))
    put_object(stage.lake, stage.repository, MAIN, OLD, b"as it was")
    delete_objects(stage.lake, stage.repository, MAIN, [NEW])
    if drafted:
        put_object(stage.lake, stage.repository, MAIN, DRAFT, b"a draft")

    DOORS[door](stage)

    def sizes(ref: str) -> list[int]:
        keys = (OLD, NEW, DRAFT) if drafted else (OLD, NEW)
        return [stat_object(stage.lake, stage.repository, ref, key).size for key in keys]

    shown = [len(b"brought")] * 2 + [len(b"a draft")] * drafted
    assert sizes(MAIN) == shown
    last = CommitRequest("ada", "last", allow_empty=True)
    assert sizes(commit(stage.lake, stage.repository, MAIN, last).id) == shown
