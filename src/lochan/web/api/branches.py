# SPDX-License-Identifier: Apache-2.0
"""Branches: list, make, look at, delete; what is staged on one, and how it is taken back."""

from lochan.errors import Conflict, InvalidInput
from lochan.model.ids import valid_branch_name, valid_object_key
from lochan.model.records import Branch
from lochan.operations import branches as stories
from lochan.operations import reset, transplant
from lochan.operations.diff import diff_uncommitted
from lochan.operations.hard_reset import hard_reset
from lochan.operations.reference import commit_of
from lochan.refs import branches
from lochan.shapes.branches import (
    BranchCreation,
    CherryPickCreation,
    CommitOverrides,
    DeleteBranchQuery,
    DiffBranchQuery,
    HardResetQuery,
    ListBranchesQuery,
    ResetCreation,
    RevertCreation,
)
from lochan.shapes.commits import Commit
from lochan.shapes.refs import DiffList, Ref, RefList
from lochan.web.api.pages import named, page_of, start_of
from lochan.web.api.shown import committer_of, page_request, shown_commit, shown_diff
from lochan.web.call import Call
from lochan.web.needs import Need, every
from lochan.web.reply import Reply, text
from lochan.web.route import NOTHING, TEXT, Routes

ROUTES = Routes("branches")

_REPOSITORY = "arn:lakefs:fs:::repository/{repository}"
_BRANCH = _REPOSITORY + "/branch/{branch}"


@ROUTES.get(
    "/repositories/{repository}/branches",
    needs=Need("fs:ListBranches", _REPOSITORY),
    query=ListBranchesQuery,
    answers={200: RefList},
)
def list_branches(call: Call) -> RefList:
    """Give the branches by name; hidden ones only if asked for."""
    asked = call.asked(ListBranchesQuery)
    tables = call.lake.tables(call.repository)
    found = branches.list_branches(tables, start_of(asked), hidden=asked.show_hidden)
    page, pagination = page_of(named(found, asked, _name), asked, _name)
    return RefList(pagination=pagination, results=[_shown(branch) for branch in page])


@ROUTES.post(
    "/repositories/{repository}/branches",
    needs=Need("fs:CreateBranch", _REPOSITORY + "/branch/{body.name}"),
    body=BranchCreation,
    answers={201: TEXT},
)
def create_branch(call: Call) -> Reply:
    """Make a branch of a commit, and give the commit's id as plain text."""
    told = call.told(BranchCreation)
    head = commit_of(call.lake, call.repository, told.source)
    name = valid_branch_name(told.name)
    made = stories.create_branch(call.lake, call.repository, name, head.id, hidden=told.hidden)
    return text(made.commit_id)


@ROUTES.get(
    "/repositories/{repository}/branches/{branch}",
    needs=Need("fs:ReadBranch", _BRANCH),
    answers={200: Ref},
)
def get_branch(call: Call) -> Ref:
    """Give a branch and its commit."""
    return _shown(call.lake.branches.fresh(call.repository, call.branch).record)


@ROUTES.delete(
    "/repositories/{repository}/branches/{branch}",
    needs=Need("fs:DeleteBranch", _BRANCH),
    query=DeleteBranchQuery,
    answers={204: NOTHING},
)
def delete_branch(call: Call) -> None:
    """Delete a branch with all that is staged on it; its commits stay."""
    stories.delete_branch(call.lake, call.repository, call.branch)


@ROUTES.get(
    "/repositories/{repository}/branches/{branch}/diff",
    needs=Need("fs:ListObjects", _REPOSITORY),
    query=DiffBranchQuery,
    answers={200: DiffList},
)
def diff_branch(call: Call) -> DiffList:
    """Give what is staged on a branch and not committed."""
    page = page_request(call.asked(DiffBranchQuery))
    return shown_diff(diff_uncommitted(call.lake, call.repository, call.branch, page))


@ROUTES.put(
    "/repositories/{repository}/branches/{branch}",
    needs=Need("fs:RevertBranch", _BRANCH),
    body=ResetCreation,
    answers={204: NOTHING},
)
def reset_branch(call: Call) -> None:
    """Forget what is staged: one object's, what lies below a prefix, or all."""
    told = call.told(ResetCreation)
    where = (call.lake, call.repository, call.branch)
    if told.type == "reset":
        reset.reset(*where)
    elif told.type == "common_prefix":
        reset.reset_prefix(*where, told.path.encode())
    else:
        reset.reset_object(*where, valid_object_key(told.path))


@ROUTES.put(
    "/repositories/{repository}/branches/{branch}/hard_reset",
    needs=Need("fs:RevertBranch", _BRANCH),
    query=HardResetQuery,
    answers={204: NOTHING},
)
def hard_reset_branch(call: Call) -> None:
    """Make another commit the branch's head; nothing may be staged."""
    target = commit_of(call.lake, call.repository, call.asked(HardResetQuery).ref)
    hard_reset(call.lake, call.repository, call.branch, target)


@ROUTES.post(
    "/repositories/{repository}/branches/{branch}/revert",
    needs=Need("fs:RevertBranch", _BRANCH),
    body=RevertCreation,
    answers={204: NOTHING},
)
def revert_branch(call: Call) -> None:
    """Undo a commit by a new one."""
    told = call.told(RevertCreation)
    undone = commit_of(call.lake, call.repository, told.ref)
    said = told.commit_overrides or CommitOverrides()
    request = transplant.TransplantRequest(
        committer_of(call),
        said.message or f"Revert {told.ref}",
        said.metadata,
        told.parent_number,
        allow_empty=told.allow_empty,
    )
    try:
        transplant.revert(call.lake, call.repository, call.branch, undone, request)
    except InvalidInput as error:
        if error.code != "parent-needed":
            raise
        # lakeFS calls it a conflict here, and a wrong request where a commit is picked.
        raise Conflict(error.message, code=error.code) from error


@ROUTES.post(
    "/repositories/{repository}/branches/{branch}/cherry-pick",
    needs=every(Need("fs:CreateCommit", _BRANCH), Need("fs:ReadCommit", _REPOSITORY)),
    body=CherryPickCreation,
    answers={201: Commit},
)
def cherry_pick(call: Call) -> Commit:
    """Make a commit's changes again on a branch."""
    told = call.told(CherryPickCreation)
    picked = commit_of(call.lake, call.repository, told.ref)
    said = told.commit_overrides or CommitOverrides()
    request = transplant.TransplantRequest(
        committer_of(call), said.message, said.metadata, told.parent_number or 0
    )
    made = transplant.cherry_pick(call.lake, call.repository, call.branch, picked, request)
    return shown_commit(made)


def _name(branch: Branch) -> str:
    return branch.branch_id


def _shown(branch: Branch) -> Ref:
    return Ref(id=branch.branch_id, commit_id=branch.commit_id)
