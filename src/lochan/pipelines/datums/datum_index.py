# SPDX-License-Identifier: Apache-2.0
"""The datum index: what every datum of an output commit read and wrote, found from either side.

A metarange in the output's namespace, which the commit names. Its rows, by key:

    d/<datum id>                                the DatumRow, as msgpack
    f/<output key> 0 <datum id>                 which datums wrote a file
    i/<input name> 0 <input key> 0 <datum id>   which datums read a file or folder
    k/<input name> 0 <length> <value> <key>     what parts of a join or group have a value
    q/<datum id>                                which datums failed: the next job runs them again
    t                                           Totals, as msgpack

An id is 32 bytes and a length is 4, so keys that hold zeros are told apart by their lengths. The
identity of a datum's row is its hash, one byte for its state, and a hash of the whole row: two rows
are compared without being decoded, and a row that says anything new is a change. All other rows
but t are there or not, and have the identity "1" and no value.

Like every snapshot an index shares what it can with the one before: a job that changed one datum
writes the few ranges that its rows are in.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from typing import Final

import msgspec

from lochan.committed import Snapshots
from lochan.committed.interval import Interval
from lochan.errors import Corruption
from lochan.kernel.records import Column, Records
from lochan.model.ids import EMPTY_TREE, MetaRangeId
from lochan.pipelines.datums.keys_under import keys_under
from lochan.pipelines.model.datum import DatumRow, DatumState

_D, _Q, _TOTALS = b"d/", b"q/", b"t"
_THERE: Final = b"1"
_ID = 32
_STATES: Final = {DatumState.PROCESSED: b"p", DatumState.FAILED: b"f"}
_PROCESSED_AT = slice(_ID, _ID + 1)


class Totals(msgspec.Struct, frozen=True, array_like=True):
    """How many datums an index has, and how many of them failed."""

    datums: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Known:
    """What an index says of a datum before its row is decoded."""

    hash: bytes
    is_processed: bool


class DatumIndex:
    """One index; it never changes, `changed` gives another."""

    def __init__(self, snapshots: Snapshots, id: MetaRangeId = EMPTY_TREE) -> None:  # noqa: A002
        """Look into the index with this id, in the output's namespace."""
        self.snapshots = snapshots
        self.id = id

    def totals(self) -> Totals:
        """Count the datums, by one look."""
        found = self.snapshots.get(self.id, _TOTALS)
        return _decode_totals(found.value) if found else Totals()

    def known(self, ids: Sequence[bytes]) -> dict[bytes, Known]:
        """Tell hash and state of those datums that are there."""
        found = self._look(ids)
        return {
            id: _known(identity)
            for id, identity in zip(ids, found.identities, strict=True)  # noqa: A001 - the page's word
            if identity
        }

    def find(self, ids: Sequence[bytes]) -> dict[bytes, DatumRow]:
        """Read the rows of those datums that are there."""
        found = self._look(ids)
        there = zip(ids, found.identities, found.values, strict=True)
        return {id: decode_row(value) for id, identity, value in there if identity}  # noqa: A001

    def every(self) -> Iterator[tuple[bytes, Known]]:
        """Tell id, hash and state of all datums, in the order of their ids."""
        for some in self._all_under(_D):
            for key, identity in zip(some.keys, some.identities, strict=True):
                yield key.removeprefix(_D), _known(identity)

    def rows(self, after: bytes = b"") -> Iterator[DatumRow]:
        """Read all rows, in the order of the datums' ids; those behind an id."""
        behind = after + b"\0" if after else b""
        return (decode_row(value) for some in self._all_under(_D, behind) for value in some.values)

    def failed(self) -> tuple[bytes, ...]:
        """Name the datums that failed."""
        return tuple(rest for _, rest in keys_under(self.snapshots, self.id, [_Q]))

    def writers(self, keys: Iterable[bytes]) -> dict[bytes, tuple[bytes, ...]]:
        """Name the datums that wrote each of these output keys; a key of nobody is left out."""
        return self._ids_under(keys, file_key)

    def readers(self, input: str, keys: Iterable[bytes]) -> dict[bytes, tuple[bytes, ...]]:  # noqa: A002
        """Name the datums that read each of these files or folders of an input."""
        return self._ids_under(keys, lambda key: input_key(input, key))

    def parts_with(self, input: str, values: Iterable[str]) -> dict[str, tuple[bytes, ...]]:  # noqa: A002
        """Name the parts of a joined or grouped input that have each of these values."""
        prefixes = {value_key(input, value, b""): value for value in values}
        found: dict[str, list[bytes]] = {}
        for prefix, rest in keys_under(self.snapshots, self.id, sorted(prefixes)):
            found.setdefault(prefixes[prefix], []).append(rest)
        return {value: tuple(keys) for value, keys in found.items()}

    def value_keys(self) -> Iterator[bytes]:
        """Give all keys that say what parts have a value."""
        return chain.from_iterable(some.keys for some in self._all_under(b"k/"))

    def changed(
        self, gone: Iterable[bytes], rows: Iterable[DatumRow], values: Mapping[bytes, bool]
    ) -> "DatumIndex":
        """Give an index without some datums and with some rows, new or instead of older ones.

        `values` are the keys of k/ that come (True) or go (False).
        """
        coming = {row.id: row for row in rows}
        going = self.find([*coming, *(id for id in gone if id not in coming)])  # noqa: A001
        changes = dict.fromkeys((key for row in going.values() for key in _keys_of(row)), b"")
        values_of: dict[bytes, bytes] = {}
        for row in coming.values():
            changes.update(dict.fromkeys(_keys_of(row), _THERE))
            encoded = encode_row(row)
            key = _D + row.id
            changes[key] = identity_of(row, encoded)
            values_of[key] = encoded
        changes.update((key, _THERE if there else b"") for key, there in values.items())
        totals = _moved(self.totals(), going.values(), coming.values())
        values_of[_TOTALS] = msgspec.msgpack.encode(totals)
        changes[_TOTALS] = sha256(values_of[_TOTALS]).digest() if totals.datums else b""
        applied = self.snapshots.apply(self.id, [_sorted(changes, values_of)])
        return DatumIndex(self.snapshots, applied.id)

    def _look(self, ids: Sequence[bytes]) -> Records:
        return self.snapshots.get_many(self.id, [_D + id for id in ids])  # noqa: A001

    def _all_under(self, prefix: bytes, start: bytes = b"") -> Iterator[Records]:
        within = Interval(prefix + start, Interval.under(prefix).stop)
        for some in self.snapshots.diff(EMPTY_TREE, self.id, within):
            yield some.right

    def _ids_under(
        self, keys: Iterable[bytes], prefix_of: Callable[[bytes], bytes]
    ) -> dict[bytes, tuple[bytes, ...]]:
        prefixes = {prefix_of(key): key for key in keys}
        found: dict[bytes, list[bytes]] = {}
        for prefix, rest in keys_under(self.snapshots, self.id, sorted(prefixes)):
            if len(rest) == _ID:  # else a longer key, which has a zero where ours ends
                found.setdefault(prefixes[prefix], []).append(rest)
        return {key: tuple(ids) for key, ids in found.items()}


