# SPDX-License-Identifier: Apache-2.0
"""What differs, page by page: between two refs, since two refs parted, or on a branch uncommitted.

    two dots      left's commit against right's
    three dots    their merge base against right's commit: what right changed since they parted
    compared      three dots, held against left: what left has too is no change, and what left has
                  changed otherwise is a conflict; it is what merging right into left would meet
    uncommitted   the head's tree against what the branch shows

Refs stand for commits here, but for branch$ on the right of two dots, which is what the branch
shows; what is staged on a branch alone is asked for by `diff_uncommitted`. With a delimiter,
changes below a common prefix are one item of kind prefix_changed, and are jumped over. A page that
cannot be read whole is an error (H9).
"""

from dataclasses import dataclass

from lochan.committed.interval import after_prefix
from lochan.committed.listing import Prefix, Walk, list_records
from lochan.errors import InvalidInput
from lochan.model.changes import Change, ChangeKind
from lochan.model.ids import BranchName, MetaRangeId
from lochan.model.records import Branch, Commit, Repository
from lochan.operations.compared_changes import ComparedChanges
from lochan.operations.lake import Lake
from lochan.operations.reference import commit_of, committed
from lochan.operations.tree_changes import TreeChanges
from lochan.operations.uncommitted_changes import UncommittedChanges
from lochan.operations.view import read_stably
from lochan.refs.clock_index import ClockIndex
from lochan.refs.expression import Sign
from lochan.refs.kinship import Kinship
from lochan.refs.resolve import resolve

MOST = 1000  # items a page


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which changes are wanted: under `prefix`, behind `after`, at most `amount` items."""

    prefix: bytes = b""
    after: bytes = b""
    delimiter: bytes = b""
    amount: int = MOST


@dataclass(frozen=True, slots=True)
class DiffPage:
    """Some changes in key order, and whether more may follow behind the last."""

    changes: tuple[Change, ...]
    has_more: bool


FIRST_PAGE = PageRequest()


def diff_two_dot(
    lake: Lake, repository: Repository, left: str, right: str, page: PageRequest = FIRST_PAGE
) -> DiffPage:
    """Compare the commits of two refs: what makes left's content right's."""
    before = lake.commits.tree(repository, committed(lake, repository, left))
    found = resolve(lake.tables(repository), right)
    if found.branch is not None and found.view is Sign.STAGED:
        return _shown_by(lake, repository, found.branch.branch_id, page, before)
    trees = (before, lake.commits.tree(repository, found.commit_id))
    return _gather(_between(lake, repository, trees, page), page)


def diff_three_dot(
    lake: Lake, repository: Repository, left: str, right: str, page: PageRequest = FIRST_PAGE
) -> DiffPage:
    """Give what right changed since it parted from left: what a merge would bring.

    Raises: InvalidInput when the two have no common ancestor; Conflict for a commit that was never
    published.
    """
    parted = merge_base(lake, repository, left, right)
    trees = (parted.base.meta_range_id, parted.right.meta_range_id)
    return _gather(_between(lake, repository, trees, page), page)


def diff_compared(
    lake: Lake, repository: Repository, left: str, right: str, page: PageRequest = FIRST_PAGE
) -> DiffPage:
    """Give what merging right into left would bring, and where it would meet a conflict.

    Raises: as `diff_three_dot`.
    """
    parted = merge_base(lake, repository, left, right)
    trees = (parted.base.meta_range_id, parted.right.meta_range_id)
    theirs = _between(lake, repository, trees, page)
    snapshots = lake.storage(repository.storage_namespace).snapshots
    return _gather(ComparedChanges(theirs, snapshots, parted.left.meta_range_id), page)


def diff_uncommitted(
    lake: Lake, repository: Repository, branch: BranchName, page: PageRequest = FIRST_PAGE
) -> DiffPage:
    """Compare what a branch shows with its head. Raises NotFound for the branch.

    Writes of what the head holds already, and deletions of what it lacks, are no changes.
    """
    return _shown_by(lake, repository, branch, page)


@dataclass(frozen=True, slots=True)
class Parted:
    """Two commits, and the one where they parted."""

    left: Commit
    right: Commit
    base: Commit


def merge_base(lake: Lake, repository: Repository, left: str, right: str) -> Parted:
    """Find where two refs parted: their best common ancestor.

    Raises: InvalidInput, code no-merge-base; Conflict for a commit that was never published.
    """
    ours, theirs = commit_of(lake, repository, left), commit_of(lake, repository, right)
    for commit in (ours, theirs):
        ClockIndex.of(lake.store, repository).require_published(commit)
    base = Kinship.of(lake.store, repository).merge_base(ours, theirs)
    if base is None:
        message = f"{left!r} and {right!r} have no common ancestor; use two dots"
        raise InvalidInput(message, code="no-merge-base")
    return Parted(ours, theirs, base)


def _shown_by(
    lake: Lake,
    repository: Repository,
    branch: BranchName,
    page: PageRequest,
    against: MetaRangeId | None = None,
) -> DiffPage:
    """Compare what a branch shows with a tree, its head's if none is given."""

    def gather(record: Branch) -> DiffPage:
        stop = after_prefix(page.prefix)
        return _gather(UncommittedChanges(lake, repository, record, stop, against=against), page)

    return read_stably(lake, repository, branch, gather)


def _between(
    lake: Lake, repository: Repository, trees: tuple[MetaRangeId, MetaRangeId], page: PageRequest
) -> TreeChanges:
    snapshots = lake.storage(repository.storage_namespace).snapshots
    return TreeChanges(snapshots, *trees, after_prefix(page.prefix))


def _gather(walk: Walk[Change], page: PageRequest) -> DiffPage:
    found: list[Change] = []
    for item in list_records(walk, page.prefix, after=page.after, delimiter=page.delimiter):
        if len(found) == page.amount:
            return DiffPage(tuple(found), has_more=True)
        if isinstance(item, Prefix):
            found.append(Change(ChangeKind.PREFIX_CHANGED, item.prefix))
        else:
            found.append(item)
    return DiffPage(tuple(found), has_more=False)
