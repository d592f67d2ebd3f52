# SPDX-License-Identifier: Apache-2.0
"""Refs: their history, what two of them have between them, and merging one into a branch."""

from lochan.access.actions import READ_BRANCH
from lochan.access.arn import branch_arn
from lochan.access.needed import Permission
from lochan.model.ids import BranchName, CommitId, valid_object_key
from lochan.model.instant import from_datetime
from lochan.operations import merge as stories
from lochan.operations.diff import diff_compared, diff_two_dot, merge_base
from lochan.operations.log_commits import LogRequest
from lochan.operations.log_commits import log_commits as read_log
from lochan.operations.reference import commit_of
from lochan.refs.expression import parse_expression
from lochan.shapes.commits import CommitList, LogCommitsQuery
from lochan.shapes.refs import DiffList, DiffRefsQuery, FindMergeBaseResult, Merge, MergeResult
from lochan.web.api.pages import amount_of, pagination
from lochan.web.api.shown import committer_of, page_request, shown_commit, shown_diff
from lochan.web.call import Call
from lochan.web.needs import Need, each
from lochan.web.reply import Reply
from lochan.web.route import Routes

ROUTES = Routes("refs")

_REPOSITORY = "arn:lakefs:fs:::repository/{repository}"
_MERGE = "/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}"


@ROUTES.get(
    "/repositories/{repository}/refs/{ref}/commits",
    needs=each(Need("fs:ReadBranch", _REPOSITORY + "/branch/{ref}")),
    query=LogCommitsQuery,
    answers={200: CommitList},
)
def log_commits(call: Call) -> CommitList:
    """Give the history of a ref, newest first."""
    asked, ref = call.asked(LogCommitsQuery), call.path["ref"]
    # What is asked for is judged without its modifiers: main~0 is main.
    branch = branch_arn(call.path["repository"], parse_expression(ref).base)
    call.require(Permission(READ_BRANCH, branch))
    request = LogRequest(
        amount_of(asked),
        CommitId(asked.after) if asked.after else None,
        objects=[valid_object_key(path) for path in asked.objects],
        prefixes=[prefix.encode() for prefix in asked.prefixes],
        first_parent=asked.first_parent,
        since=from_datetime(asked.since) if asked.since else None,
        stop_at=asked.stop_at,
        exactly=asked.limit,
    )
    page = read_log(call.lake, call.repository, ref, request)
    results = [shown_commit(commit) for commit in page.commits]
    following = results[-1].id if page.has_more else ""
    return CommitList(pagination=pagination(len(results), following), results=results)


@ROUTES.get(
    "/repositories/{repository}/refs/{leftRef}/diff/{rightRef}",
    needs=Need("fs:ListObjects", _REPOSITORY),
    query=DiffRefsQuery,
    answers={200: DiffList},
)
def diff_refs(call: Call) -> DiffList:
    """Give what differs between two refs, or what merging right into left would bring."""
    asked = call.asked(DiffRefsQuery)
    story = diff_two_dot if asked.type == "two_dot" else diff_compared
    left, right = call.path["leftRef"], call.path["rightRef"]
    page = story(call.lake, call.repository, left, right, page_request(asked))
    return shown_diff(page, right_stats=asked.include_right_stats)


@ROUTES.post(
    _MERGE,
    needs=Need("fs:CreateCommit", _REPOSITORY + "/branch/{destinationBranch}"),
    body=Merge,
    body_optional=True,
    answers={200: MergeResult, 409: MergeResult},
)
def merge_into_branch(call: Call) -> MergeResult | Reply:
    """Merge a ref into a branch; a conflict is told by an empty reference."""
    told = call.told(Merge)
    source, branch = call.path["sourceRef"], BranchName(call.path["destinationBranch"])
    request = stories.MergeRequest(
        committer_of(call),
        told.message or f"Merge '{source}' into '{branch}'",
        told.metadata,
        told.strategy,
        squash=told.squash_merge,
        allow_empty=told.allow_empty or told.force,
    )
    commit = commit_of(call.lake, call.repository, source)
    try:
        made = stories.merge(call.lake, call.repository, branch, commit, request)
    except stories.MergeConflict:
        return Reply(MergeResult(reference=""), 409)
    return MergeResult(reference=made.id)


@ROUTES.get(
    _MERGE,
    needs=Need("fs:ListCommits", _REPOSITORY),
    answers={200: FindMergeBaseResult},
)
def find_merge_base(call: Call) -> FindMergeBaseResult:
    """Give the commit where two refs parted.

    As in lakeFS, source_commit_id is the destination's commit and the other way round: clients that
    know this would be misled by the right order, and most read base_commit_id alone.
    """
    source, destination = call.path["sourceRef"], call.path["destinationBranch"]
    parted = merge_base(call.lake, call.repository, destination, source)
    return FindMergeBaseResult(
        source_commit_id=parted.left.id,
        destination_commit_id=parted.right.id,
        base_commit_id=parted.base.id,
    )
