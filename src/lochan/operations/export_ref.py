# SPDX-License-Identifier: Apache-2.0
"""Export what a ref shows to plain storage: a folder or a prefix with one file an object.

The first time everything is written, later only what differs from the commit that was exported last
(`diff`). `_lochan_export.json` at the destination says which that was. An export first adds itself
there as one that has begun, and is the only one when it ends. So the next export after one that was
interrupted knows of which commits parts may lie there, and writes what differs from any of them.
Files that the ref no longer shows are deleted only if asked for, and only those that an export had
written. A destination that belongs to another repository is refused.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from itertools import islice
from typing import Final, NamedTuple

import msgspec

from lochan.errors import Conflict, Corruption, InvalidInput
from lochan.model.changes import Change
from lochan.model.codec import decode_entry
from lochan.model.ids import EMPTY_TREE, CommitId, MetaRangeId
from lochan.model.records import Repository
from lochan.operations.export_places import ExportPlace
from lochan.operations.lake import Lake
from lochan.operations.read_entry import read_entry
from lochan.operations.reference import committed

STATE: Final = "_lochan_export.json"
_THREADS: Final = 8
_AT_ONCE: Final = 200

Progress = Callable[[int, int], None]  # objects and bytes so far


class ExportState(msgspec.Struct, frozen=True, kw_only=True):
    """What lies at a destination: a commit, and parts of those whose exports did not end."""

    repository: str
    unique_identifier: str
    commit_id: CommitId
    begun: tuple[CommitId, ...] = ()


class Shown(NamedTuple):
    """An object to write: its key and its entry."""

    key: bytes
    data: bytes


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """What an export did."""

    commit_id: CommitId
    since: CommitId
    written: int
    size: int
    deleted: int


def tell_nobody(objects: int, size: int) -> None:
    """Tell nobody how far it is."""


def export_ref(
    lake: Lake,
    repository: Repository,
    ref: str,
    destination: ExportPlace,
    *,
    delete: bool = False,
    whole: bool = False,
    progress: Progress = tell_nobody,
) -> Exported:
    """Bring a destination to what a ref's commit shows; `whole` does not go by the last export.

    Raises: Conflict, code export-elsewhere, for a destination of another repository; what resolving
    and reading raise; Unavailable.
    """
    commit = committed(lake, repository, ref)
    state = _find_state(destination)
    owner = (repository.repository_id, repository.unique_identifier)
    if state is not None and (state.repository, state.unique_identifier) != owner:
        message = f"the destination holds an export of repository {state.repository!r}"
        raise Conflict(f"{message}; choose another one", code="export-elsewhere")
    since = CommitId("") if state is None else state.commit_id
    begun = state.begun if state else ()
    lying = [lake.commits.tree(repository, one) for one in (since, *begun) if one]
    bases = [EMPTY_TREE] if whole or not since else lying
    told = ExportState(
        repository=repository.repository_id,
        unique_identifier=repository.unique_identifier,
        commit_id=since,
        begun=tuple(dict.fromkeys((*begun, commit))),
    )
    _put_state(destination, told)
    work = _Export(lake, repository, destination, progress)
    tree = lake.commits.tree(repository, commit)
    for base in bases:
        work.write(_shown(lake, repository, base, tree))
    gone = {key for base in lying if delete for key in _gone(lake, repository, base, tree)}
    deleted = work.delete(sorted(gone))
    _put_state(destination, msgspec.structs.replace(told, commit_id=commit, begun=()))
    return Exported(
        commit_id=commit, since=since, written=work.count, size=work.size, deleted=deleted
    )


class _Export:
    """One export on its way."""

    def __init__(
        self, lake: Lake, repository: Repository, destination: ExportPlace, progress: Progress
    ) -> None:
        self._lake = lake
        self._repository = repository
        self._destination = destination
        self._progress = progress
        self.count = 0
        self.size = 0

    def write(self, records: Iterator[Shown]) -> None:
        """Write objects, some beside each other."""
        executor: Executor = self._lake.environment.executor(_THREADS)
        with executor:
            while chunk := list(islice(records, _AT_ONCE)):
                for size in executor.map(self._write, chunk):
                    self.count += 1
                    self.size += size
                self._progress(self.count, self.size)

    def delete(self, keys: Iterable[bytes]) -> int:
        """Delete what an export before this one has written."""
        names, count = map(_name, keys), 0
        while chunk := list(islice(names, _AT_ONCE)):
            self._destination.delete(*chunk)
            count += len(chunk)
        return count

    def _write(self, record: Shown) -> int:
        entry = decode_entry(record.data)
        with read_entry(self._lake, self._repository, entry) as reading:
            self._destination.put(_name(record.key), reading, entry.size)
        return entry.size


def _shown(
    lake: Lake, repository: Repository, base: MetaRangeId, tree: MetaRangeId
) -> Iterator[Shown]:
    for change in _changes(lake, repository, base, tree):
        if change.right is not None:
            yield Shown(change.key, change.right.data)


def _gone(
    lake: Lake, repository: Repository, base: MetaRangeId, tree: MetaRangeId
) -> Iterator[bytes]:
    for change in _changes(lake, repository, base, tree):
        if change.right is None:
            yield change.key


def _changes(
    lake: Lake, repository: Repository, base: MetaRangeId, tree: MetaRangeId
) -> Iterator[Change]:
    for some in lake.storage(repository.storage_namespace).snapshots.diff(base, tree):
        yield from some


def _name(key: bytes) -> str:
    try:
        name = key.decode()
    except UnicodeDecodeError as error:
        message = f"{key!r} is no text, so that no file can have this name; rename it"
        raise InvalidInput(message, code="invalid-object-path") from error
    if name == STATE:
        message = f"{STATE} is where an export says what it did; rename the object"
        raise InvalidInput(message, code="invalid-object-path")
    return name


def _put_state(destination: ExportPlace, state: ExportState) -> None:
    encoded = msgspec.json.encode(state)
    destination.put(STATE, [encoded], len(encoded))


def _find_state(destination: ExportPlace) -> ExportState | None:
    found = destination.find(STATE)
    if found is None:
        return None
    try:
        return msgspec.json.decode(found, type=ExportState)
    except msgspec.DecodeError as error:
        raise Corruption(f"it does not say what was exported: {error}", file=STATE) from error
