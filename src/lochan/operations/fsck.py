# SPDX-License-Identifier: Apache-2.0
"""Check a lake: every ref to every object, hashes, clocks, and that tokens are accounted for.

    refs -> commits -> parents     records, ids, generations, clocks, derived rows   fsck_history
    commits -> trees -> objects    metaranges, ranges, entries, objects              fsck_trees
    expired commits -> trees       the same, but for objects, which were collected   fsck_trees
    branches -> tokens             staged rows and their objects; notes              here

Nothing is changed, and no finding ends it: only a store that does not answer raises. Writers may be
at work. What they change between two looks can then be found missing, so a finding that a second
run does not repeat was none. Memory: some hundred bytes a commit and a range, a kilobyte a merge.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from lochan.errors import Corruption
from lochan.kernel.records import Record
from lochan.kv.read import scan_prefix
from lochan.model.codec import decode_open_commit, decode_repository, decode_staged_entry
from lochan.model.ids import COMPACTED_TO_NOTHING, RepositoryId, StagingToken
from lochan.model.keys import (
    CLEANUP,
    DELETED,
    GC_EXPIRED,
    GRAVELER,
    OPEN,
    REPOSITORIES,
    STAGED,
    partition_of,
    token_partition,
)
from lochan.model.records import Commit, Repository, RepositoryState
from lochan.operations.findings import Finding, Kind
from lochan.operations.fsck_history import Past, check_history
from lochan.operations.fsck_trees import Trees
from lochan.operations.lake import Lake
from lochan.operations.view import tokens_of
from lochan.refs.expired import expired_commits
from lochan.refs.notes import deleted_notes, token_notes


class Checked(NamedTuple):
    """Where a check is: the repository, what it looks at, and how many of that it has seen."""

    repository: RepositoryId
    stage: str
    seen: int


def _untold(_: Checked) -> None:
    """Tell nobody."""


def fsck(
    lake: Lake, *, objects: bool = True, progress: Callable[[Checked], None] = _untold
) -> Iterator[Finding]:
    """Check every repository, and the cleaner's notes. Raises Unavailable."""
    living: list[Repository] = []
    for key, value in scan_prefix(lake.store, GRAVELER, REPOSITORIES):
        try:
            repository = decode_repository(value, where=key.decode())
        except Corruption as error:
            yield Finding(Kind.UNREADABLE_RECORD, key.decode(), error.reason)
            continue
        if repository.repository_state is RepositoryState.ACTIVE:
            living.append(repository)
        else:
            what = f"it is {repository.repository_state.name.lower()}"
            yield Finding(Kind.UNFINISHED_REPOSITORY, key.decode(), what)
    for repository in living:
        yield from fsck_repository(lake, repository, objects=objects, progress=progress)
    yield from _check_notes(lake, living)


def fsck_repository(
    lake: Lake,
    repository: Repository,
    *,
    objects: bool = True,
    progress: Callable[[Checked], None] = _untold,
) -> Iterator[Finding]:
    """Check one repository; without `objects`, no data object is asked for."""
    past = Past()
    name = repository.repository_id
    yield from check_history(lake, repository, past)
    progress(Checked(name, "commits", len(past.history)))
    swept: set[str] = set()
    yield from _read_swept(lake, repository, swept)
    trees = Trees.of(lake, repository, objects=objects)
    for commit in _published(lake, repository, past):
        if commit.id not in swept:
            yield from trees.check(commit.meta_range_id, f"commit {commit.id}")
            progress(Checked(name, "committed objects", trees.records))
    for branch in past.branches:
        base = branch.compacted_base_meta_range_id
        if base != COMPACTED_TO_NOTHING:
            yield from trees.check(base, f"branch {branch.branch_id!r} of {name!r}")
    yield from _check_tokens(lake, repository, past, trees, progress)
    if swept:  # last: a range that kept commits have as well was checked with its objects
        bare = replace(trees, objects=False)
        for commit in _published(lake, repository, past):
            yield from bare.check(commit.meta_range_id, f"commit {commit.id}")


