# SPDX-License-Identifier: Apache-2.0
"""A commit as it was written down; it never changes.

Wherever a reference is asked for a commit may be given: its text is its id. Its objects are read
through `repository.ref(commit)`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from lochan.client import html
from lochan.shapes import commits


@dataclass(frozen=True, slots=True, repr=False)
class Commit:
    """One commit of a repository."""

    record: commits.Commit  # as it came

    @property
    def id(self) -> str:
        """Give its hash."""
        return self.record.id

    @property
    def message(self) -> str:
        """Say what it is about."""
        return self.record.message

    @property
    def committer(self) -> str:
        """Say who made it."""
        return self.record.committer

    @property
    def parents(self) -> Sequence[str]:
        """Give the ids of the commits right before it."""
        return self.record.parents

    @property
    def metadata(self) -> Mapping[str, str]:
        """Give what its maker attached."""
        return self.record.metadata

    @property
    def meta_range_id(self) -> str:
        """Give the id of its tree."""
        return self.record.meta_range_id

    @property
    def creation_date(self) -> datetime:
        """Say when it was made."""
        return datetime.fromtimestamp(self.record.creation_date, UTC)

    def __str__(self) -> str:
        return self.record.id

    def __repr__(self) -> str:
        first = self.message.partition("\n")[0]
        return f"<Commit {self.id[:12]} {first!r} by {self.committer}>"

    def _repr_html_(self) -> str:
        record = self.record
        return html.facts(
            f"commit {record.id[:12]}",
            {
                "id": record.id,
                "message": record.message,
                "committer": record.committer,
                "made": html.moment(record.creation_date),
                "parents": ", ".join(parent[:12] for parent in record.parents),
                **record.metadata,
            },
        )
