# SPDX-License-Identifier: Apache-2.0
"""A commit as it was written down; it never changes.

Wherever a reference is asked for a commit may be given: its text is its id. Its objects are read
through `repository.ref(commit)`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from msgspec import UNSET

from lochan.client import html
from lochan.client.transport import Transport
from lochan.shapes import commits
from lochan.shapes.provenance import Provenance


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Commit:
    """One commit of a repository."""

    record: commits.Commit  # as it came
    look: Callable[[str], commits.Commit] | None = None  # for what did not come with it

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

    @property
    def provenance(self) -> Sequence[Provenance]:
        """Give all that it was made of by jobs, near and far, inputs before what they made."""
        found = self._whole().provenance
        return () if found is UNSET else found

    @property
    def direct_provenance(self) -> Sequence[Provenance]:
        """Give what it was made of at once, as it is stored."""
        found = self._whole().direct_provenance
        return () if found is UNSET else found

    def _whole(self) -> commits.Commit:
        """Give the record with its provenance, which the commits of a listing come without."""
        if self.record.provenance is UNSET and self.look is not None:
            return self.look(self.id)
        return self.record

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Commit) and self.id == other.id  # a hash of all the rest

    def __hash__(self) -> int:
        return hash(self.id)

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


def known_commit(transport: Transport, repository: str, record: commits.Commit) -> Commit:
    """Give a commit that can be asked for more than came with it."""

    def look(commit: str) -> commits.Commit:
        return transport.call(
            "GET", ("repositories", repository, "commits", commit), commits.Commit
        )

    return Commit(record, look)
