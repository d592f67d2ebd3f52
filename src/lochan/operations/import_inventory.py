# SPDX-License-Identifier: Apache-2.0
"""Import what an inventory lists: Parquet or CSV files with a row an object, as stores write them.

Columns are found by their names, in any case: the object's name (key, path, name), its bucket
(bucket) or whole address (address, uri, url), its size, its checksum (e_tag, etag, checksum, md5)
and its time (last_modified, last_modified_date, lastmodifieddate). S3's inventories have these.

This reads, sorts and writes in one process, and holds the list in memory. `lochan.spark` has the
same for lists that are too long for that.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset

from lochan.errors import InvalidInput, NotFound
from lochan.kernel.records import Records
from lochan.model.ids import EMPTY_TREE, BranchName
from lochan.model.records import Commit, Repository
from lochan.operations.advance import settle
from lochan.operations.allowed import Action, require_allowed
from lochan.operations.import_arrow import SCHEMA, each_after_the_last, records_of
from lochan.operations.import_objects import ImportRequest, commit_imported, ignore
from lochan.operations.lake import Lake

_CHUNK_ROWS: Final = 50_000
_NAMES: Final = {
    "name": ("key", "path", "name"),
    "bucket": ("bucket",),
    "address": ("address", "uri", "url", "physical_address"),
    "size": ("size",),
    "e_tag": ("e_tag", "etag", "checksum", "md5"),
    "last_modified": ("last_modified", "last_modified_date", "lastmodifieddate", "lastmodified"),
}


@dataclass(frozen=True, slots=True)
class Inventory:
    """Files that list objects, and which of these are meant.

    Objects below `prefix` of their store get keys below `destination`. `scheme` is for addresses
    that are put together from bucket and name.
    """

    files: Sequence[str]
    format: str = "parquet"
    prefix: str = ""
    destination: str = ""
    scheme: str = "s3"


def import_inventory(
    lake: Lake,
    repository: Repository,
    branch: BranchName,
    inventory: Inventory,
    request: ImportRequest,
    progress: Callable[[int], None] = ignore,
) -> Commit:
    """Commit entries for the listed objects; they replace what is under the destination.

    Raises: NotFound, code nothing-to-import; InvalidInput, code invalid-inventory for columns that
    are missing, and what `records_of` and `import_objects` raise.
    """
    began = lake.branches.fresh(repository, branch)
    require_allowed(began.repository, branch, Action.IMPORT, force=lake.force)
    settle(lake, repository, branch)
    table = read_inventory(inventory)
    if not table.num_rows:
        message = f"the inventory lists nothing under {inventory.prefix!r}"
        raise NotFound(f"{message}; see where it is", code="nothing-to-import")
    progress(table.num_rows)
    ordered = table.take(pc.sort_indices(table["key"])).combine_chunks()
    snapshots = lake.storage(repository.storage_namespace).snapshots
    tree = snapshots.apply(EMPTY_TREE, _chunks(ordered, repository.storage_namespace)).id
    wanted = replace(request, replaced=(*request.replaced, folder(inventory.destination)))
    return commit_imported(lake, repository, branch, tree, wanted)


def folder(destination: str) -> bytes:
    """Give the prefix of keys that a destination stands for."""
    encoded = destination.encode()
    return encoded + b"/" if encoded and not encoded.endswith(b"/") else encoded


def read_inventory(inventory: Inventory) -> Any:  # noqa: ANN401 - an Arrow table
    """Read what is meant of an inventory, with the columns of `import_arrow`."""
    listed = pyarrow.dataset.dataset(list(inventory.files), format=inventory.format).to_table()
    return shape_inventory(listed, inventory)


def shape_inventory(listed: Any, inventory: Inventory) -> Any:  # noqa: ANN401 - Arrow tables
    """Give what is meant of a table that was read. Raises InvalidInput, code invalid-inventory."""
    found = {name: _find(listed, names) for name, names in _NAMES.items()}
    missing = [name for name in ("size", "e_tag", "last_modified") if found[name] is None]
    if found["name"] is None:
        missing.append("key")
    if found["address"] is None and found["bucket"] is None:
        missing.append("bucket or address")
    if missing:
        message = f"the inventory has no column for {', '.join(missing)}; it has"
        named = ", ".join(listed.column_names)
        raise InvalidInput(f"{message} {named}", code="invalid-inventory")
    name = found["name"].cast(pa.large_string())
    address = found["address"]
    if address is None:
        bucket = found["bucket"].cast(pa.large_string())
        address = _joined(f"{inventory.scheme}://", bucket, "/", name)
    below = pc.utf8_slice_codeunits(name, len(inventory.prefix))
    top = folder(inventory.destination).decode()
    key = _joined(top, below)
    arrays = [
        key.cast(pa.large_binary()),
        address.cast(pa.large_string()),
        found["size"].cast(pa.int64()),
        pc.utf8_trim(found["e_tag"].cast(pa.large_string()), '"'),
        _instants(found["last_modified"]),
    ]
    table = pa.Table.from_arrays(arrays, schema=SCHEMA)
    return table.filter(pc.starts_with(name, inventory.prefix))


def _joined(*parts: Any) -> Any:  # noqa: ANN401 - Arrow's
    """Put texts together, row by row."""
    texts = [pa.scalar(one, pa.large_string()) if isinstance(one, str) else one for one in parts]
    return pc.binary_join_element_wise(*texts, pa.scalar("", pa.large_string()))


def _find(table: Any, names: Sequence[str]) -> Any:  # noqa: ANN401 - Arrow's
    known = {name.lower(): name for name in table.column_names}
    return next((table[known[name]] for name in names if name in known), None)


def _instants(column: Any) -> Any:  # noqa: ANN401 - Arrow's
    if pa.types.is_integer(column.type):
        return column.cast(pa.int64())
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = column.cast(pa.timestamp("us", tz="UTC"))
    return pc.multiply(column.cast(pa.timestamp("us")).cast(pa.int64()), 1000)


def _chunks(table: Any, namespace: str) -> Iterator[Records]:  # noqa: ANN401 - Arrow's
    for batch in each_after_the_last(table.to_batches(max_chunksize=_CHUNK_ROWS)):
        yield records_of(batch, namespace)
