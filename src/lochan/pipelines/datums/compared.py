# SPDX-License-Identifier: Apache-2.0
"""Datums of now held against those of the base's index: what is looked at, and what is the same.

`since` looks at what a change may have touched, `anew` at everything. Both leave the same datums to
be run, and find the same ones gone: whatever `since` does not look at is as it was.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from lochan.errors import JobFailed
from lochan.pipelines.datums.combined import Combined, Row, Touched
from lochan.pipelines.datums.datum_index import DatumIndex, Known
from lochan.pipelines.datums.parts import Part, PinnedInput
from lochan.pipelines.model.datum import (
    Datum,
    DatumFile,
    datum_hash,
    datum_id,
    file_content,
    order_of,
)
from lochan.pipelines.specs.globs import ROOT


@dataclass(frozen=True, slots=True)
class Compared:
    """Datums of now, in order, and what the base knows of those and of others looked at."""

    datums: tuple[Datum, ...]
    known: Mapping[bytes, Known]
    total: int  # datums of now, with all that nobody had to look at
    values: Mapping[bytes, bool]

    @property
    def gone(self) -> tuple[bytes, ...]:
        """The datums of the base that are no more."""
        now = {datum.id for datum in self.datums}
        return tuple(sorted(id for id in self.known if id not in now))  # noqa: A001

    def unlike_base(self) -> tuple[Datum, ...]:
        """Give the datums that the base has not, or has not done, or done with another hash."""
        return tuple(datum for datum in self.datums if not self._is_same(datum))

    def was_done(self, id: bytes) -> bool:  # noqa: A002 - the page's word
        """Say whether the base has a datum, and it did not fail."""
        return id in self.known and self.known[id].is_processed

    def _is_same(self, datum: Datum) -> bool:
        return self.was_done(datum.id) and self.known[datum.id].hash == datum.hash


def since(
    index: DatumIndex, node: Combined, inputs: Mapping[str, PinnedInput], digest: str
) -> Compared:
    """Look at what a change since the base may have touched, and at what failed there."""
    looked_at = _readers(index, node.touched())
    rows = node.changed()
    datums = _numbered(rows, digest)
    again = set(index.failed()) - looked_at - {datum.id for datum in datums}
    if again:
        datums = _numbered([*rows, *_rows_of(index, inputs, again)], digest)
    known = index.known(sorted({*looked_at, *again, *(datum.id for datum in datums)}))
    new = sum(datum.id not in known for datum in datums)
    gone = len(known) + new - len(datums)
    total = index.totals().datums + new - gone
    return Compared(datums, known, total, node.facts(whole=False))


def anew(index: DatumIndex, node: Combined, digest: str) -> Compared:
    """Look at every datum of now, and at every one of the base."""
    datums = _numbered(node.everything(), digest)
    values = dict.fromkeys(index.value_keys(), False) | node.facts(whole=True)
    return Compared(datums, dict(index.every()), len(datums), values)


def require_appended(index: DatumIndex, compared: Compared) -> None:
    """Refuse an input that did more than grow, by the code of the base.

    Raises JobFailed, code not-appended.
    """
    gone = [id for id in compared.gone if compared.was_done(id)]  # noqa: A001
    other = [datum.id for datum in compared.unlike_base() if compared.was_done(datum.id)]
    for ids, what in ((gone, "is gone"), (other, "has changed")):
        for row in index.find(ids[:1]).values():
            source = row.sources[0]
            path = source.key.decode(errors="replace")
            raise JobFailed(
                f"input {source.input!r} may only grow, and {path!r} {what}; use incremental full"
                " or partition, or let the pipeline compute everything again",
                code="not-appended",
                input=source.input,
                path=path,
            )


def _readers(index: DatumIndex, touched: Touched) -> set[bytes]:
    return {
        id
        for name, keys in touched.items()
        for ids in index.readers(name, keys).values()
        for id in ids  # noqa: A001
    }


def _rows_of(
    index: DatumIndex, inputs: Mapping[str, PinnedInput], ids: Collection[bytes]
) -> list[Row]:
    """Make datums of the base again: nothing that they read has changed since."""
    rows = index.find(list(ids)).values()
    keys: dict[str, set[bytes]] = {}
    for row in rows:
        for source in row.sources:
            keys.setdefault(source.input, set()).add(source.key)
    parts = {name: inputs[name].at(some) for name, some in keys.items()}

    def part(name: str, key: bytes) -> Part:
        return inputs[name].nothing() if key == ROOT and not parts[name] else parts[name][key]

    return [tuple(part(source.input, source.key) for source in row.sources) for row in rows]


def _numbered(rows: Iterable[Row], digest: str) -> tuple[Datum, ...]:
    ordered = sorted(rows, key=lambda row: order_of(part.file for part in row))
    spelled = digest.encode()
    contents: dict[int, bytes] = {}  # by object: a part of many datums is hashed once

    def content_of(file: DatumFile) -> bytes:
        found = contents.get(id(file))
        if found is None:
            found = contents[id(file)] = file_content(file)
        return found

    datums: list[Datum] = []
    for number, row in enumerate(ordered):
        files = _files(row)
        name = datum_id(files)
        size = sum(part.bytes for part in row)
        datums.append(
            Datum(name, datum_hash(name, spelled, files, content_of), files, number, size)
        )
    return tuple(datums)


def _files(row: Row) -> tuple[DatumFile, ...]:
    return tuple(part.file for part in row)
