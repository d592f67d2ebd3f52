# SPDX-License-Identifier: Apache-2.0
"""Many changes at once, or none: a hidden branch that is merged at the end of a block.

    1  make a hidden branch at the head of the destination
    2  the block writes to it; nobody else sees that
    3  commit, unless nothing changed
    4  merge into the destination: the one moment at which the changes appear
    5  delete the hidden branch, whatever happened

An error in 2 to 4 leaves the destination as it was.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from lochan.errors import LochanError


class Staged(Protocol):
    """What a transaction needs of a branch."""

    id: str

    def create(self, source: str, /, *, hidden: bool) -> object:
        """Make the branch."""

    def uncommitted(self, *, max_amount: int | None) -> Iterator[object]:
        """Give what is staged."""

    def commit(self, message: str, metadata: dict[str, str] | None, /) -> object:
        """Commit what is staged."""

    def get_commit(self) -> Any:  # noqa: ANN401 - a commit; only its id is looked at
        """Give the commit that the branch is at."""

    def merge_into(
        self, destination: str, /, *, message: str, metadata: dict[str, str] | None, squash: bool
    ) -> str:
        """Merge into another branch."""

    def delete(self) -> None:
        """Delete the branch."""


Branch = TypeVar("Branch", bound=Staged)


@contextmanager
def transact(
    destination: str,
    hidden: Branch,
    message: str,
    metadata: dict[str, str] | None,
    *,
    squash: bool,
) -> Iterator[Branch]:
    """Give a branch of which all comes to `destination` when the block ends well."""
    hidden.create(destination, hidden=True)
    try:
        began = hidden.get_commit().id
        yield hidden
        if next(iter(hidden.uncommitted(max_amount=1)), None) is not None:
            hidden.commit(message, metadata)
        if hidden.get_commit().id != began:
            hidden.merge_into(destination, message=message, metadata=metadata, squash=squash)
    except BaseException as error:
        _delete_after(hidden, error)
        raise
    hidden.delete()


def _delete_after(hidden: Staged, error: BaseException) -> None:
    """Delete the branch of a transaction that failed; that failure is the one to be told."""
    try:
        hidden.delete()
    except LochanError as second:
        error.add_note(f"the hidden branch {hidden.id} could not be deleted: {second}")
