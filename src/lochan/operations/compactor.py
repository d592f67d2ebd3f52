# SPDX-License-Identifier: Apache-2.0
"""The compactor: looks after branches on which much is staged, and compacts them.

A branch is compacted when its tokens hold `rows` rows together, tombstones included, or when more
than `tokens` of them are sealed. Below that, a listing reads what is staged faster than a tree can
be written. Nothing is remembered between runs but what is shown, and several processes may run it
at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from lochan.errors import LochanError
from lochan.model.ids import BranchName, RepositoryId
from lochan.model.records import Branch, Repository
from lochan.operations.compact import compact
from lochan.operations.lake import Lake
from lochan.operations.view import tokens_of
from lochan.refs.branches import list_branches
from lochan.refs.repositories import list_repositories

ROWS: Final = 100_000
TOKENS: Final = 16


@dataclass(frozen=True, slots=True)
class Compaction:
    """What became of one branch; with an error, it was left as it is."""

    repository_id: RepositoryId
    branch_id: BranchName
    error: LochanError | None = None


class Compactor:
    """Compacts the branches of a lake on which much is staged."""

    def __init__(self, lake: Lake, *, rows: int = ROWS, tokens: int = TOKENS) -> None:
        """Compact from so many rows, or beyond so many sealed tokens."""
        self._lake = lake
        self._rows = rows
        self._tokens = tokens
        self.longest = 0  # the most tokens that a branch had sealed when the last run came by

    def run(self) -> list[Compaction]:
        """Look at every branch once; gives those that were due, or failed.

        Raises: what listing repositories and branches raises.
        """
        found: list[Compaction] = []
        longest = 0
        for repository, branch in self._branches():
            longest = max(longest, len(branch.sealed_tokens))
            if compaction := self._look_after(repository, branch):
                found.append(compaction)
        self.longest = longest
        return found

    def _branches(self) -> Iterator[tuple[Repository, Branch]]:
        for repository in list_repositories(self._lake.store):
            if not repository.read_only:
                for branch in list_branches(self._lake.tables(repository), hidden=True):
                    yield repository, branch

    def _look_after(self, repository: Repository, branch: Branch) -> Compaction | None:
        place = (repository.repository_id, branch.branch_id)
        try:
            if not self._is_due(branch):
                return None
            compact(self._lake, repository, branch.branch_id)
        except LochanError as error:  # one branch must not keep the others waiting
            return Compaction(*place, error)
        return Compaction(*place)

    def _is_due(self, branch: Branch) -> bool:
        if len(branch.sealed_tokens) > self._tokens:
            return True
        rows = (row for token in tokens_of(branch) for row in self._lake.staging.scan(token))
        return sum(1 for _ in islice(rows, self._rows)) == self._rows
