# SPDX-License-Identifier: Apache-2.0
import pytest

from lochan.model.changes import Change, ChangeKind, Summary, change_between, summarize
from lochan.model.records import ValueRecord

OLD = ValueRecord(b"1", b"here")
MOVED = ValueRecord(b"1", b"there")
NEW = ValueRecord(b"2", b"here")


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        (None, NEW, ChangeKind.ADDED),
        (OLD, None, ChangeKind.REMOVED),
        (OLD, NEW, ChangeKind.CHANGED),
    ],
)
def test_a_change_is_read_from_left_to_right(
    left: ValueRecord | None, right: ValueRecord | None, kind: ChangeKind
) -> None:
    assert change_between(b"k", left, right) == Change(kind, b"k", left, right)


@pytest.mark.parametrize(("left", "right"), [(None, None), (OLD, OLD), (OLD, MOVED)])
def test_equal_identities_are_no_change(
    left: ValueRecord | None, right: ValueRecord | None
) -> None:
    assert change_between(b"k", left, right) is None


def test_a_summary_counts_keys_by_kind() -> None:
    kinds = ["added", "added", "removed", "changed", "conflict", "prefix_changed"]

    summary = summarize(Change(ChangeKind(kind), b"k") for kind in kinds)

    assert summary == Summary(added=2, removed=1, changed=1, conflict=1)
    assert summary.total == 5
