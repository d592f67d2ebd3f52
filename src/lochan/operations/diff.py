# SPDX-License-Identifier: Apache-2.0
"""What differs, page by page: between two refs, since two refs parted, or on a branch uncommitted.

    two dots      left's commit against right's
    three dots    their merge base against right's commit: what right changed since they parted
    uncommitted   the head's tree against what the branch shows

Refs stand for commits here; what is staged on a branch is asked for by `diff_uncommitted`. With a
delimiter, changes below a common prefix are one item of kind prefix_changed, and are jumped over.
A page that cannot be read whole is an error (H9).
"""

from dataclasses import dataclass

from lochan.committed.interval import after_prefix
from lochan.committed.listing import Prefix, Walk, list_records
from lochan.errors import InvalidInput
from lochan.model.changes import Change, ChangeKind
from lochan.model.ids import BranchName, MetaRangeId
from lochan.model.records import Branch, Repository
from lochan.operations.lake import Lake
from lochan.operations.reference import commit_of, committed
from lochan.operations.tree_changes import TreeChanges
from lochan.operations.uncommitted_changes import UncommittedChanges
from lochan.operations.view import read_stably
from lochan.refs.clock_index import ClockIndex
from lochan.refs.kinship import Kinship

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
    trees = (
        lake.commits.tree(repository, committed(lake, repository, left)),
        lake.commits.tree(repository, committed(lake, repository, right)),
    )
    return _gather(_between(lake, repository, trees, page), page)


def diff_three_dot(
    lake: Lake, repository: Repository, left: str, right: str, page: PageRequest = FIRST_PAGE
) -> DiffPage:
    """Give what right changed since it parted from left: what a merge would bring.

    Raises: InvalidInput when the two have no common ancestor; Conflict for a commit that was never
    published.
    """
    ours, theirs = commit_of(lake, repository, left), commit_of(lake, repository, right)
    for commit in (ours, theirs):
        ClockIndex.of(lake.store, repository).require_published(commit)
    parted = Kinship.of(lake.store, repository).merge_base(ours, theirs)
    if parted is None:
        raise InvalidInput(f"{left!r} and {right!r} have no common ancestor; use two dots")
    trees = (parted.meta_range_id, theirs.meta_range_id)
    return _gather(_between(lake, repository, trees, page), page)


def diff_uncommitted(
    lake: Lake, repository: Repository, branch: BranchName, page: PageRequest = FIRST_PAGE
) -> DiffPage:
    """Compare what a branch shows with its head. Raises NotFound for the branch.

    Writes of what the head holds already, and deletions of what it lacks, are no changes.
    """

    def gather(record: Branch) -> DiffPage:
        stop = after_prefix(page.prefix)
        return _gather(UncommittedChanges(lake, repository, record, stop), page)

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
