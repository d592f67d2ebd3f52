# SPDX-License-Identifier: Apache-2.0
"""The commits between two: what one has behind it and the other has not.

Which they are is arithmetic on two clocks, and on what merges reached (`lochan.refs.kinship`); only
the commits that are given are read.
"""

from collections.abc import Iterator, Sequence

from lochan.errors import InvalidInput
from lochan.model.clock import Span, own
from lochan.model.ids import valid_commit_id
from lochan.model.records import Commit, Repository
from lochan.operations.lake import Lake
from lochan.operations.open_commits.commit_name import finished_commit
from lochan.refs.commits import get_commit
from lochan.refs.kinship import Kinship


def history(
    lake: Lake,
    repository: Repository,
    to_commit: str,
    from_commit: str | None = None,
    *,
    strict: bool = False,
    after: str = "",
) -> Iterator[Commit]:
    """Give `to_commit` and its ancestors without `from_commit` and its own, line by line.

    Along each line parents come first. With `after` it goes on behind a commit that was given.
    Raises: NotFound; InvalidInput where `strict` and `from_commit` is no ancestor, and for an
    `after` that is not among them.
    """
    to = finished_commit(lake, repository, to_commit)
    since = None if from_commit is None else finished_commit(lake, repository, from_commit)
    kinship = Kinship.of(lake.store, repository)
    spans = kinship.history(to, since, strict=strict)
    tables = lake.tables(repository)
    if after:
        spans = spans_behind(spans, get_commit(tables, valid_commit_id(after)))
    return (get_commit(tables, found) for found in kinship.ids(spans))


def spans_behind(spans: Sequence[Span], commit: Commit) -> tuple[Span, ...]:
    """Give what of some spans comes behind a commit in one of them. Raises InvalidInput."""
    line, place = own(commit)
    for number, span in enumerate(spans):
        if span.lineage == line and span.first <= place <= span.last:
            rest = Span(line, place + 1, span.last)
            return (rest, *spans[number + 1 :]) if rest.length else tuple(spans[number + 1 :])
    message = f"commit {commit.id} is not in this list, which cannot go on behind it"
    raise InvalidInput(message, code="invalid-after", after=commit.id)
