# SPDX-License-Identifier: Apache-2.0
"""Seal a branch: what is staged so far stands still, and later writes go under a fresh token.

The first compare-and-swap of a commit, and of whatever else moves a branch that may have rows
staged: a merge that allows them, an import, a job, a finished commit. Nothing is sealed when
nothing is staged: a sealed token costs every reader a look, and what fails leaves it behind, for
the next that succeeds, or for the compactor (H11).
"""

import msgspec

from lochan.errors import NotFound
from lochan.model.ids import BranchName, StagingToken, new_staging_token
from lochan.model.records import Branch, Repository
from lochan.operations.lake import Lake
from lochan.operations.view import tokens_of


def seal(lake: Lake, repository: Repository, name: BranchName) -> Branch:
    """Seal what is staged, if anything is; gives the branch with its sealed tokens.

    Raises: NotFound; UnknownOutcome when nobody can say whether the token was sealed, which harms
    nothing: whoever commits next takes it along.
    """
    branch = lake.branches.fresh(repository, name).record
    if lake.staging.is_empty(branch.staging_token):
        return branch
    fresh = new_staging_token(repository.repository_id, name, lake.environment.new_id())

    def rotate(current: Branch | None) -> Branch:  # pure: may run again if the CAS is lost
        if current is None:
            raise NotFound(f"branch {name!r} was deleted meanwhile", code="branch-not-found")
        return msgspec.structs.replace(
            current, staging_token=fresh, sealed_tokens=tokens_of(current)
        )

    sealed = lake.tables(repository).branches.update(
        name.encode(), rotate, lake.environment, landed=lambda now: _holds(now, fresh)
    )
    assert sealed is not None  # noqa: S101 - rotate never gives None
    return sealed


def _holds(branch: Branch | None, token: StagingToken) -> bool | None:
    """Say whether a record shows that our token came in; None where it cannot tell (H15)."""
    return True if branch is not None and token in tokens_of(branch) else None