def file_key(key: bytes) -> bytes:
    """Say under which prefix the writers of an output key are."""
    return b"f/" + key + b"\x00"


def input_key(input: str, key: bytes) -> bytes:  # noqa: A002 - the spec's word
    """Say under which prefix the readers of a part are."""
    return b"i/" + input.encode() + b"\x00" + key + b"\x00"


def value_key(input: str, value: str, key: bytes) -> bytes:  # noqa: A002
    """Name the fact that a part has a value; without a part, the prefix of all that have it."""
    spelled = value.encode()
    return b"k/" + input.encode() + b"\x00" + len(spelled).to_bytes(4) + spelled + key


def identity_of(row: DatumRow, encoded: bytes) -> bytes:
    """Make the identity of a datum's row."""
    return row.hash + _STATES[row.state] + sha256(encoded).digest()


def encode_row(row: DatumRow) -> bytes:
    """Spell a row."""
    return _encoder.encode(row)


def decode_row(data: bytes) -> DatumRow:
    """Read a row. Raises Corruption."""
    try:
        return _decoder.decode(data)
    except msgspec.MsgspecError as error:
        raise Corruption(f"not a datum's row: {error}", file="a datum index") from error


_encoder: Final = msgspec.msgpack.Encoder()
_decoder: Final = msgspec.msgpack.Decoder(DatumRow)


def _decode_totals(data: bytes) -> Totals:
    try:
        return msgspec.msgpack.decode(data, type=Totals)
    except msgspec.MsgspecError as error:
        raise Corruption(f"not the totals: {error}", file="a datum index") from error


def _known(identity: bytes) -> Known:
    return Known(identity[:_ID], identity[_PROCESSED_AT] == _STATES[DatumState.PROCESSED])


def _keys_of(row: DatumRow) -> Iterator[bytes]:
    yield _D + row.id
    if row.state is DatumState.FAILED:
        yield _Q + row.id
    for output in row.outputs:
        yield file_key(output.key) + row.id
    for source in row.sources:
        yield input_key(source.input, source.key) + row.id


def _moved(before: Totals, going: Iterable[DatumRow], coming: Iterable[DatumRow]) -> Totals:
    states = [(row.state, -1) for row in going] + [(row.state, 1) for row in coming]
    return Totals(
        before.datums + sum(step for _, step in states),
        before.failed + sum(step for state, step in states if state is DatumState.FAILED),
    )


def _sorted(changes: Mapping[bytes, bytes], values: Mapping[bytes, bytes]) -> Records:
    keys = sorted(changes)
    return Records(
        Column.of(keys),
        Column.of([changes[key] for key in keys]),
        Column.of([values.get(key, b"") for key in keys]),
    )
