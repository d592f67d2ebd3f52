# SPDX-License-Identifier: Apache-2.0
"""Restore dumped refs into a bare repository (R19).

    1. look        the whole dump is read and checked; nothing is written if anything is wrong
    2. mark        a row in the repository says which dump is being restored
    3. write       commits, then what follows from them (clock, reach and merged rows), tags, and
                   branches last: a branch is seen only when everything behind it is there
    4. unmark

The mark tells a restore that died from a repository with a life of its own: who restores the same
dump again goes on, everybody else is refused. Every step may be repeated, since all of it follows
from the dump, but for staging tokens: a branch that an earlier try has made keeps its own. A dump
that cannot be restored leaves no mark: it would keep the right one out.

Commits from lakeFS have no clocks, and may have no generation: both are filled in (`History`), the
only change that a commit record ever sees. Ids stay, and each is checked against what it hashes.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import msgspec

from lochan.errors import Corruption, NotFound, PredicateFailed, Refused
from lochan.kv.read import find
from lochan.kv.set_many import set_many
from lochan.kv.store import Pair, Versioned
from lochan.model.codec import decode_branch, decode_commit, decode_tag, encode_commit, encode_tag
from lochan.model.commit_id import check_commit_id
from lochan.model.ids import (
    CommitId,
    MetaRangeId,
    new_staging_token,
    valid_branch_name,
    valid_tag_name,
)
from lochan.model.keys import COMMITS, TAGS, partition_of
from lochan.model.records import COMMIT_VERSION, Branch, Clock, Commit, Repository, Tag
from lochan.operations.allowed import require_writable
from lochan.operations.lake import Lake
from lochan.operations.refs_dump import MANIFEST, RefsDump, decode_dump
from lochan.refs.creation import is_bare
from lochan.refs.derived import derived_rows
from lochan.refs.history import NOBODY, History
from lochan.refs.outcomes import begun, surely

MARK = b"tasks/restore-refs"
_CHUNK_ROWS = 5_000

R = TypeVar("R")


class _Mark(msgspec.Struct, frozen=True, kw_only=True):
    """Which dump is being restored, and whether the repository was seen to be bare before that."""

    dump: RefsDump
    was_bare: bool


@dataclass(frozen=True, slots=True)
class Restored:
    """How much was restored."""

    commits: int
    tags: int
    branches: int


def read_manifest(lake: Lake, repository: Repository) -> RefsDump:
    """Read the manifest of the last dump in a repository's storage namespace. Raises NotFound."""
    objects = lake.storage(repository.storage_namespace).objects
    with objects.get(MANIFEST) as reading:
        return decode_dump(reading.read())


def restore_refs(lake: Lake, repository: Repository, dump: RefsDump) -> Restored:
    """Restore a dump whose files are in the repository's storage namespace.

    After an error it may be repeated with the same dump, and goes on. Raises: Refused (codes
    not-bare, other-restore, read-only-repository); Corruption when the dump is not whole, NotFound
    (code dump-not-found) when a file of it is not there, and then nothing is written;
    UnknownOutcome, Unavailable.
    """
    require_writable(lake.branches.fresh_repository(repository), force=lake.force)
    _refuse_others(lake, repository, dump)
    history = _history(lake, repository, dump)
    _check_clocks(history, _commits(lake, repository, dump))
    tags = list(_rows(lake, repository, dump.tags_meta_range_id, decode_tag))
    branches = list(_rows(lake, repository, dump.branches_meta_range_id, decode_branch))
    _check_refs(history, tags, branches)
    with begun(f"restoring the refs of {repository.repository_id!r}"):
        _mark(lake, repository, dump)
        _write(lake, repository, _commit_rows(lake, repository, dump, history))
        every = bytearray(b"\1") * len(history)
        _write(lake, repository, derived_rows(history, every, repository, lake.environment))
        _write(lake, repository, ((TAGS + t.tag_id.encode(), encode_tag(t)) for t in tags))
        for branch in branches:
            _write_branch(lake, repository, branch)
        surely(lambda: lake.store.delete(partition_of(repository), MARK))
    return Restored(len(history), len(tags), len(branches))


def _refuse_others(lake: Lake, repository: Repository, dump: RefsDump) -> None:
    """Refuse what `_mark` would refuse now, before a long look at a dump."""
    found = find(lake.store, partition_of(repository), MARK)
    if found is None:
        _require_bare(lake, repository)
    elif msgspec.json.decode(found.value, type=_Mark).dump != dump:
        raise _other_restore(repository)


def _mark(lake: Lake, repository: Repository, dump: RefsDump) -> None:
    """Claim a bare repository for one dump, or find that it was claimed for this one."""
    partition = partition_of(repository)
    claim = msgspec.json.encode(_Mark(dump=dump, was_bare=False))
    found = find(lake.store, partition, MARK)
    if found is None:
        _require_bare(lake, repository)
        try:
            lake.store.set_if(partition, MARK, claim, None)
        except PredicateFailed as error:
            raise _other_restore(repository) from error
        found = lake.store.get(partition, MARK)
    mark = msgspec.json.decode(found.value, type=_Mark)
    if mark.dump != dump:
        raise _other_restore(repository)
    if not mark.was_bare:
        # Another restore may have come and gone between the look and the claim: look again.
        _confirm(lake, repository, found, mark)


