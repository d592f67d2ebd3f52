# SPDX-License-Identifier: Apache-2.0
"""Import objects that lie elsewhere: entries in full, one commit, and no byte is copied.

    1. the branch must be clean when it begins; what is staged later stays staged
    2. the listed objects, in any order, are sorted in bounded memory and become a tree of their own
    3. one commit: what lies under a replaced prefix is exactly what was imported there, other
       imported objects are added over what is there, all else stays

Step 2 is done once. Step 3 reuses that tree's ranges, so it is quick, and is repeated if the head
moved. An import of what is there already, address and time included, changes nothing. Until step 3
has come to its end nothing of an import shows; what a failed one leaves is for the collector.

Differs from lakeFS: an object outside of the replaced prefixes replaces its own key alone, not what
begins like it; and an entry whose object moved to another address is replaced even if its content
is the same, since the old place may be about to go.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, takewhile
from typing import NamedTuple

from lochan.committed import Snapshots
from lochan.committed.interval import Interval
from lochan.errors import InvalidInput
from lochan.kernel.records import Record, Records
from lochan.model.codec import encode_entry
from lochan.model.entry import DEFAULT_CONTENT_TYPE, AddressType, Entry, identity
from lochan.model.ids import EMPTY_TREE, BranchName, MetaRangeId, valid_object_key
from lochan.model.instant import Instant, from_seconds
from lochan.model.records import Commit, Repository
from lochan.objects.foreign import split_foreign
from lochan.operations.advance import advance, settle
from lochan.operations.allowed import Action, require_allowed
from lochan.operations.lake import Lake
from lochan.operations.merge import STRATEGY_KEY
from lochan.operations.request import Candidate, Said, Tip
from lochan.operations.sorted_rows import SortedRows

_CHUNK_ROWS = 20_000  # as many go to the tree, and are counted, at a time


class ListedObject(NamedTuple):
    """An object that lies elsewhere: the key it shall have, its address in full, and its facts."""

    key: bytes
    address: str
    size: int
    e_tag: str
    last_modified: Instant
    content_type: str = DEFAULT_CONTENT_TYPE


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """What an importer says. What lies under `replaced` prefixes is replaced by the import."""

    committer: str
    message: str = "Import objects"
    metadata: Mapping[str, str] = field(default_factory=dict)
    replaced: Sequence[bytes] = ()
    allow_empty: bool = False


def ignore(count: int) -> None:
    """Tell nobody."""


def go_on() -> None:
    """Let it be committed."""


def import_objects(
    lake: Lake,
    repository: Repository,
    branch: BranchName,
    objects: Iterable[ListedObject],
    request: ImportRequest,
    progress: Callable[[int], None] = ignore,
    *,
    committing: Callable[[], None] = go_on,
) -> Commit:
    """Commit entries for listed objects on a branch; `progress` is told how many came so far.

    `committing` is told before step 3. What either raises ends the import, and nothing shows.
    Raises: InvalidInput, code dirty-branch, no-changes, or twice-imported when two objects would
    have one key; Refused; what the listing raises; Conflict when others always came first.
    """
    began = lake.branches.fresh(repository, branch)
    require_allowed(began.repository, branch, Action.IMPORT, force=lake.force)
    settle(lake, repository, branch)
    snapshots = lake.storage(repository.storage_namespace).snapshots
    with SortedRows() as rows:
        _gather(rows, objects, progress)
        imported = snapshots.apply(EMPTY_TREE, _chunks(_each_once(rows))).id
    return commit_imported(lake, repository, branch, imported, request, committing=committing)


def commit_imported(
    lake: Lake,
    repository: Repository,
    branch: BranchName,
    imported: MetaRangeId,
    request: ImportRequest,
    *,
    committing: Callable[[], None] = go_on,
) -> Commit:
    """Commit a tree of imported objects: step 3, for whoever has done the others elsewhere."""
    snapshots = lake.storage(repository.storage_namespace).snapshots

    def make(tip: Tip) -> Candidate:
        tree = _imported_over(snapshots, tip.head.meta_range_id, imported, request.replaced)
        if tree == tip.head.meta_range_id and not request.allow_empty:
            raise InvalidInput(f"branch {branch!r} holds all of it already", code="no-changes")
        return Candidate(tree)

    metadata = {**request.metadata, STRATEGY_KEY: "source-wins"}
    now = from_seconds(lake.environment.now())
    said = Said(request.committer, request.message, metadata, now)
    committing()
    # It was clean when it began; what was staged since then stays.
    return advance(lake, repository, branch, said, make, action=Action.IMPORT, allow_dirty=True)


def _gather(
    rows: SortedRows, objects: Iterable[ListedObject], progress: Callable[[int], None]
) -> None:
    count = 0
    for count, listed in enumerate(objects, 1):
        rows.add(_row(listed))
        if count % _CHUNK_ROWS == 0:
            progress(count)
    progress(count)


def _row(listed: ListedObject) -> Record:
    split_foreign(listed.address)
    entry = Entry(
        address=listed.address,
        last_modified=listed.last_modified,
        size=listed.size,
        e_tag=listed.e_tag,
        address_type=AddressType.FULL,
        content_type=listed.content_type,
    )
    return Record(valid_object_key(listed.key), identity(entry), encode_entry(entry))


def _each_once(rows: Iterable[Record]) -> Iterator[Record]:
    """Give each row once; two different ones of a key are nobody's wish."""
    last: Record | None = None
    for row in rows:
        if last is None or row.key != last.key:
            yield row
        elif row != last:
            message = f"two imported objects have the key {row.key!r}; give one another destination"
            raise InvalidInput(message, code="twice-imported", key=row.key)
        last = row


