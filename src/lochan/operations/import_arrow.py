# SPDX-License-Identifier: Apache-2.0
"""Listed objects in Arrow batches, as records: what an inventory or a DataFrame says of them.

    key             binary    the key that the object shall have
    address         string    where it lies, in full
    size            int64
    e_tag           string
    last_modified   int64     nanoseconds since 1970

Batches are checked as a whole, and their columns go to the kernel without a copy where Arrow's
layout allows it.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from lochan.errors import InvalidInput
from lochan.kernel.chosen import kernel
from lochan.kernel.records import Column, Records
from lochan.model.entry import DEFAULT_CONTENT_TYPE
from lochan.model.ids import MAX_KEY_BYTES
from lochan.objects.namespace import Namespace

Batch = Any  # pyarrow has no types
SCHEMA: Final = pa.schema(
    [
        ("key", pa.large_binary()),
        ("address", pa.large_string()),
        ("size", pa.int64()),
        ("e_tag", pa.large_string()),
        ("last_modified", pa.int64()),
    ]
)
_FULL: Final = r"^[0-9A-Za-z]+://[^/]*/."


def records_of(batch: Batch, namespace: str) -> Records:
    """Turn a batch, sorted by key, into records of a tree; equal rows are one.

    Raises: InvalidInput, code twice-imported when two objects have one key, invalid-address or
    import-source-overlaps for an address that may not be imported.
    """
    batch = _each_once(batch.cast(SCHEMA) if batch.schema != SCHEMA else batch)
    if not batch.num_rows:
        return Records(Column.of([]), Column.of([]), Column.of([]))
    _require_importable(batch, namespace)
    identities, values = kernel.encode_objects(
        _column(batch["address"]),
        _numbers(batch["size"]),
        _column(batch["e_tag"]),
        _numbers(batch["last_modified"]),
        DEFAULT_CONTENT_TYPE.encode(),
    )
    return Records(_column(batch["key"]), identities, values)


def each_after_the_last(batches: Iterable[Batch]) -> Iterator[Batch]:
    """Give batches without the rows that the batch before ended with; see `records_of`."""
    last: Batch | None = None
    for batch in batches:
        if not batch.num_rows:
            continue
        if last is not None and batch["key"][0] == last["key"][0]:
            pair = pa.Table.from_batches([last, batch.slice(0, 1)]).combine_chunks().to_batches()[0]
            if _each_once(pair).num_rows == 1:
                batch = batch.slice(1)  # noqa: PLW2901 - its rest
        if batch.num_rows:
            last = batch.slice(batch.num_rows - 1)
            yield batch


def _each_once(batch: Batch) -> Batch:
    """Drop rows that say the same as the one before; two of one key that differ are an error."""
    count = batch.num_rows
    if count < 2:  # noqa: PLR2004 - two can be alike
        return batch
    before, after = batch.slice(0, count - 1), batch.slice(1)
    again = pc.equal(before["key"], after["key"])
    if not pc.any(again).as_py():
        return batch
    for name in ("address", "size", "e_tag", "last_modified"):
        same = pc.equal(before[name], after[name])
        if not pc.all(pc.or_(same, pc.invert(again))).as_py():
            key = after["key"].filter(pc.and_(again, pc.invert(same)))[0].as_py()
            message = f"two imported objects have the key {key!r}; give one another destination"
            raise InvalidInput(message, code="twice-imported", key=key)
    return batch.filter(pa.concat_arrays([pa.array([True]), pc.invert(again)]))


def _require_importable(batch: Batch, namespace: str) -> None:
    for name in SCHEMA.names:
        if batch[name].null_count:
            message = f"an object has no {name}; every one must have it"
            raise InvalidInput(message, code="invalid-inventory")
    lengths = pc.binary_length(batch["key"])
    if pc.min(lengths).as_py() < 1 or pc.max(lengths).as_py() > MAX_KEY_BYTES:
        message = f"a key has 1 to {MAX_KEY_BYTES} bytes; leave others out"
        raise InvalidInput(message, code="invalid-object-path")
    address = batch["address"]
    good = pc.match_substring_regex(address, _FULL)
    if not pc.all(good).as_py():
        wrong = address.filter(pc.invert(good))[0].as_py()
        message = f"{wrong!r} is no full address; write scheme://bucket/name"
        raise InvalidInput(message, code="invalid-address")
    own = pc.starts_with(address, Namespace.parse(namespace).physical(""))
    if pc.any(own).as_py():
        message = "an object lies in the repository's own namespace; import from elsewhere"
        raise InvalidInput(message, code="import-source-overlaps")


def _column(array: Any) -> Column:  # noqa: ANN401 - an Arrow array
    """Show a large binary or string array as a column."""
    _, offsets, data = array.buffers()
    whole = memoryview(offsets).cast("B").cast("q")
    return Column(
        memoryview(data).cast("B") if data is not None else b"",
        whole[array.offset : array.offset + len(array) + 1],
    )


def _numbers(array: Any) -> memoryview:  # noqa: ANN401 - an Arrow array
    _, data = array.buffers()
    whole = memoryview(data).cast("B").cast("q")
    return whole[array.offset : array.offset + len(array)]
