# SPDX-License-Identifier: Apache-2.0
"""List what a ref shows: records and common prefixes; of a branch, staged writes over the commit.

A page of a branch is gathered whole and then checked against the branch record, like any read (G3,
H2): each is consistent in itself, and the next begins strictly behind its last item. What a
delimiter hides is jumped over by seeking in the tokens and in the commit alike.
"""

from dataclasses import dataclass

from lochan.committed.cursor import Cursor
from lochan.committed.listing import Prefix, Walk, list_records
from lochan.kernel.records import Record
from lochan.model.records import Branch, Repository, StagedEntry
from lochan.operations.lake import Lake
from lochan.operations.reference import read_ref
from lochan.operations.view import tree_under
from lochan.staging.fold import folded
from lochan.staging.layers import layers_of

Item = Record | Prefix
MOST = 1000  # items a page


@dataclass(frozen=True, slots=True)
class ListingPage:
    """Some items in key order, and whether more may follow."""

    items: tuple[Item, ...]
    has_more: bool


def list_objects(
    lake: Lake,
    repository: Repository,
    ref: str,
    prefix: bytes = b"",
    *,
    after: bytes = b"",
    delimiter: bytes = b"",
    amount: int = MOST,
) -> ListingPage:
    """Give one page of what lies under `prefix` and behind `after`. Raises NotFound for the ref."""

    def gather(shown: Walk[Record]) -> ListingPage:
        items: list[Item] = []
        for item in list_records(shown, prefix, after=after, delimiter=delimiter):
            if len(items) == amount:
                return ListingPage(tuple(items), has_more=True)
            items.append(item)
        return ListingPage(tuple(items), has_more=False)

    snapshots = lake.storage(repository.storage_namespace).snapshots
    return read_ref(
        lake,
        repository,
        ref,
        lambda branch: gather(_Shown(lake, repository, branch)),
        lambda tree: gather(snapshots.cursor(tree)),
    )


class _Shown:
    """What one branch record shows, in key order: a cursor over tokens and commit together."""

    def __init__(self, lake: Lake, repository: Repository, branch: Branch) -> None:
        self._lake = lake
        self._layers = layers_of(branch)
        snapshots = lake.storage(repository.storage_namespace).snapshots
        self._committed: Cursor = snapshots.cursor(tree_under(lake, repository, branch))
        self.seek(b"")

    def seek(self, key: bytes) -> None:
        self._staged = folded(self._lake.staging, self._layers, key)
        self._committed.seek(key)
        self._above: StagedEntry | None = next(self._staged, None)
        self._below: Record | None = self._committed.next()

    def next(self) -> Record | None:
        """Give the next record that is shown; staged rows hide committed ones of their key."""
        while True:
            above, below = self._above, self._below
            if above is None or (below is not None and below.key < above.key):
                self._below = self._committed.next() if below is not None else None
                return below
            if below is not None and below.key == above.key:
                self._below = self._committed.next()
            self._above = next(self._staged, None)
            if not above.is_tombstone:
                return Record(above.key, above.identity, above.data)
