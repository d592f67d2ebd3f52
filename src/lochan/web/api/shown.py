# SPDX-License-Identifier: Apache-2.0
"""Records as the API shows them, and who is written down as the author of a commit."""

from typing import Final, Literal

from lochan.model.changes import Change, ChangeKind
from lochan.model.codec import decode_entry
from lochan.model.instant import to_seconds
from lochan.model.records import LAKEFS_VERSIONS, Commit, Repository
from lochan.operations.diff import DiffPage, PageRequest
from lochan.shapes import commits, refs, repositories
from lochan.shapes.branches import DiffBranchQuery
from lochan.web.api.pages import amount_of, pagination
from lochan.web.call import Call

_NEWEST_VERSION: Final = max(LAKEFS_VERSIONS)  # lakeFS's clients know no other
_KINDS: Final[dict[ChangeKind, Literal["added", "removed", "changed", "conflict"]]] = {
    ChangeKind.ADDED: "added",
    ChangeKind.REMOVED: "removed",
    ChangeKind.CHANGED: "changed",
    ChangeKind.CONFLICT: "conflict",
}


def committer_of(call: Call) -> str:
    """Name who makes a commit: by e-mail address, or by user name where there is none."""
    return call.user.email or call.user.user


def shown_commit(commit: Commit) -> commits.Commit:
    """Show a commit."""
    return commits.Commit(
        id=commit.id,
        parents=list(commit.parents),
        committer=commit.committer,
        message=commit.message,
        creation_date=to_seconds(commit.creation_date),
        meta_range_id=commit.meta_range_id,
        metadata=dict(commit.metadata),
        generation=commit.generation,
        version=min(commit.version, _NEWEST_VERSION),
    )


def shown_repository(repository: Repository) -> repositories.Repository:
    """Show a repository."""
    return repositories.Repository(
        id=repository.repository_id,
        creation_date=to_seconds(repository.creation_date),
        default_branch=repository.default_branch,
        storage_id=repository.storage_id,
        storage_namespace=repository.storage_namespace,
        read_only=repository.read_only,
    )


def page_request(asked: DiffBranchQuery | refs.DiffRefsQuery) -> PageRequest:
    """Say which page of a diff a query asks for."""
    return PageRequest(
        prefix=asked.prefix.encode(),
        after=asked.after.encode(),
        delimiter=asked.delimiter.encode(),
        amount=amount_of(asked),
    )


def shown_diff(page: DiffPage, *, right_stats: bool = False) -> refs.DiffList:
    """Show a page of differences."""
    results = [_shown_change(change, right_stats=right_stats) for change in page.changes]
    following = results[-1].path if page.has_more else ""
    return refs.DiffList(pagination=pagination(len(results), following), results=results)


def _shown_change(change: Change, *, right_stats: bool) -> refs.Diff:
    path = change.key.decode(errors="replace")
    if change.kind is ChangeKind.PREFIX_CHANGED:
        return refs.Diff(type="prefix_changed", path=path, path_type="common_prefix")
    side = change.right or change.left
    entry = decode_entry(side.data) if side else None
    right = entry if right_stats and change.right else None
    return refs.Diff(
        type=_KINDS[change.kind],
        path=path,
        path_type="object",
        size_bytes=entry.size if entry else None,
        right=refs.DiffObjectStat(
            checksum=right.e_tag,
            mtime=to_seconds(right.last_modified),
            content_type=right.content_type,
            metadata=dict(right.metadata) or None,
        )
        if right
        else None,
    )