def _chunks(rows: Iterable[Record]) -> Iterator[Records]:
    source = iter(rows)
    while chunk := list(islice(source, _CHUNK_ROWS)):
        yield Records.of(chunk)


def _imported_over(
    snapshots: Snapshots, head: MetaRangeId, imported: MetaRangeId, replaced: Sequence[bytes]
) -> MetaRangeId:
    within = _apart(replaced)
    tree = snapshots.replace(head, imported, within) if within else head
    # To apply a row keeps one that says the same; where it must point elsewhere, that goes first.
    moved = _moved(snapshots, tree, _outside(snapshots, imported, within))
    cleared = snapshots.apply(tree, moved).id
    return snapshots.apply(cleared, _outside(snapshots, imported, within)).id


def _apart(prefixes: Sequence[bytes]) -> list[Interval]:
    """Give the prefixes as intervals, without those that lie in others."""
    kept: list[bytes] = []
    for prefix in sorted(prefixes):
        if not kept or not prefix.startswith(kept[-1]):
            kept.append(prefix)
    return [Interval.under(prefix) for prefix in kept]


def _outside(
    snapshots: Snapshots, imported: MetaRangeId, within: Sequence[Interval]
) -> Iterator[Records]:
    """Give the imported rows that lie in none of the intervals."""

    def rows() -> Iterator[Record]:
        cursor = snapshots.cursor(imported)
        for gap in _gaps(within):
            cursor.seek(gap.start)
            yield from takewhile(partial(_is_below, gap.stop), cursor)

    return _chunks(rows())


def _is_below(stop: bytes | None, row: Record) -> bool:
    return stop is None or row.key < stop


def _gaps(within: Sequence[Interval]) -> Iterator[Interval]:
    position: bytes | None = b""
    for interval in within:
        assert position is not None  # noqa: S101 - only the last prefix has nothing behind it
        yield Interval(position, interval.start)
        position = interval.stop
    if position is not None:
        yield Interval(position)


def _moved(snapshots: Snapshots, tree: MetaRangeId, chunks: Iterable[Records]) -> Iterator[Records]:
    """Give removals of the rows whose content stays and whose data changes."""
    for chunk in chunks:
        held = snapshots.get_many(tree, chunk.keys)
        pairs = zip(held, chunk, strict=True)
        yield Records.of(
            (new.key, b"", b"")
            for old, new in pairs
            if old.identity == new.identity and old.value != new.value
        )