def _confirm(lake: Lake, repository: Repository, found: Versioned, mark: _Mark) -> None:
    partition = partition_of(repository)
    try:
        _require_bare(lake, repository)
    except Refused:
        lake.store.delete_if(partition, MARK, found.predicate)
        raise
    confirmed = msgspec.json.encode(msgspec.structs.replace(mark, was_bare=True))
    lake.store.set_if(partition, MARK, confirmed, found.predicate)


def _require_bare(lake: Lake, repository: Repository) -> None:
    if not is_bare(lake.store, repository):
        message = (
            f"repository {repository.repository_id!r} has refs of its own; restore into a bare one"
        )
        raise Refused(message, code="not-bare", repository=repository.repository_id)


def _other_restore(repository: Repository) -> Refused:
    message = (
        f"another dump is being restored into {repository.repository_id!r}; finish that one, or"
        " delete the repository"
    )
    return Refused(message, code="other-restore", repository=repository.repository_id)


def _rows(
    lake: Lake, repository: Repository, meta_range_id: MetaRangeId, decode: Callable[[bytes], R]
) -> Iterator[R]:
    snapshots = lake.storage(repository.storage_namespace).snapshots
    try:
        for record in snapshots.cursor(meta_range_id):
            yield decode(record.value)
    except NotFound as error:
        message = (
            f"metarange {meta_range_id} of the dump is not whole in"
            f" {repository.storage_namespace}: {error.message}; check the dump's ids, and that its"
            " files are there"
        )
        raise NotFound(message, code="dump-not-found", meta_range_id=meta_range_id) from error


def _commits(lake: Lake, repository: Repository, dump: RefsDump) -> Iterator[Commit]:
    return _rows(lake, repository, dump.commits_meta_range_id, decode_commit)


def _history(lake: Lake, repository: Repository, dump: RefsDump) -> History:
    """Read all commits and check each by itself, then that each has its parents and its place."""
    history = History()
    for commit in _commits(lake, repository, dump):
        check_commit_id(commit)
        history.add(commit)
    history.complete()
    for child, parent in history.missing:
        raise Corruption(f"its parent {parent} is not in the dump", file=f"commit {child}")
    _, twice = history.places(bytearray(b"\1") * len(history))
    for first, second in twice:
        reason = f"it has the place of commit {history.commit_id(first)}"
        raise Corruption(reason, file=f"commit {history.commit_id(second)}")
    return history


def _check_clocks(history: History, commits: Iterable[Commit]) -> None:
    """See that each commit's clock is what its parents ask for, and its place the next one."""
    for commit in commits:
        clocks = history.clocks(history.number(commit.id))
        # Only in lakeFS's versions is the clock not hashed, and may be filled in.
        fillable = not commit.clocks and commit.version != COMMIT_VERSION
        if commit.clocks != clocks and not fillable:
            reason = f"its clock is {_shown(commit.clocks)}, its parents ask for {_shown(clocks)}"
            raise Corruption(reason, file=f"commit {commit.id}")
        line, place = clocks[-1]
        below = history.clocks(history.number(commit.parents[0]))[-1] if commit.parents else None
        first = below.commit + 1 if below is not None and below.branch == line else 0
        if place != first:
            reason = f"it has place {place} of line {line}, and should have {first}"
            raise Corruption(reason, file=f"commit {commit.id}")


def _check_refs(history: History, tags: Iterable[Tag], branches: Iterable[Branch]) -> None:
    for tag in tags:
        valid_tag_name(tag.tag_id)
        _require_known(history, tag.commit_id, f"tag {tag.tag_id!r}")
    for branch in branches:
        valid_branch_name(branch.branch_id)
        head = _require_known(history, branch.commit_id, f"branch {branch.branch_id!r}")
        if branch.lineage and history.clocks(head)[-1].branch != branch.lineage:
            reason = f"it owns line {branch.lineage}, and its head is on another"
            raise Corruption(reason, file=f"branch {branch.branch_id!r}")


def _require_known(history: History, commit_id: CommitId, where: str) -> int:
    number = history.number(commit_id)
    if number == NOBODY:
        raise Corruption(f"its commit {commit_id} is not in the dump", file=where)
    return number


def _commit_rows(
    lake: Lake, repository: Repository, dump: RefsDump, history: History
) -> Iterator[Pair]:
    snapshots = lake.storage(repository.storage_namespace).snapshots
    for record in snapshots.cursor(dump.commits_meta_range_id):
        commit = decode_commit(record.value)
        number = history.number(commit.id)
        clocks, generation = history.clocks(number), history.generation(number)
        value = record.value
        # Our own records are what our own encoder made of them.
        if commit.version != COMMIT_VERSION or commit.generation != generation:
            filled = msgspec.structs.replace(commit, clocks=clocks, generation=generation)
            value = encode_commit(filled)
        yield COMMITS + commit.id.encode(), value


def _shown(clocks: tuple[Clock, ...]) -> str:
    return " ".join(f"({branch},{place})" for branch, place in clocks) or "missing"


def _write(lake: Lake, repository: Repository, rows: Iterable[Pair]) -> None:
    source = iter(rows)
    while chunk := list(islice(source, _CHUNK_ROWS)):
        set_many(lake.store, partition_of(repository), chunk)


def _write_branch(lake: Lake, repository: Repository, branch: Branch) -> None:
    """Make a branch with a token of its own, unless an earlier try has made it."""
    token = new_staging_token(repository.repository_id, branch.branch_id, lake.environment.new_id())
    made = msgspec.structs.replace(branch, staging_token=token)
    with suppress(PredicateFailed):
        lake.tables(repository).branches.set_if(branch.branch_id.encode(), made, None)
