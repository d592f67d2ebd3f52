# SPDX-License-Identifier: Apache-2.0
"""The verbs of 2016 for commits: start, finish, cancel, describe, list, merge, compare.

Ours, not lakeFS's. Where a commit goes may follow from its parent, so rights on the branch are
asked for when the branch is known (S16): to commit on it, and to create it where it is new. Files
have a page of their own (`pfs_files`).
"""

from collections.abc import Iterator

from lochan.access.actions import (
    CREATE_BRANCH,
    CREATE_COMMIT,
    LIST_COMMITS,
    LIST_OBJECTS,
    READ_COMMIT,
)
from lochan.access.arn import branch_arn, repository_arn
from lochan.access.needed import AllOf, Permission
from lochan.errors import InvalidInput, NotFound
from lochan.model import diff, records
from lochan.model.ids import CommitId, MetaRangeId, OpenCommitId, RepositoryId
from lochan.model.instant import to_datetime
from lochan.operations.open_commits import inspect_commit as inspecting
from lochan.operations.open_commits.cancel_commit import cancel_commit as give_up
from lochan.operations.open_commits.diffs import diffs as rows_of
from lochan.operations.open_commits.finish_commit import finish_commit as publish
from lochan.operations.open_commits.history import history as between
from lochan.operations.open_commits.list_commit import list_commit as commits_of
from lochan.operations.open_commits.merge_commits import merge_commits as merge
from lochan.operations.open_commits.slot import Target, find_target
from lochan.operations.open_commits.start_commit import start_commit as begin
from lochan.refs.open_commits import get_open_commit
from lochan.shapes.commits import Commit, CommitList
from lochan.shapes.pfs import (
    Append,
    CancelCommit,
    CommitInfo,
    CommitInfoList,
    DiffRow,
    DiffRowList,
    DiffsQuery,
    FinishCommit,
    HistoryQuery,
    InspectCommitQuery,
    ListCommitQuery,
    MergeCommits,
    MergedCommits,
    OpenCommit,
    StartCommit,
)
from lochan.shapes.provenance import Provenance
from lochan.web.api.clocks import shown_clocks
from lochan.web.api.pages import page_of
from lochan.web.api.shown import committer_of, shown_commit
from lochan.web.api.shown_sources import shown_sources
from lochan.web.call import Call
from lochan.web.needs import Need, each
from lochan.web.route import NOTHING, Routes

ROUTES = Routes("pfs")

_PATH = "/repositories/{repository}/pfs"
_REPOSITORY = "arn:lakefs:fs:::repository/{repository}"
_BRANCH = _REPOSITORY + "/branch/{branch}"
_TO_COMMIT = Need(CREATE_COMMIT, _BRANCH)
_TO_BEGIN = Need(CREATE_BRANCH, _BRANCH)


@ROUTES.post(
    _PATH + "/start-commit",
    needs=each(_TO_COMMIT, _TO_BEGIN, Need(READ_COMMIT, _REPOSITORY)),
    body=StartCommit,
    body_optional=True,
    answers={201: OpenCommit},
)
def start_commit(call: Call) -> OpenCommit:
    """Start a commit; files are put into it until it is finished."""
    told = call.told(StartCommit)
    target = _target(call, told.parent, told.branch)
    for source in told.provenance:
        call.require(Permission(READ_COMMIT, repository_arn(source.repository_id)))
    opened = begin(
        call.lake,
        call.repository,
        told.parent,
        target.branch,
        committer=committer_of(call),
        provenance=[_provenance(source) for source in told.provenance],
    )
    return OpenCommit(
        id=opened.id,
        branch=opened.branch,
        parent=opened.parent,
        started=to_datetime(opened.started),
    )


@ROUTES.post(
    _PATH + "/finish-commit",
    needs=each(_TO_COMMIT, _TO_BEGIN),
    body=FinishCommit,
    answers={200: Commit},
)
def finish_commit(call: Call) -> Commit:
    """Publish a commit that was started; it takes no more files."""
    told = call.told(FinishCommit)
    open_id = _opened(call, told.id)
    return shown_commit(
        publish(call.lake, call.repository, open_id, message=told.message, metadata=told.metadata)
    )


@ROUTES.post(
    _PATH + "/cancel-commit",
    needs=each(_TO_COMMIT, _TO_BEGIN),
    body=CancelCommit,
    answers={204: NOTHING},
)
def cancel_commit(call: Call) -> None:
    """Give up a commit that was started."""
    told = call.told(CancelCommit)
    give_up(call.lake, call.repository, _opened(call, told.id), told.error)


@ROUTES.get(
    _PATH + "/inspect-commit",
    needs=Need(READ_COMMIT, _REPOSITORY),
    query=InspectCommitQuery,
    answers={200: CommitInfo},
)
def inspect_commit(call: Call) -> CommitInfo:
    """Describe a commit, open or not, with all that led to it.

    Of other repositories' commits those are told that the caller may read.
    """
    name = call.asked(InspectCommitQuery).commit
    return _described(call, inspecting.inspect_commit(call.lake, call.repository, name))


@ROUTES.get(
    _PATH + "/list-commit",
    needs=Need(LIST_COMMITS, _REPOSITORY),
    query=ListCommitQuery,
    answers={200: CommitInfoList},
)
def list_commit(call: Call) -> CommitInfoList:
    """Give the commits that branches, or one branch, lead to; `after` is a commit's hash."""
    asked = call.asked(ListCommitQuery)
    found = commits_of(call.lake, call.repository, asked.branch or None, after=asked.after)
    page, pagination = page_of(found, asked, lambda info: info.id)
    return CommitInfoList(pagination=pagination, results=[_described(call, one) for one in page])


