# SPDX-License-Identifier: Apache-2.0
"""The trash: where dead objects go first, and from where they come back.

    _lochan/trash/<run>/<address>     the object
    gc/trash/<run>                    {"time", "count", "size", "state"}

        moving -> moved -> emptying -> (no row)
           `--------`----> undone   -> (no row)

The row is there before the first object moves. An object is copied, then deleted, and back the same
way: at any moment it is in one place or in both, and then both are equal, since no object ever
changes. So each step may be done again, by whoever comes after a crash. What a run has in the trash
is what lies there: an undo needs nothing that somebody might have lost.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from enum import StrEnum
from functools import partial
from itertools import islice
from typing import Final, NamedTuple

import msgspec

from lochan.errors import Conflict, Corruption, InvalidInput, NotFound, UnknownOutcome
from lochan.kv.table import Table
from lochan.model.instant import EPOCH, Instant
from lochan.model.keys import GC_TRASH, partition_of
from lochan.model.records import Repository
from lochan.objects.store import MAX_ADDRESS_BYTES, ObjectStore
from lochan.objects.walk import walk
from lochan.operations.gc.condemned import Dead
from lochan.operations.gc.mark import Told, tell_nobody
from lochan.operations.lake import Lake
from lochan.refs.outcomes import surely

PREFIX: Final = "_lochan/trash"
AT_ONCE: Final = 500  # objects between two looks at the lease
THREADS: Final = 16  # requests to the object store that wait for each other


class State(StrEnum):
    """How far a run's trash has come."""

    MOVING = "moving"
    MOVED = "moved"
    EMPTYING = "emptying"
    UNDONE = "undone"


class Trash(msgspec.Struct, frozen=True, kw_only=True):
    """What one run put into the trash."""

    run: str
    time: Instant
    count: int
    size: int
    state: State = State.MOVING


def trash_table(lake: Lake, repository: Repository) -> Table[Trash]:
    """Give what is in the trash, by run."""
    return Table(lake.store, partition_of(repository), GC_TRASH, msgspec.json.encode, _decode)


def list_trash(lake: Lake, repository: Repository) -> list[Trash]:
    """Give what runs have put into the trash, the earliest first."""
    rows = (row for _, row in trash_table(lake, repository).scan())
    return sorted(rows, key=lambda row: (row.time, row.run))


def fits(dead: Dead, run: str) -> bool:
    """Say whether an address is short enough to be written behind the trash's own."""
    return len(_trashed(run, dead.address).encode()) <= MAX_ADDRESS_BYTES


class _Way(NamedTuple):
    """From where to where an object goes, and how large it is."""

    source: str
    destination: str
    size: int


class Bin:
    """One run's trash, and how objects go there, back, or away."""

    def __init__(
        self, lake: Lake, repository: Repository, run: str, renew: Callable[[], None]
    ) -> None:
        """Work on one run; `renew` is called between steps, and may end it by raising."""
        self._table = trash_table(lake, repository)
        self._objects = lake.storage(repository.storage_namespace).objects
        self._environment = lake.environment
        self._run = run
        self._renew = renew

    def open(self, time: Instant, dead: list[Dead]) -> None:
        """Write down that so much is about to be moved, by a run that is later than all others.

        Clocks differ, and runs exclude each other: the one that comes later is later.
        """
        latest = max((row.time for _, row in self._table.scan()), default=EPOCH)
        size = sum(each.size for each in dead)
        later = Instant(max(time, latest + 1))
        row = Trash(run=self._run, time=later, count=len(dead), size=size)
        surely(partial(self._table.set, self._run.encode(), row))

    def held(self) -> Iterator[Dead]:
        """Give what lies in the trash of this run, by the addresses where it was."""
        prefix = _trashed(self._run, "")
        for listed in walk(self._objects, prefix):
            yield Dead(EPOCH, listed.info.size, listed.address.removeprefix(prefix))

    def put(self, dead: Iterable[Dead], told: Told = tell_nobody) -> int:
        """Move objects into the trash; one that is gone is passed over. Counts those moved."""
        return self._each(partial(_move, self._objects), self._ways(dead), "moved", told)

    def take_back(self, dead: Iterable[Dead], told: Told = tell_nobody) -> int:
        """Bring objects back to where they were; one that never moved is passed over."""
        back = (_Way(way.destination, way.source, way.size) for way in self._ways(dead))
        return self._each(partial(_move, self._objects), back, "brought back", told)

    def burn(self, dead: Iterable[Dead], told: Told = tell_nobody) -> int:
        """Remove objects from the trash for good."""
        trashed = (way.destination for way in self._ways(dead))
        removed = 0
        while chunk := list(islice(trashed, AT_ONCE)):
            self._renew()
            surely(partial(self._objects.delete, *chunk))
            removed += len(chunk)
            told("removed", removed)
        return removed

    def become(self, state: State) -> None:
        """Write down how far it is."""

        def changed(current: Trash | None) -> Trash | None:
            return current and msgspec.structs.replace(current, state=state)

        self._table.update(self._run.encode(), changed, self._environment)

    def close(self) -> None:
        """Forget the run."""
        surely(partial(self._table.delete, self._run.encode()))

    def _ways(self, dead: Iterable[Dead]) -> Iterator[_Way]:
        return (_Way(one.address, _trashed(self._run, one.address), one.size) for one in dead)

    def _each(
        self,
        work: Callable[[_Way], bool],
        ways: Iterator[_Way],
        what: str,
        told: Told,
    ) -> int:
        done = 0
        executor: Executor = self._environment.executor(THREADS)
        with executor:
            while chunk := list(islice(ways, AT_ONCE)):
                self._renew()
                done += sum(executor.map(work, chunk))
                told(what, done)
        return done


def _move(objects: ObjectStore, way: _Way) -> bool:
    try:
        copied = _copy(objects, way)
    except NotFound:
        return False
    if copied != way.size:  # nothing is deleted that is not surely in the other place
        message = f"the copy of {way.source} has {copied} bytes, not {way.size}; both are kept"
        raise Conflict(message, code="copy-differs", address=way.source)
    surely(partial(objects.delete, way.source))
    return True


def _copy(objects: ObjectStore, way: _Way) -> int:
    try:
        return objects.copy(way.source, way.destination).size
    except UnknownOutcome:
        return objects.copy(way.source, way.destination).size


def _trashed(run: str, address: str) -> str:
    return f"{PREFIX}/{run}/{address}"


def find_bin(lake: Lake, repository: Repository, run: str) -> Trash:
    """Give what a run put into the trash; without a run, the latest. Raises NotFound."""
    rows = [row for row in list_trash(lake, repository) if run in {"", row.run}]
    if not rows:
        what = f"run {run!r} has nothing in the trash" if run else "nothing is in the trash"
        raise NotFound(f"{what}; see `lochan gc trash`", code="nothing-in-trash")
    return rows[-1]


def valid_run(run: str) -> str:
    """Refuse what cannot be a run's id: it becomes part of addresses. Raises InvalidInput."""
    if run and not (run.isascii() and run.isalnum()):
        raise InvalidInput(f"{run!r} is no id of a run", code="invalid-run")
    return run


def _decode(data: bytes) -> Trash:
    try:
        return msgspec.json.decode(data, type=Trash)
    except msgspec.DecodeError as error:
        raise Corruption(f"not a row of the trash: {error}", file="gc/trash") from error
