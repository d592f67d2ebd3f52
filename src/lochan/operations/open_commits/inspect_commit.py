# SPDX-License-Identifier: Apache-2.0
"""What the seed's Commit table says of a commit, under both its names."""

from dataclasses import dataclass

from lochan.model.ids import CommitId, RepositoryId
from lochan.model.instant import EPOCH, Instant
from lochan.model.records import Clock, Commit, OpenCommit, Provenance, Repository
from lochan.operations.lake import Lake
from lochan.operations.open_commits.commit_name import Numbers, any_commit
from lochan.operations.open_commits.provenance import full_provenance


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """A row of the seed's Commit table.

    `ID` is repo/branch/int and `id` the hash. Of an open commit, `ID` is the id that start_commit
    gave, and clocks, `id` and `finished` are empty (S6). A commit that was made otherwise started
    and finished when it was created.
    """

    ID: str
    repo: RepositoryId
    clocks: tuple[Clock, ...]
    started: Instant
    finished: Instant
    provenance: tuple[Provenance, ...]  # all that led to it, inputs before what they made
    direct_provenance: tuple[Provenance, ...]  # what is stored
    id: CommitId = CommitId("")  # noqa: RUF009 - a constant, of a type that has no other spelling
    error: str = ""


def inspect_commit(lake: Lake, repository: Repository, commit: str) -> CommitInfo:
    """Describe a commit, with all that led to it. Raises NotFound, InvalidInput."""
    found = any_commit(lake, repository, commit)
    if isinstance(found, Commit):
        return described(lake, Numbers.of(lake, repository), found)
    return _open(repository, found, full_provenance(lake, found.provenance))


def described(lake: Lake, numbers: Numbers, commit: Commit) -> CommitInfo:
    """Describe a published commit."""
    return CommitInfo(
        ID=numbers.name(commit),
        repo=numbers.repository.repository_id,
        clocks=commit.clocks,
        started=commit.started or commit.creation_date,
        finished=commit.finished or commit.creation_date,
        provenance=full_provenance(lake, commit.provenance),
        direct_provenance=commit.provenance,
        id=commit.id,
    )


def _open(
    repository: Repository, opened: OpenCommit, provenance: tuple[Provenance, ...]
) -> CommitInfo:
    return CommitInfo(
        ID=opened.id,
        repo=repository.repository_id,
        clocks=(),
        started=opened.started,
        finished=EPOCH,
        provenance=provenance,
        direct_provenance=opened.provenance,
        error=opened.error,
    )
