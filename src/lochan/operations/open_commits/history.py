# SPDX-License-Identifier: Apache-2.0
"""The commits between two: what one has behind it and the other has not.

Which they are is arithmetic on two clocks, and on what merges reached (`lochan.refs.kinship`); only
the commits that are given are read.
"""

from collections.abc import Iterator

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
) -> Iterator[Commit]:
    """Give `to_commit` and its ancestors without `from_commit` and its own, line by line.

    Along each line parents come first. Raises: NotFound; InvalidInput where `strict` and
    `from_commit` is no ancestor.
    """
    to = finished_commit(lake, repository, to_commit)
    since = None if from_commit is None else finished_commit(lake, repository, from_commit)
    kinship = Kinship.of(lake.store, repository)
    spans = kinship.history(to, since, strict=strict)
    tables = lake.tables(repository)
    return (get_commit(tables, found) for found in kinship.ids(spans))
