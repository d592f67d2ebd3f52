# SPDX-License-Identifier: Apache-2.0
"""Commits: made of what is staged, or of a tree that is there already, and looked at."""

import msgspec

from lochan.errors import InvalidInput
from lochan.model.ids import valid_meta_range_id
from lochan.model.instant import Instant, from_seconds
from lochan.operations import commit as stories
from lochan.operations.open_commits.provenance import full_provenance
from lochan.operations.reference import commit_of
from lochan.shapes.commits import Commit, CommitCreation, CommitQuery, CommitRecordCreation
from lochan.web.api.shown import committer_of, shown_commit
from lochan.web.api.shown_sources import shown_sources
from lochan.web.call import Call
from lochan.web.needs import Need
from lochan.web.route import NOTHING, Routes

ROUTES = Routes("commits")

_REPOSITORY = "arn:lakefs:fs:::repository/{repository}"


@ROUTES.post(
    "/repositories/{repository}/branches/{branch}/commits",
    needs=Need("fs:CreateCommit", _REPOSITORY + "/branch/{branch}"),
    query=CommitQuery,
    body=CommitCreation,
    answers={201: Commit},
)
def commit(call: Call) -> Commit:
    """Commit all that is staged on a branch; with source_metarange, that tree instead."""
    told, tree = call.told(CommitCreation), call.asked(CommitQuery).source_metarange
    request = stories.CommitRequest(
        committer_of(call), told.message, told.metadata, told.allow_empty, _date(told.date)
    )
    where = (call.lake, call.repository, call.branch)
    if tree:
        return shown_commit(stories.commit_tree(*where, valid_meta_range_id(tree), request))
    return shown_commit(stories.commit(*where, request))


@ROUTES.get(
    "/repositories/{repository}/commits/{commitId}",
    needs=Need("fs:ReadCommit", _REPOSITORY),
    answers={200: Commit},
)
def get_commit(call: Call) -> Commit:
    """Give a commit, by its id or any other ref, with all that it was made of."""
    found = commit_of(call.lake, call.repository, call.path["commitId"])
    return msgspec.structs.replace(
        shown_commit(found),
        provenance=shown_sources(call, full_provenance(call.lake, found.provenance)),
        direct_provenance=shown_sources(call, found.provenance),
    )


@ROUTES.post(
    "/repositories/{repository}/commits",
    needs=Need("fs:CreateCommit", _REPOSITORY),
    body=CommitRecordCreation,
    answers={204: NOTHING},
)
def create_commit_record(_: Call) -> None:
    """Refuse to record a commit from elsewhere by itself.

    A commit here has a place in its line of history, which a record without its neighbours cannot
    have. Whole histories come in by restoring refs.
    """
    message = "commits from elsewhere come in with their whole history; use refs/restore"
    raise InvalidInput(message, code="not-implemented")


def _date(seconds: int | None) -> Instant | None:
    return None if seconds is None else from_seconds(seconds)
