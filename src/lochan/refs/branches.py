# SPDX-License-Identifier: Apache-2.0
"""Branches: names that move. Reading, making, removing and listing their records.

Moving a branch is compare-and-swap of its record and belongs to the stories. Here are its first and
its last record. Both are conditional, so the answer of a store may be lost (reliability hole H15).
A branch's staging token is drawn once and for it alone, so a record that names the token, as its
current one or among the sealed ones, is surely that branch and no later one of its name:

    read again after a lost answer    to create                     to delete
    our token is there                created                       not deleted
    no record                         nobody can say                deleted, by us or by another
    a record without our token        nobody can say                nobody can say

"Nobody can say" stays UnknownOutcome. Creating is not tried again with the same record: had it been
created, deleted and noted for the cleaner meanwhile, the cleaner would wipe its token under the
second one.
"""

from collections.abc import Iterator, Mapping

from lochan.errors import AlreadyExists, Conflict, NotFound, NotUnique, PredicateFailed
from lochan.errors import UnknownOutcome as Unknown
from lochan.kv.store import Place, Predicate, Present, SetIfAll
from lochan.kv.table import Stored
from lochan.model.ids import BranchName, is_commit_id
from lochan.model.records import Branch
from lochan.refs.outcomes import begun
from lochan.refs.seek import scan_from
from lochan.refs.tables import RepositoryTables

# A lost answer to a removal that did not happen is followed by another try, so many times.
_REMOVALS = 5


def get_branch(tables: RepositoryTables, name: BranchName) -> Stored[Branch]:
    """Read a branch, with the predicate for changing it. Raises NotFound."""
    found = tables.branches.find(name.encode())
    if found is None:
        raise NotFound(f"there is no branch {name!r}", code="branch-not-found", branch=name)
    return found


def first_resets(unique_id: str) -> int:
    """Give the number from which a new branch counts its resets: the id drawn for its token, cut.

    Whoever was at work on a deleted branch of the same name sees another number, as after a reset:
    what it made of the old one is void, and its tokens were not committed but forgotten.
    """
    return int(unique_id[-12:], 16)


def create_branch(tables: RepositoryTables, branch: Branch) -> None:
    """Store the first record of a branch; its staging token was drawn for this call.

    Raises: NotUnique when there is a branch of this name; AlreadyExists when a tag or a commit has
    it; UnknownOutcome.
    """
    name = branch.branch_id
    _check_name_is_free(tables, name)
    try:
        tables.branches.set_if(name.encode(), branch, None)
    except PredicateFailed as error:
        message = f"there is a branch {name!r} already; choose another name"
        raise NotUnique(message, code="branch-already-exists", branch=name) from error
    except Unknown:
        if not _is_there(tables, branch):
            raise


def create_branch_at_once(
    store: SetIfAll, tables: RepositoryTables, branch: Branch, unchanged: Mapping[Place, Predicate]
) -> bool:
    """Store the first record of a branch if its name is free and other records are unchanged.

    All is asked at one instant. False: nothing was stored, for a reason that `create_branch` finds
    out. Raises: Unavailable, UnknownOutcome.
    """
    name = branch.branch_id.encode()
    mine = tables.branches.place(name)
    wanted: dict[Place, Present | None] = {mine: None, tables.tags.place(name): None, **unchanged}
    if is_commit_id(branch.branch_id):
        wanted[tables.commits.place(name)] = None
    try:
        store.set_if_all(*mine, tables.branches.encode(branch), wanted)
    except PredicateFailed:
        return False
    except Unknown:
        if not _is_there(tables, branch):
            raise
    return True


def delete_branch(tables: RepositoryTables, stored: Stored[Branch]) -> None:
    """Remove exactly the record that was read (H18), never one of a later branch of its name.

    Raises: Conflict when the branch has changed since it was read: read it again, note its tokens
    for the cleaner, and repeat; NotFound when somebody else deleted it; UnknownOutcome.
    """
    branch = stored.record
    for remaining in reversed(range(_REMOVALS)):
        try:
            tables.branches.delete_if(branch.branch_id.encode(), stored.predicate)
        except PredicateFailed as error:
            get_branch(tables, branch.branch_id)
            raise _changed(branch) from error
        except Unknown as unknown:
            with begun(f"deleting branch {branch.branch_id!r}"):
                found = tables.branches.find(branch.branch_id.encode())
            if found is None:
                return
            if not _same_branch(found.record, branch):
                raise
            if found.record != branch:
                raise _changed(branch) from unknown
            if not remaining:
                raise
        else:
            return


def list_branches(
    tables: RepositoryTables, start: str = "", *, hidden: bool = False
) -> Iterator[Branch]:
    """Give the branches from name `start` on, by name; hidden ones only if asked for."""
    for _, branch in scan_from(tables.branches, start):
        if hidden or not branch.hidden:
            yield branch


def list_branches_by_commit(
    tables: RepositoryTables, start: str = "", *, hidden: bool = False
) -> Iterator[Branch]:
    """Give the branches whose commit id is `start` or greater, by commit id, then by name.

    All records of the repository's branches are read first, as seed 000 proposes: no key has this
    order.
    """
    found = (b for b in list_branches(tables, hidden=hidden) if b.commit_id >= start)
    yield from sorted(found, key=lambda branch: (branch.commit_id, branch.branch_id))


def _check_name_is_free(tables: RepositoryTables, name: BranchName) -> None:
    # A tag made at the same time can slip through; resolving then finds the branch, everywhere.
    if tables.tags.find(name.encode()) is not None:
        raise _taken("tag", name)
    if is_commit_id(name) and tables.commits.find(name.encode()) is not None:
        raise _taken("commit", name)


def _taken(kind: str, name: BranchName) -> AlreadyExists:
    message = f"there is a {kind} {name!r}, so a branch cannot have this name"
    return AlreadyExists(message, code=f"{kind}-already-exists", branch=name)


def _is_there(tables: RepositoryTables, branch: Branch) -> bool:
    """Say whether a branch whose creation lost its answer is surely there."""
    with begun(f"creating branch {branch.branch_id!r}"):
        found = tables.branches.find(branch.branch_id.encode())
    return found is not None and _same_branch(found.record, branch)


def _same_branch(found: Branch, ours: Branch) -> bool:
    """Say whether a record surely belongs to our branch: one of its tokens is ours."""
    tokens = {ours.staging_token, *ours.sealed_tokens}
    return not tokens.isdisjoint((found.staging_token, *found.sealed_tokens))


def _changed(branch: Branch) -> Conflict:
    message = f"branch {branch.branch_id!r} was changed while it was being deleted; try again"
    return Conflict(message, code="branch-changed", branch=branch.branch_id)
