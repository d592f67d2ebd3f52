# SPDX-License-Identifier: Apache-2.0
"""What a ref shows: a branch its staged writes over its commit, anything else a commit's tree.

main, main$                     read under the reader's protocol (`view`)
main@, v1, 3fa9..., main~2      one tree, which never changes (G14)
"""

import re
from collections.abc import Callable
from typing import TypeVar

from lochan.errors import InvalidInput, NotFound
from lochan.kernel.records import Record
from lochan.model.ids import BranchName, CommitId, MetaRangeId, is_commit_id
from lochan.model.records import Branch, Commit, Repository
from lochan.operations.lake import Lake
from lochan.operations.view import read_stably, recall_record
from lochan.refs.expression import Sign
from lochan.refs.resolve import resolve

Answer = TypeVar("Answer")

# What a branch may be called. A whole commit id comes first in `resolve`, all else comes later.
_BRANCH = re.compile(r"(?![0-9a-f]{64}$)\w[-\w]*", re.ASCII)


def read_ref(
    lake: Lake,
    repository: Repository,
    ref: str,
    of_branch: Callable[[Branch], Answer],
    of_tree: Callable[[MetaRangeId], Answer],
) -> Answer:
    """Read what a ref shows, from a branch record or from a tree. Raises what `resolve` raises.

    `of_branch` may run again, as in `read_stably`.
    """
    if _BRANCH.fullmatch(ref):  # most reads are of branches, and need no further look
        try:
            return read_stably(lake, repository, BranchName(ref), of_branch)
        except NotFound as error:
            if error.code != "branch-not-found":
                raise
    elif is_commit_id(ref):
        try:  # what a commit's tree is was remembered, and needs no look at all
            tree = lake.commits.tree(repository, CommitId(ref))
        except NotFound:
            pass
        else:
            return of_tree(tree)
    found = resolve(lake.tables(repository), ref)
    if found.staging and found.branch is not None:
        return read_stably(lake, repository, found.branch.branch_id, of_branch)
    return of_tree(lake.commits.tree(repository, found.commit_id))


def recall_ref(lake: Lake, repository: Repository, ref: str, key: bytes) -> Record | None:
    """Give what a branch or a whole commit id shows for a key, if that needs no waiting.

    None says nothing: `read_ref` finds out.
    """
    tree = lake.commits.recall_tree(repository, CommitId(ref))
    if tree is not None:  # a whole id comes before any name, see `resolve`
        return lake.storage(repository.storage_namespace).snapshots.recall(tree, key)
    return recall_record(lake, repository, BranchName(ref), key)


def committed(lake: Lake, repository: Repository, ref: str) -> CommitId:
    """Name the commit that a ref stands for, where what is staged does not count.

    Raises: InvalidInput for branch$, which asks for what is staged; what `resolve` raises.
    """
    found = resolve(lake.tables(repository), ref)
    if found.view is Sign.STAGED:
        message = f"{ref!r} means what is staged, and only commits are compared; use {ref[:-1]!r}"
        raise InvalidInput(message, code="invalid-ref", value=ref)
    return found.commit_id


def commit_of(lake: Lake, repository: Repository, ref: str) -> Commit:
    """Read the commit that a ref stands for; see `committed`."""
    name = committed(lake, repository, ref)
    return lake.tables(repository).commits.get(name.encode()).record
