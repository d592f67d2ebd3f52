# SPDX-License-Identifier: Apache-2.0
"""Whether a commit may name a tree that somebody hands over: its objects must be there, and stay.

By what they are named, if by anything, nobody knows. The tree may be that of a commit which expired
months ago, or one that was written then and never committed.

    named by the head          alive
    young                      no candidate for longer than it takes to make a commit
    in a commit that is kept   the same as a branch that is made there
    any other                  logged, then neither condemned nor gone (`still_there`)
"""

from collections.abc import Iterator
from typing import Final

from lochan.errors import ObjectExpired
from lochan.kernel.chosen import kernel
from lochan.model.codec import decode_entry
from lochan.model.entry import addresses_of
from lochan.model.ids import MetaRangeId
from lochan.model.records import Repository
from lochan.objects.address import DATA, find_data
from lochan.operations.gc.mark import distinct_ranges, range_marks
from lochan.operations.gc.roots import address_hash, home_of
from lochan.operations.gc.still_there import still_there
from lochan.operations.lake import Lake
from lochan.operations.link_object import LINK_EXPIRY_S
from lochan.refs.commits import list_commits
from lochan.refs.expired import expired_commits

_YOUNG_S: Final = LINK_EXPIRY_S  # half a grace


def require_objects(
    lake: Lake, repository: Repository, tree: MetaRangeId, head: MetaRangeId
) -> None:
    """Refuse a tree that shows what was collected, or may be soon; `head` is one that is kept.

    Raises: ObjectExpired; Corruption, NotFound where the tree cannot be read.
    """
    asked = set(_old(lake, repository, tree, head))
    if not asked or _is_kept(lake, repository, tree):
        return
    lost = asked - still_there(lake, repository, asked)
    if lost:
        raise ObjectExpired(
            f"objects of metarange {tree} were collected, or are about to be: {len(lost)}, such as"
            f" {min(lost)!r}; write a tree of objects that are there",
            meta_range_id=tree,
        )


def _old(lake: Lake, repository: Repository, tree: MetaRangeId, head: MetaRangeId) -> Iterator[str]:
    """Name the objects that a collector might take: those that the head does not name."""
    files = lake.storage(repository.storage_namespace).snapshots.files
    theirs, ours = distinct_ranges(files, {tree}), distinct_ranges(files, {head})
    if not theirs - ours:
        return
    alive = kernel.hash_set()
    for marks in range_marks(lake, repository)(sorted(ours - theirs)):
        alive.update(marks.hashes)
    inside, now = home_of(repository).decode(), lake.environment.now()
    for named in sorted(theirs - ours):
        for value in files.range_once(named).records().values:
            for address in addresses_of(decode_entry(value)):
                own = address.removeprefix(inside)
                if own.startswith(f"{DATA}/") and address_hash(own) not in alive:
                    found = find_data(own)
                    if found is None or now - found.created >= _YOUNG_S:
                        yield own


def _is_kept(lake: Lake, repository: Repository, tree: MetaRangeId) -> bool:
    """Say whether the tree is that of a commit on which anybody may build."""
    table = expired_commits(lake.store, repository)
    return any(
        commit.meta_range_id == tree and table.find(commit.id.encode()) is None
        for commit in list_commits(lake.tables(repository))
    )
