# SPDX-License-Identifier: Apache-2.0
"""Create and delete tags: names for commits that do not move.

A tag keeps its commit reachable when every branch has gone on, or away. So only a commit that some
branch has had is given one: the record of an attempt that lost its race is no history.
"""

from lochan.model.ids import TagName
from lochan.model.records import Commit, Repository, Tag
from lochan.operations.allowed import require_writable
from lochan.operations.lake import Lake
from lochan.refs import tags
from lochan.refs.clock_index import ClockIndex
from lochan.refs.expired import require_kept


def create_tag(lake: Lake, repository: Repository, name: TagName, commit: Commit) -> Tag:
    """Give a commit a name for good.

    Raises: NotUnique; AlreadyExists for a branch or commit of this name; Conflict (code
    never-published); Gone for one that is not kept; Refused; UnknownOutcome.
    """
    require_writable(lake.branches.fresh_repository(repository), force=lake.force)
    ClockIndex.of(lake.store, repository).require_published(commit)
    require_kept(lake.store, repository, commit.id)
    tag = Tag(tag_id=name, commit_id=commit.id)
    tags.create_tag(lake.tables(repository), tag)
    return tag


def delete_tag(lake: Lake, repository: Repository, name: TagName) -> None:
    """Take a name away; the commit stays. Raises NotFound, Conflict, Refused, UnknownOutcome."""
    require_writable(lake.branches.fresh_repository(repository), force=lake.force)
    tables = lake.tables(repository)
    tags.delete_tag(tables, tags.get_tag(tables, name))
