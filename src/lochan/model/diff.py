# SPDX-License-Identifier: Apache-2.0
"""Seed 002's Diff and Append: what one commit did to one path.

    Append   children    names that came to a directory (True) or left it (False)
             blockrefs   what was appended to a file, in order: the hex SHA-256 of a block, or the
                         address of an object that was put whole
             delete      all that was there before goes

    Diff     ID          commit + ":" + path; no commit's name holds a colon
             appends     a log: a deletion stands before what was appended after it
             delete      any of the appends deletes
             clocks      the commit's
             size        the bytes of the blockrefs

Nobody stores these: they follow from two trees (`lochan.operations.open_commits.diffs`).
"""

from collections.abc import Mapping

import msgspec

from lochan.model.ids import ObjectKey, RepositoryId
from lochan.model.records import Clock


class Append(msgspec.Struct, frozen=True, kw_only=True):
    """One step of what a commit did to a path."""

    children: Mapping[bytes, bool] = msgspec.field(default_factory=dict)
    blockrefs: tuple[str, ...] = ()
    delete: bool = False


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    """What a commit did to a path; the root directory's is empty."""

    ID: bytes
    repo: RepositoryId
    commit: str
    path: ObjectKey
    delete: bool
    clocks: tuple[Clock, ...]
    appends: tuple[Append, ...]
    size: int