@ROUTES.get(
    _PATH + "/history",
    needs=Need(LIST_COMMITS, _REPOSITORY),
    query=HistoryQuery,
    answers={200: CommitList},
)
def history(call: Call) -> CommitList:
    """Give the commits between two; along each line parents come first; `after` is a hash."""
    asked = call.asked(HistoryQuery)
    found = between(
        call.lake,
        call.repository,
        asked.to_commit,
        asked.from_commit or None,
        strict=asked.strict,
        after=asked.after,
    )
    page, pagination = page_of(found, asked, lambda commit: commit.id)
    return CommitList(pagination=pagination, results=[shown_commit(one) for one in page])


@ROUTES.post(
    _PATH + "/merge-commits",
    needs=each(_TO_COMMIT, _TO_BEGIN),
    body=MergeCommits,
    answers={201: MergedCommits},
)
def merge_commits(call: Call) -> MergedCommits:
    """Bring what commits did to a branch: a copy of each, or all as one."""
    told = call.told(MergeCommits)
    if told.parent is None and told.branch is None:
        raise InvalidInput("say where to merge: a parent, a branch, or both", code="target-needed")
    target = _target(call, told.parent, told.branch)
    made = merge(
        call.lake,
        call.repository,
        told.from_commits,
        told.parent,
        target.branch,
        squash=told.squash,
        committer=committer_of(call),
        message=told.message,
        metadata=told.metadata,
    )
    return MergedCommits(commits=[shown_commit(commit) for commit in made])


@ROUTES.get(
    _PATH + "/diffs",
    needs=Need(LIST_OBJECTS, _REPOSITORY),
    query=DiffsQuery,
    answers={200: DiffRowList},
)
def diffs(call: Call) -> DiffRowList:
    """Tell what a commit did, path by path; `after` is the path of a row that was given."""
    asked = call.asked(DiffsQuery)
    rows = rows_of(call.lake, call.repository, asked.commit, asked.path or None)
    behind = _behind(rows, asked.after.encode()) if asked.after else rows
    page, pagination = page_of(behind, asked, lambda row: row.path.decode(errors="replace"))
    return DiffRowList(pagination=pagination, results=[_row(row) for row in page])


def _target(call: Call, parent: str | None, branch: str | None) -> Target:
    """Find where a new commit goes, and ask whether the caller may put one there."""
    try:
        target = find_target(call.lake, call.repository, parent, branch)
    except NotFound:
        _require_reading(call)
        raise
    here = branch_arn(call.path["repository"], target.branch)
    needed = [Permission(CREATE_COMMIT, here)]
    if target.slot is records.Slot.BEGINS:
        needed.append(Permission(CREATE_BRANCH, here))
    call.require(AllOf(*needed))
    return target


def _opened(call: Call, name: str) -> OpenCommitId:
    """Find a commit that was started, and ask whether the caller may decide about it."""
    open_id = OpenCommitId(name)
    try:
        opened = get_open_commit(call.lake.store, call.repository, open_id).record
    except NotFound:
        _require_reading(call)
        raise
    here = branch_arn(call.path["repository"], opened.branch)
    needed = [Permission(CREATE_COMMIT, here)]
    if opened.slot is records.Slot.BEGINS:
        needed.append(Permission(CREATE_BRANCH, here))
    call.require(AllOf(*needed))
    return open_id


def _require_reading(call: Call) -> None:
    """Refuse to tell what is not there to somebody who may not know what is."""
    call.require(Permission(READ_COMMIT, repository_arn(call.path["repository"])))


def _behind(rows: Iterator[diff.Diff], path: bytes) -> Iterator[diff.Diff]:
    """Pass rows over, up to that of a path; they come in no order that could be sought in."""
    for row in rows:
        if row.path == path:
            return rows
    message = f"no row of this commit has the path {path.decode()!r}; begin again without `after`"
    raise InvalidInput(message, code="invalid-after")


def _provenance(source: Provenance) -> records.Provenance:
    return records.Provenance(
        repository_id=RepositoryId(source.repository_id),
        commit_id=CommitId(source.commit_id),
        input=source.input,
        glob=source.glob,
        meta_range_id=MetaRangeId(source.meta_range_id),
    )


def _described(call: Call, info: inspecting.CommitInfo) -> CommitInfo:
    return CommitInfo(
        ID=info.ID,
        repo=info.repo,
        clocks=shown_clocks(info.clocks),
        started=to_datetime(info.started),
        finished=to_datetime(info.finished) if info.finished else None,
        provenance=shown_sources(call, info.provenance),
        direct_provenance=shown_sources(call, info.direct_provenance),
        id=info.id,
        error=info.error,
    )


def _row(row: diff.Diff) -> DiffRow:
    return DiffRow(
        ID=row.ID.decode(errors="replace"),
        repo=row.repo,
        commit=row.commit,
        path=row.path.decode(errors="replace"),
        delete=row.delete,
        clocks=shown_clocks(row.clocks),
        appends=[
            Append(
                children={
                    name.decode(errors="replace"): came for name, came in append.children.items()
                },
                blockrefs=list(append.blockrefs),
                delete=append.delete,
            )
            for append in row.appends
        ],
        size=row.size,
    )
