# SPDX-License-Identifier: Apache-2.0
"""Change what a repository's own record says: the read-only flag, the rules of protection, the end.

All lies in the record that every fresh read of a branch reads too, so that it binds every server
from the moment of the compare-and-swap (H14). Only the incarnation that the caller holds is
changed, and only while it is active.
"""

from collections.abc import Callable

import msgspec

from lochan.errors import RepositoryDeleting, RepositoryNotFound
from lochan.model.records import Repository, RepositoryState
from lochan.operations.allowed import require_writable
from lochan.operations.lake import Lake
from lochan.refs.deletion import end_repository
from lochan.refs.repositories import is_same
from lochan.refs.tables import repositories


def set_read_only(lake: Lake, repository: Repository, *, read_only: bool) -> Repository:
    """Make a repository read-only, or writable again; the flag alone never stands in its own way.

    Requests that were let through before may still take effect.
    Raises: RepositoryNotFound, RepositoryDeleting, UnknownOutcome.
    """
    return change_repository(
        lake, repository, lambda record: msgspec.structs.replace(record, read_only=read_only)
    )


def delete_repository(lake: Lake, repository: Repository) -> None:
    """Delete a repository; a read-only one only for a caller who insists, as in lakeFS.

    Its objects stay in their namespace. Raises: RepositoryNotFound, Refused, UnknownOutcome.
    """
    stored = repositories(lake.store).find(repository.repository_id.encode())
    if stored is None or not is_same(stored.record, repository):
        raise RepositoryNotFound(f"repository {repository.repository_id!r} is gone")
    require_writable(stored.record, force=lake.force)
    end_repository(lake.store, lake.environment, stored)


def change_repository(
    lake: Lake, repository: Repository, change: Callable[[Repository], Repository]
) -> Repository:
    """Replace a repository's record by what a pure function makes of it, and give that.

    Raises: what `change` raises; RepositoryNotFound, RepositoryDeleting, UnknownOutcome.
    """

    def changed(record: Repository | None) -> Repository:
        if record is None or not is_same(record, repository):
            raise RepositoryNotFound(f"repository {repository.repository_id!r} is gone")
        if record.repository_state is not RepositoryState.ACTIVE:
            raise RepositoryDeleting(f"repository {repository.repository_id!r} is being deleted")
        return change(record)

    name = repository.repository_id.encode()
    stored = repositories(lake.store).update(name, changed, lake.environment)
    assert stored is not None  # noqa: S101 - changed never gives None
    return stored
