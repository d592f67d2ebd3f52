# SPDX-License-Identifier: Apache-2.0
"""Records as the API shows them, where several resources show the same."""

from typing import Final

from lochan.model import records
from lochan.model.instant import to_seconds
from lochan.shapes.commits import Commit

_LATEST_OF_LAKEFS: Final = 1  # parents come in order, which holds for ours too


def shown_commit(commit: records.Commit) -> Commit:
    """Show a commit as lakeFS does."""
    return Commit(
        id=commit.id,
        parents=list(commit.parents),
        committer=commit.committer,
        message=commit.message,
        creation_date=to_seconds(commit.creation_date),
        meta_range_id=commit.meta_range_id,
        metadata=dict(commit.metadata),
        generation=commit.generation,
        version=min(commit.version, _LATEST_OF_LAKEFS),
    )
