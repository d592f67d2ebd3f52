# SPDX-License-Identifier: Apache-2.0
"""What was found dead, and since when: a file of lines, and a row that names the latest one.

    _lochan/gc/condemned/<run>     [since, size, address] in JSON, a line each, in byte order
    gc/condemned                   {"run", "time", "count", "size"}

The row is written when the file is there; a file that no row names is nobody's.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

import msgspec

from lochan.errors import Corruption, NotFound
from lochan.kv.table import Table
from lochan.model.instant import EPOCH, Instant
from lochan.model.keys import GC, partition_of
from lochan.model.records import Repository
from lochan.objects.store import ObjectStore
from lochan.operations.lake import Lake

PREFIX: Final = "_lochan/gc/condemned"
_NAME: Final = b"condemned"
_LINES: Final = 5_000  # written at a time


class Dead(NamedTuple):
    """An object that was found dead, and when that was first so."""

    since: Instant
    size: int
    address: str


class Condemned(msgspec.Struct, frozen=True, kw_only=True):
    """The latest list of the condemned."""

    run: str
    time: Instant = EPOCH
    count: int = 0
    size: int = 0


def condemned_table(lake: Lake, repository: Repository) -> Table[Condemned]:
    """Give the one row, under `condemned`."""
    return Table(lake.store, partition_of(repository), GC, msgspec.json.encode, _decode)


def read_condemned(lake: Lake, repository: Repository) -> dict[str, Instant]:
    """Give since when each address is condemned. Raises Corruption where the list is damaged."""
    table, objects = (
        condemned_table(lake, repository),
        lake.storage(repository.storage_namespace).objects,
    )
    found = table.find(_NAME)
    while found is not None:
        try:
            listed = read_dead(objects, _address(found.record.run))
            return {dead.address: dead.since for dead in listed}
        except NotFound:  # a run has written the next list
            before, found = found.record, table.find(_NAME)
            if found is not None and found.record == before:
                break  # somebody cleared it away: all begin to wait anew
    return {}


def write_condemned(
    lake: Lake, repository: Repository, run: str, time: Instant, dead: Iterable[Dead]
) -> Condemned:
    """Write a list and make it the latest; the one before it goes."""
    listed = list(dead)
    objects = lake.storage(repository.storage_namespace).objects
    table = condemned_table(lake, repository)
    before = table.find(_NAME)
    write_dead(objects, _address(run), listed)
    row = Condemned(run=run, time=time, count=len(listed), size=sum(each.size for each in listed))
    table.set(_NAME, row)
    if before is not None and before.record.run != run:
        objects.delete(_address(before.record.run))
    return row


def write_dead(objects: ObjectStore, address: str, dead: Iterable[Dead]) -> None:
    """Write a file of the dead."""
    objects.put(address, _pieces(dead))


def _pieces(dead: Iterable[Dead]) -> Iterator[bytes]:
    lines = (msgspec.json.encode(each) + b"\n" for each in dead)
    while piece := b"".join(islice(lines, _LINES)):
        yield piece


def read_dead(objects: ObjectStore, address: str) -> Iterator[Dead]:
    """Read a file of the dead. Raises Corruption, NotFound."""
    with objects.get(address) as reading:
        lines = reading.read().splitlines()
    for line in lines:
        try:
            yield msgspec.json.decode(line, type=Dead)
        except msgspec.DecodeError as error:
            raise Corruption(f"no line of a list of the dead: {error}", file=address) from error


def _address(run: str) -> str:
    return f"{PREFIX}/{run}"


def _decode(data: bytes) -> Condemned:
    try:
        return msgspec.json.decode(data, type=Condemned)
    except msgspec.DecodeError as error:
        raise Corruption(f"not a row of the condemned: {error}", file="gc/condemned") from error
