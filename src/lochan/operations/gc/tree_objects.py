# SPDX-License-Identifier: Apache-2.0
"""Whether a commit may name a tree that somebody hands over: its objects must be there, and stay.

By what they are named, if by anything, nobody knows. The tree may be that of a commit which expired
months ago, or one that was written then and never committed.

    in the branch's head       named, and so alive
    young                      no candidate for longer than it takes to make a commit
    in a commit that is kept   the same as a branch that is made there
    any other                  logged, then neither condemned nor gone (`still_there`)
"""

from collections.abc import Iterator
from typing import Final

from lochan.errors import Gone
from lochan.model.codec import decode_entry
from lochan.model.ids import MetaRangeId
from lochan.model.records import Repository
from lochan.objects.address import DATA, find_data
from lochan.operations.copy_object import addresses_of
from lochan.operations.gc.mark import distinct_ranges
from lochan.operations.gc.roots import home_of
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

    Raises: Gone, code object-expired; Corruption, NotFound where the tree cannot be read.
    """
    asked = set(_old(lake, repository, tree, head))
    if not asked or _is_kept(lake, repository, tree):
        return
    lost = asked - still_there(lake, repository, asked)
    if lost:
        raise Gone(
            f"objects of metarange {tree} were collected, or are about to be: {len(lost)}, such as"
            f" {min(lost)!r}; write a tree of objects that are there",
            code="object-expired",
            meta_range_id=tree,
        )


def _old(lake: Lake, repository: Repository, tree: MetaRangeId, head: MetaRangeId) -> Iterator[str]:
    """Name the objects that a collector might take, of the ranges that the head does not have."""
    files = lake.storage(repository.storage_namespace).snapshots.files
    inside, now = home_of(repository).decode(), lake.environment.now()
    for named in sorted(distinct_ranges(files, {tree}) - distinct_ranges(files, {head})):
        for value in files.range_once(named).records().values:
            for address in addresses_of(decode_entry(value)):
                own = address.removeprefix(inside)
                found = find_data(own)
                is_young = found is not None and now - found.created < _YOUNG_S
                if own.startswith(f"{DATA}/") and not is_young:
                    yield own


def _is_kept(lake: Lake, repository: Repository, tree: MetaRangeId) -> bool:
    """Say whether the tree is that of a commit on which anybody may build."""
    table = expired_commits(lake.store, repository)
    return any(
        commit.meta_range_id == tree and table.find(commit.id.encode()) is None
        for commit in list_commits(lake.tables(repository))
    )
