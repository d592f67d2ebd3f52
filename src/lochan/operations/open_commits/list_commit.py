# SPDX-License-Identifier: Apache-2.0
"""List the commits that branches lead to: of the repository, or of one branch.

The reach of every head is joined into one span a line, and the spans are read from the clock index
(`lochan.refs.clock_index`): each commit once, along each line parents first. Open commits, and the
records of attempts that lost, are on no line.
"""

from collections.abc import Iterator

from lochan.model.clock import ranges
from lochan.model.ids import LineageId, valid_branch_name, valid_commit_id
from lochan.model.records import Branch, Clock, Repository
from lochan.operations.lake import Lake
from lochan.operations.open_commits.commit_name import Numbers
from lochan.operations.open_commits.history import spans_behind
from lochan.operations.open_commits.inspect_commit import CommitInfo, described
from lochan.refs.branches import get_branch, list_branches
from lochan.refs.commits import get_commit
from lochan.refs.kinship import Kinship


def list_commit(
    lake: Lake, repository: Repository, branch: str | None = None, *, after: str = ""
) -> Iterator[CommitInfo]:
    """Give the commits; with `after`, behind that commit.

    Raises: NotFound for the branch; InvalidInput for an `after` that is not among them.
    """
    tables = lake.tables(repository)
    if branch is None:
        heads = list(list_branches(tables, hidden=True))
    else:
        heads = [get_branch(tables, valid_branch_name(branch)).record]
    return _described(lake, repository, heads, after)


def _described(
    lake: Lake, repository: Repository, heads: list[Branch], after: str
) -> Iterator[CommitInfo]:
    tables, kinship = lake.tables(repository), Kinship.of(lake.store, repository)
    reached: dict[LineageId, int] = {}
    for branch in heads:
        head = get_commit(tables, branch.commit_id)
        for line, step in kinship.reach.since(head).items():
            reached[line] = max(step.reached, reached.get(line, -1))
    numbers = Numbers.of(lake, repository)
    spans = ranges(Clock(line, place) for line, place in reached.items())
    if after:
        spans = spans_behind(spans, get_commit(tables, valid_commit_id(after)))
    for commit_id in kinship.ids(spans):
        commit = get_commit(tables, commit_id)
        yield described(lake, numbers, commit)
