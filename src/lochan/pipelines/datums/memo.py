# SPDX-License-Identifier: Apache-2.0
"""The memo: what any job of a pipeline ever computed, by datum hash.

A snapshot in the output's namespace, m/<datum hash> -> DatumRow as msgpack; the row memo/... of the
key-value store names the latest one. A reverted input, or a run on another branch, finds there what
it would compute, and runs no code.

The memo is weak: nothing that it names is kept from collection on its account. So what is found is
logged first and then looked for (`still_there`), and a row of which anything is missing counts as
forgotten. A memo whose own files are gone is an empty one. Only datums that were processed are
remembered. Losing it all costs time and nothing else.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Final

from lochan.errors import Conflict, NotFound, PredicateFailed
from lochan.kernel.records import Records
from lochan.model.ids import EMPTY_TREE, MetaRangeId
from lochan.model.records import Repository
from lochan.operations.gc.still_there import still_there
from lochan.operations.lake import Lake
from lochan.pipelines.datums.datum_index import decode_row, encode_row
from lochan.pipelines.datums.datum_objects import addresses_in
from lochan.pipelines.model.datum import DatumRow, DatumState
from lochan.pipelines.model.tables import PipelineTables, memo_name

_M: Final = b"m/"
_ATTEMPTS: Final = 64


class Memo:
    """What one pipeline has computed into one repository."""

    def __init__(self, lake: Lake, output: Repository, pipeline: str) -> None:
        """Look into the memo of a pipeline."""
        self._lake = lake
        self._output = output
        self._storage = lake.storage(output.storage_namespace)
        self._pointers = PipelineTables.of(lake.store).memo
        self._name = memo_name(output, pipeline)

    def find(self, hashes: Sequence[bytes]) -> dict[bytes, DatumRow]:
        """Give the rows of those hashes that are remembered, and whose outputs are still there."""
        stored = self._pointers.find(self._name)
        if stored is None or not hashes:
            return {}
        try:
            found = self._storage.snapshots.get_many(
                MetaRangeId(stored.record),
                [_M + hash for hash in hashes],  # noqa: A001
            )
        except NotFound:
            return {}
        rows = {row.hash: row for row in map(decode_row, filter(None, found.values))}
        return self._still_there(rows)

    def remember(self, rows: Iterable[DatumRow]) -> None:
        """Add rows, those of processed datums. Idempotent. Raises Conflict, Unavailable."""
        adding = {_M + row.hash: row for row in rows if row.state is DatumState.PROCESSED}
        if not adding:
            return
        encoded = {key: encode_row(adding[key]) for key in sorted(adding)}
        changes = Records.of((key, sha256(value).digest(), value) for key, value in encoded.items())
        for _ in range(_ATTEMPTS):
            stored = self._pointers.find(self._name)
            before = MetaRangeId(stored.record) if stored else EMPTY_TREE
            after = self._added(before, changes)
            if after == before:
                return
            predicate = stored.predicate if stored else None
            try:
                self._pointers.set_if(self._name, after, predicate)
            except PredicateFailed:
                continue
            return
        raise Conflict(f"the memo of {self._name.decode()} kept changing; try again")

    def _added(self, before: MetaRangeId, changes: Records) -> MetaRangeId:
        snapshots = self._storage.snapshots
        try:
            return snapshots.apply(before, [changes]).id
        except NotFound:  # of the older memo's files; it is begun anew
            return snapshots.apply(EMPTY_TREE, [changes]).id

    def _still_there(self, rows: Mapping[bytes, DatumRow]) -> dict[bytes, DatumRow]:
        needed = {hash: addresses_in(row) for hash, row in rows.items()}  # noqa: A001 - the page's word
        asked = {address for addresses in needed.values() if addresses for address in addresses}
        kept = still_there(self._lake, self._output, asked)
        return {
            hash: rows[hash]
            for hash, addresses in needed.items()  # noqa: A001
            if addresses is not None and addresses <= kept
        }
