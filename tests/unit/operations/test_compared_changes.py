# SPDX-License-Identifier: Apache-2.0
"""What a merge would bring, seen beforehand."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lochan.committed import Cuts
from lochan.model.changes import Change, ChangeKind
from lochan.model.ids import BranchName
from lochan.operations.branches import create_branch
from lochan.operations.diff import PageRequest, diff_compared
from lochan.operations.merge import MergeConflict, MergeRequest, merge
from support.branch_content import content, delete, put, record
from support.lakes import MAIN, Stage, open_stage

DEV = BranchName("dev")
TREE = st.dictionaries(
    st.sampled_from([b"a", b"b/1", b"b/2", b"c", b"d/e/f"]), st.binary(max_size=1)
)


def written(stage: Stage, branch: BranchName, tree: dict[bytes, bytes]) -> None:
    delete(stage, *(content(stage, branch).keys() - tree.keys()), branch=branch)
    for key, body in tree.items():
        put(stage, key, body, branch)
    record(stage, branch)


def compared(stage: Stage, page: PageRequest) -> list[Change]:
    found: list[Change] = []
    after = page.after
    while True:
        asked = PageRequest(page.prefix, after, page.delimiter, page.amount)
        part = diff_compared(stage.lake, stage.repository, "main", "dev", asked)
        found += part.changes
        if not part.has_more:
            return found
        after = part.changes[-1].key


def expected(base: bytes | None, ours: bytes | None, theirs: bytes | None) -> str | None:
    if theirs in (base, ours):
        return None
    if ours != base:
        return "conflict"
    return "added" if base is None else "removed" if theirs is None else "changed"


def conflicts(stage: Stage) -> set[bytes]:
    """Merge dev into main, and name what stood in the way."""
    try:
        merge(stage.lake, stage.repository, MAIN, record(stage, DEV), MergeRequest("ada"))
    except MergeConflict as conflict:
        return {each.key for each in conflict.keys}
    return set()


@settings(max_examples=40)
@given(TREE, TREE, TREE, st.integers(1, 4))
def test_what_a_merge_would_bring_is_told_before(
    base: dict[bytes, bytes], ours: dict[bytes, bytes], theirs: dict[bytes, bytes], amount: int
) -> None:
    stage = open_stage(cuts=Cuts(raggedness=2))
    written(stage, MAIN, base)
    create_branch(stage.lake, stage.repository, DEV, record(stage).id)
    written(stage, MAIN, ours)
    written(stage, DEV, theirs)
    told = {change.key: str(change.kind) for change in compared(stage, PageRequest(amount=amount))}
    keys = sorted({*base, *ours, *theirs})
    model = {key: expected(*(side.get(key) for side in (base, ours, theirs))) for key in keys}
    assert told == {key: kind for key, kind in model.items() if kind}
    folders = [each.key for each in compared(stage, PageRequest(delimiter=b"/", amount=amount))]
    assert folders == sorted({key.split(b"/")[0] + b"/" * (b"/" in key) for key in told})
    assert conflicts(stage) == {key for key, kind in told.items() if kind == "conflict"}


def test_a_change_that_both_sides_made_is_none() -> None:
    stage = open_stage()
    create_branch(stage.lake, stage.repository, DEV, record(stage).id)
    written(stage, MAIN, {b"a": b"1", b"b": b"2"})
    written(stage, DEV, {b"a": b"1", b"b": b"3"})
    assert [(each.key, each.kind) for each in compared(stage, PageRequest())] == [
        (b"b", ChangeKind.CONFLICT)
    ]
