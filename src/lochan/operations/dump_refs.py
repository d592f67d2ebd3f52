# SPDX-License-Identifier: Apache-2.0
"""Dump a repository's refs: all published commits, tags and branches, as files beside its objects.

What is staged, sealed or started is not in a dump, and does not hinder it: what is not committed
has no name that lasts. Commits of attempts that lost are left out, since their places were given to
others; commits of deleted branches are in.

Writers go on meanwhile, so the order matters. Each step sees at least what the steps before it saw:

    1. clock rows      which commits are published
    2. tags
    3. branches        a head is at or above every place of its line that 1 and 2 know of
    4. commits         every commit that a tag or branch names, and all behind it

Last, the repository is asked for once more: while it is there nobody removes its rows, so that a
manifest never names what was read of a cleaner's leavings.

Only one thing can still be ahead of its branch: a line that a later-read branch has merged. In the
dump such a branch has left its line, as after a reset, and so never gives one place twice.
"""

from collections.abc import Iterator

import msgspec

from lochan.errors import Corruption
from lochan.kv.read import scan_prefix
from lochan.model.clock import leave_line
from lochan.model.codec import encode_branch, encode_commit, encode_tag
from lochan.model.ids import EMPTY_TREE, CommitId, MetaRangeId, StagingToken
from lochan.model.keys import CLOCKS, partition_of
from lochan.model.records import Branch, Clock, Repository, Tag
from lochan.operations.lake import Lake
from lochan.operations.refs_dump import MANIFEST, RefsDump, Row, chunked, encode_dump
from lochan.refs.branches import list_branches
from lochan.refs.commits import list_commits
from lochan.refs.history import NOBODY, History
from lochan.refs.tables import RepositoryTables
from lochan.refs.tags import list_tags


def dump_refs(lake: Lake, repository: Repository) -> RefsDump:
    """Write a repository's refs to its storage namespace, and the manifest that names them.

    Raises: Corruption when a ref or a parent leads to no commit (fsck says which); Unavailable;
    RepositoryNotFound, RepositoryDeleting for one that is gone before the dump is whole. A dump
    that failed leaves files that nobody names, and the manifest of the dump before it.
    """
    tables = lake.tables(repository)
    placed = [
        CommitId(value.decode())
        for _, value in scan_prefix(lake.store, partition_of(repository), CLOCKS)
    ]
    tags = list(list_tags(tables))
    branches = list(list_branches(tables, hidden=True))
    history = _history(tables)
    named = [*placed, *(tag.commit_id for tag in tags), *(b.commit_id for b in branches)]
    published = history.behind(named)
    _require_whole(history, named, published)

    storage = lake.storage(repository.storage_namespace)

    def write(rows: Iterator[Row]) -> MetaRangeId:
        return storage.snapshots.apply(EMPTY_TREE, chunked(rows)).id

    dump = RefsDump(
        commits_meta_range_id=write(_commit_rows(tables, history, published)),
        tags_meta_range_id=write(map(_tag_row, tags)),
        branches_meta_range_id=write(_branch_rows(tables, history, published, branches)),
    )
    lake.branches.fresh_repository(repository)
    storage.objects.put(MANIFEST, encode_dump(dump))
    return dump


def _history(tables: RepositoryTables) -> History:
    history = History()
    for commit in list_commits(tables):
        history.add(commit)
    history.complete()
    return history


def _require_whole(history: History, named: list[CommitId], published: bytearray) -> None:
    for child, parent in history.missing:
        # A commit made meanwhile may have been seen without its parent; it is not published yet.
        if published[history.number(child)]:
            reason = f"its parent {parent} does not exist; run fsck"
            raise Corruption(reason, file=f"commit {child}")
    for commit_id in named:
        if history.number(commit_id) == NOBODY:
            reason = "a branch, a tag or a clock row names it, and it does not exist; run fsck"
            raise Corruption(reason, file=f"commit {commit_id}")


def _commit_rows(tables: RepositoryTables, history: History, published: bytearray) -> Iterator[Row]:
    for commit in list_commits(tables):
        number = history.number(commit.id)
        if number != NOBODY and published[number]:
            yield commit.id.encode(), commit.id.encode(), encode_commit(commit)


def _tag_row(tag: Tag) -> Row:
    return tag.tag_id.encode(), tag.commit_id.encode(), encode_tag(tag)


def _branch_rows(
    tables: RepositoryTables, history: History, published: bytearray, branches: list[Branch]
) -> Iterator[Row]:
    places, _ = history.places(published)
    for branch in branches:
        bare = msgspec.structs.replace(
            branch,
            staging_token=StagingToken(""),
            sealed_tokens=(),
            forgotten=(),
            compacted_base_meta_range_id=EMPTY_TREE,
        )
        head = tables.commits.get(branch.commit_id.encode()).record
        if bare.lineage and Clock(bare.lineage, head.clocks[-1].commit + 1) in places:
            lineage, ordinals = leave_line(head, bare)
            bare = msgspec.structs.replace(bare, lineage=lineage, ordinals=ordinals)
        yield branch.branch_id.encode(), branch.commit_id.encode(), encode_branch(bare)
