# SPDX-License-Identifier: Apache-2.0
"""Copy a whole lake from one KV store to another, while it is being used.

    1. passes     whatever differs is copied, again and again, while that makes it less
    2. close      every repository becomes read-only in the source (`kv_fence`)
    3. last pass  and a comparison of every row; again, until both sides are equal
    4. open       the target gets the records of repositories, writable where the source's were

Until step 4 the target has no repositories, so nobody works on half a lake. After it the source
stays read-only: point the servers to the target. `release` takes the copy back instead.

Inside a pass, a repository's branches are read first and written last, with their tokens and
commits in between. So what a branch of the target names is there, whenever the copy dies. It may be
killed at any step: called again with the same two stores, it goes on (`kv_copy_ledger`).

Between steps 2 and 4 nobody may create or delete repositories, run a cleaner or a job, or change
users: these know no fence. What they do before the comparison is noticed, and copied.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import msgspec

from lochan.environment import Environment
from lochan.errors import Conflict, Refused
from lochan.kv.copy import Tally, copy_rows, differences
from lochan.kv.store import Pair, Store
from lochan.model.codec import decode_repository, encode_repository
from lochan.model.keys import BRANCHES, GRAVELER, OPEN, REPOSITORIES, token_partition
from lochan.model.records import Repository, RepositoryState
from lochan.operations.kv_copy_ledger import Copied, Ledger, Phase
from lochan.operations.kv_fence import close_repository, set_read_only
from lochan.refs.partitions import FIXED, names_of, noted_tokens, repository_partitions
from lochan.refs.tables import repositories

FEW_ROWS = 100  # a pass that finds no more to do is the last but one
COMPARISONS = 10
SETTLE_S = 30.0  # no single write of a driver lasts longer


class Progress(NamedTuple):
    """Where a copy is: the phase, the number of the pass, and the partition just done with."""

    phase: Phase
    number: int
    partition: bytes
    seen: Tally


def _untold(_: Progress) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class _Copy:
    source: Store
    target: Store
    environment: Environment
    ledger: Ledger
    told: Callable[[Progress], None]


def copy_lake(
    source: Store,
    target: Store,
    environment: Environment,
    *,
    settle_s: float = SETTLE_S,
    progress: Callable[[Progress], None] = _untold,
) -> Copied:
    """Copy a lake into an empty store; after an error, call it again.

    Raises: Refused (code target-not-empty); Conflict when the closed source still changes;
    Unavailable, UnknownOutcome.
    """
    copy = _Copy(source, target, environment, Ledger(target), progress)
    ledger = copy.ledger
    passes, before = 0, FEW_ROWS
    while ledger.phase is Phase.COPYING:
        passes += 1
        differing = _pass(copy, passes).differing
        # When a pass has no less to do than the one before, the next one will not have either.
        if differing <= FEW_ROWS or (passes > 1 and differing * 2 > before):
            _close(copy)
            environment.sleep(settle_s)
            ledger.reach(Phase.CLOSED)
        before = differing
    if ledger.phase is Phase.CLOSED:
        copied = _finish(copy, passes)
        ledger.reach(Phase.DONE, copied)
    ledger.tidy()
    assert ledger.copied is not None  # noqa: S101 - it came with phase DONE
    return ledger.copied


def release(source: Store, target: Store, environment: Environment) -> None:
    """Give up a copy: repositories that it closed become writable in the source again. Idempotent.

    Raises: Refused (code copy-done) when the copy has ended, since the target may be in use.
    """
    ledger = Ledger(target)
    if ledger.phase is Phase.DONE:
        message = "the copy has ended and the target may be in use; open repositories one by one"
        raise Refused(message, code="copy-done")
    for repository in _repositories(source):
        if ledger.is_ours(repository):
            set_read_only(source, environment, repository, read_only=False)
            ledger.reopen(repository)
    ledger.reach(Phase.COPYING)


def _pass(copy: _Copy, number: int) -> Tally:
    """Copy whatever differs, but for the records of repositories."""
    total = Tally()

    def count(partition: bytes, tally: Tally) -> None:
        nonlocal total
        total += tally
        copy.told(Progress(copy.ledger.phase, number, partition, total))

    done: set[bytes] = set()
    for partition in repository_partitions(copy.source):
        if partition not in done:
            done.add(partition)
            for name, tally in _copy_repository(copy, partition):
                done.add(name)
                count(name, tally)
    noted = (token_partition(token) for token in noted_tokens(copy.source))
    for partition in chain(noted, FIXED, copy.ledger.partitions()):
        if partition not in done and partition != GRAVELER:
            done.add(partition)
            count(partition, _copy_partition(copy, partition))
    return total


def _copy_repository(copy: _Copy, partition: bytes) -> Iterator[tuple[bytes, Tally]]:
    """Copy what belongs to a repository, names last: first to read, last to write."""
    names = names_of(copy.source, partition)
    for token in names.tokens:
        name = token_partition(token)
        yield name, _copy_partition(copy, name)
    yield partition, _copy_partition(copy, partition, leaving=(BRANCHES, OPEN))
    for below, rows in ((OPEN, names.opened), (BRANCHES, names.branches)):
        yield partition, _copy(copy, rows.items(), partition, below=below)


def _copy_partition(copy: _Copy, partition: bytes, *, leaving: tuple[bytes, ...] = ()) -> Tally:
    return _copy(copy, copy.source.scan(partition), partition, leaving=leaving)


def _copy(
    copy: _Copy,
    rows: Iterable[Pair],
    partition: bytes,
    *,
    below: bytes = b"",
    leaving: tuple[bytes, ...] = (),
) -> Tally:
    return copy_rows(
        rows,
        copy.target,
        partition,
        below=below,
        leaving=leaving,
        before_writing=lambda: copy.ledger.enter(partition),
    )


def _close(copy: _Copy) -> None:
    """Make every repository of the source read-only, but those that somebody else made so."""
    for repository in _repositories(copy.source):
        ours = copy.ledger.is_ours(repository)
        if repository.repository_state is not RepositoryState.ACTIVE:
            continue
        if (repository.read_only and not ours) or copy.ledger.is_closed(repository):
            continue
        copy.ledger.close(repository, done=False)
        close_repository(copy.source, copy.environment, repository)
        copy.ledger.close(repository, done=True)


def _repositories(store: Store) -> list[Repository]:
    return [repository for _, repository in repositories(store).scan()]


def _finish(copy: _Copy, passes: int) -> Copied:
    """Copy the rest of a closed source until both sides are equal, then open the target."""
    for _ in range(COMPARISONS):
        _close(copy)  # repositories that were made meanwhile
        passes += 1
        _pass(copy, passes)
        found, partitions = _compare(copy, passes)
        if not found.differing:
            _copy(copy, _opened_repositories(copy), GRAVELER)
            _require_equal(copy, found)
            return Copied(
                passes=passes,
                partitions=partitions,
                rows=found.rows,
                size_bytes=found.size_bytes,
            )
    message = (
        f"the source changed during {COMPARISONS} comparisons, though every repository is"
        " read-only; stop cleaners and jobs, and copy again"
    )
    raise Conflict(message, code="source-changes")


def _require_equal(copy: _Copy, total: Tally) -> None:
    """Read the records of repositories back."""
    for key, _ in differences(_opened_repositories(copy), copy.target, GRAVELER, b"", (), total):
        message = f"{key.decode()!r} changed while the target was opened; copy again"
        raise Conflict(message, code="source-changes")


def _compare(copy: _Copy, number: int) -> tuple[Tally, int]:
    """Read every row of both sides; the tally counts those that differ as written."""
    partitions = {*repository_partitions(copy.source), *copy.ledger.partitions(), *FIXED}
    for partition in repository_partitions(copy.source):
        partitions |= {token_partition(t) for t in names_of(copy.source, partition).tokens}
    partitions |= {token_partition(token) for token in noted_tokens(copy.source)}
    partitions.discard(GRAVELER)
    total = Tally()
    for partition in sorted(partitions):
        rows = copy.source.scan(partition)
        for _ in differences(rows, copy.target, partition, b"", (), total):
            total.written += 1
        copy.told(Progress(copy.ledger.phase, number, partition, total))
    return total, len(partitions) + 1


def _opened_repositories(copy: _Copy) -> Iterator[Pair]:
    """Give the source's records of repositories as they were before the copy closed them."""
    for key, value in copy.source.scan(GRAVELER):
        if not key.startswith(REPOSITORIES):
            yield key, value
            continue
        repository = decode_repository(value, where=key.decode())
        if copy.ledger.is_ours(repository):
            repository = msgspec.structs.replace(repository, read_only=False)
        yield key, encode_repository(repository)
