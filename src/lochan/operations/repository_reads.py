# SPDX-License-Identifier: Apache-2.0
"""Repositories by name, as last seen: what every request begins with.

A record may be a second old. That is safe for writes, since their stories read the repository again
after they wrote (`branch_reads`), and refuse what is gone; reads of a deleted repository may go on
for that second (R17).
"""

from lochan.environment import Environment
from lochan.kv.store import Store
from lochan.model.ids import valid_repository_id
from lochan.model.records import Repository
from lochan.refs.repositories import get_repository

SEEN_FOR_S = 1.0
_MOST_SEEN = 10_000


class RepositoryReads:
    """Reads of repositories, shared by all requests of a process. Any thread may ask."""

    def __init__(self, store: Store, environment: Environment) -> None:
        """Read from this store."""
        self._store = store
        self._environment = environment
        self._seen: dict[str, tuple[float, Repository]] = {}

    def seen(self, name: str) -> Repository:
        """Give an active repository, at most a second old.

        Raises: RepositoryNotFound, RepositoryDeleting, InvalidInput for what is no name.
        """
        now = self._environment.monotonic()
        found = self._seen.get(name)
        if found is not None and now - found[0] < SEEN_FOR_S:
            return found[1]
        return self.fresh(name)

    def recall(self, name: str) -> Repository | None:
        """Give what `seen` would, if it need not read."""
        found = self._seen.get(name)
        if found is None or self._environment.monotonic() - found[0] >= SEEN_FOR_S:
            return None
        return found[1]

    def fresh(self, name: str) -> Repository:
        """Give an active repository as it is now. Raises as `seen`."""
        began = self._environment.monotonic()
        self._seen.pop(name, None)
        record = get_repository(self._store, self._environment, valid_repository_id(name))
        if len(self._seen) >= _MOST_SEEN:
            self._seen.clear()
        self._seen[name] = (began, record)
        return record

    def forget(self, name: str) -> None:
        """Believe nothing of a repository that this process has just changed or deleted."""
        self._seen.pop(name, None)
