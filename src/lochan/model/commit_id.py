# SPDX-License-Identifier: Apache-2.0
"""How a commit gets its id: the hash of what it says, by the formula that its version names.

    version 0, 1   lakeFS's, for commits that came from there:
                   H(string "commit:v1", committer, message, meta_range_id,
                     int64 creation_date in seconds, metadata, embedded H(string list parents))
    version 100    ours: the same with string "lochan:commit:v1", creation_date as two int64
                   (seconds, nanoseconds), and the clock list at the end

The encodings are in `ident`. Generation, started, finished and provenance are not hashed. The order
of parents is: for a merge, destination first.
"""

from collections.abc import Mapping, Sequence

import msgspec

from lochan.errors import Corruption, InvalidInput
from lochan.model import ident
from lochan.model.ids import CommitId, MetaRangeId
from lochan.model.instant import NANOSECONDS, Instant, to_seconds
from lochan.model.records import COMMIT_VERSION, LAKEFS_VERSIONS, Clock, Commit


def commit_id(commit: Commit) -> CommitId:
    """Compute the id that a commit must have. Raises InvalidInput for a version not known here."""
    if commit.version in LAKEFS_VERSIONS:
        parts = _shared(commit, "commit:v1", (to_seconds(commit.creation_date),))
    elif commit.version == COMMIT_VERSION:
        parts = _shared(commit, "lochan:commit:v1", divmod(commit.creation_date, NANOSECONDS))
        parts.append(ident.clock_list(commit.clocks))
    else:
        message = f"commit version {commit.version} is not known; a newer lochan may know it"
        raise InvalidInput(message, code="unknown-commit-version", version=commit.version)
    return CommitId(ident.digest(parts).hex())


def _shared(commit: Commit, formula: str, time: Sequence[int]) -> list[bytes]:
    return [
        ident.string(formula),
        ident.string(commit.committer),
        ident.string(commit.message),
        ident.string(commit.meta_range_id),
        *map(ident.int64, time),
        ident.string_map(commit.metadata),
        ident.embedded(ident.digest([ident.string_list(commit.parents)])),
    ]


def new_commit(  # noqa: PLR0913 - a commit's facts, each named by the caller
    *,
    committer: str,
    message: str,
    creation_date: Instant,
    meta_range_id: MetaRangeId,
    clocks: tuple[Clock, ...],
    metadata: Mapping[str, str] | None = None,
    parents: tuple[CommitId, ...] = (),
    generation: int = 1,
) -> Commit:
    """Make a commit of today's version, with its id.

    What is not hashed (started, finished, provenance) is added by `msgspec.structs.replace`.
    """
    unnamed = Commit(
        id=CommitId(""),
        committer=committer,
        message=message,
        creation_date=creation_date,
        meta_range_id=meta_range_id,
        metadata=metadata or {},
        parents=parents,
        generation=generation,
        clocks=clocks,
    )
    return msgspec.structs.replace(unnamed, id=commit_id(unnamed))


def check_commit_id(commit: Commit) -> None:
    """Raise Corruption unless a stored commit hashes to its id."""
    expected = commit_id(commit)
    if commit.id != expected:
        reason = f"its fields hash to {expected}"
        raise Corruption(reason, file=f"commit {commit.id}", expected=expected)