def _read_swept(lake: Lake, repository: Repository, swept: set[str]) -> Iterator[Finding]:
    """Fill in the commits of which a collector has removed objects, as the rules ask for."""
    table = expired_commits(lake.store, repository)
    for key, value in scan_prefix(lake.store, partition_of(repository), GC_EXPIRED):
        try:
            if table.decode(value).swept:
                swept.add(key.removeprefix(GC_EXPIRED).decode(errors="replace"))
        except Corruption as error:
            where = f"{repository.repository_id}: {key.decode(errors='replace')}"
            yield Finding(Kind.UNREADABLE_RECORD, where, error.reason)


def _published(lake: Lake, repository: Repository, past: Past) -> Iterator[Commit]:
    tables = lake.tables(repository)
    history = past.history
    for number in history.order():
        if past.published[number]:
            yield tables.commits.get(history.commit_id(number).encode()).record


def _check_tokens(
    lake: Lake,
    repository: Repository,
    past: Past,
    trees: Trees,
    progress: Callable[[Checked], None],
) -> Iterator[Finding]:
    owners: dict[StagingToken, str] = {}
    for token, owner in _tokens(lake, repository, past):
        if owners.setdefault(token, owner) != owner:
            yield Finding(Kind.SHARED_TOKEN, owner, f"{owners[token]} has its token {token!r}, too")
            continue
        count = 0
        for key, value in lake.store.scan(token_partition(token)):
            count += 1
            yield from _check_staged(key, value, trees, f"token {token!r} of {owner}")
        progress(Checked(repository.repository_id, f"staged under {token}", count))
    partition = partition_of(repository)
    for key, value in scan_prefix(lake.store, partition, OPEN):
        where = f"{repository.repository_id}: {key.decode(errors='replace')}"
        try:
            decode_open_commit(value, where)
        except Corruption as error:
            yield Finding(Kind.UNREADABLE_RECORD, where, error.reason)


def _tokens(lake: Lake, repository: Repository, past: Past) -> Iterator[tuple[StagingToken, str]]:
    name = repository.repository_id
    for branch in past.branches:
        for token in tokens_of(branch):
            yield token, f"branch {branch.branch_id!r} of {name!r}"
    for _, value in scan_prefix(lake.store, partition_of(repository), OPEN):
        try:
            opened = decode_open_commit(value)
        except Corruption:
            continue  # told by whoever reads the row by its name
        if opened.staging_token:
            yield opened.staging_token, f"started commit {opened.id!r} of {name!r}"


def _check_staged(key: bytes, value: bytes, trees: Trees, where: str) -> Iterator[Finding]:
    shown = key.decode(errors="replace")
    try:
        row = decode_staged_entry(value)
    except Corruption as error:
        yield Finding(Kind.UNREADABLE_STAGED_ROW, f"row {shown!r}, {where}", error.reason)
        return
    if key != STAGED + row.key:
        what = f"it is the row of {row.key.decode(errors='replace')!r}"
        yield Finding(Kind.UNREADABLE_STAGED_ROW, f"row {shown!r}, {where}", what)
    elif not row.is_tombstone:
        yield from trees.check_entry(Record(row.key, row.identity, row.data), where)


def _check_notes(lake: Lake, living: list[Repository]) -> Iterator[Finding]:
    """Check that the cleaner can read its notes, and that none asks for a living repository."""
    alive = {(found.repository_id, found.unique_identifier) for found in living}
    for key, value in lake.store.scan(DELETED):
        where = f"graveler_deleted: {key.decode(errors='replace')}"
        try:
            note = deleted_notes(lake.store).decode(value)
        except Corruption as error:
            yield Finding(Kind.UNREADABLE_NOTE, where, error.reason)
            continue
        if (note.repository, note.unique_identifier) in alive:
            what = f"it asks for {note.repository!r}, which is active"
            yield Finding(Kind.NOTE_ABOUT_THE_LIVING, where, what)
    for key, value in lake.store.scan(CLEANUP):
        try:
            token_notes(lake.store).decode(value)
        except Corruption as error:
            where = f"cleanup-tokens: {key.decode(errors='replace')}"
            yield Finding(Kind.UNREADABLE_NOTE, where, error.reason)
