# SPDX-License-Identifier: Apache-2.0
"""The objects that an inventory file lists below a source, for an import without Spark.

The file is Parquet, or CSV with a line of names (`.csv`, `.csv.gz`), and has the columns that
`import_inventory` knows. It is read whole, so it has at most a gigabyte; rows of other places are
passed over.
"""

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from lochan.errors import InvalidInput
from lochan.model.instant import Instant
from lochan.objects.foreign import is_file
from lochan.objects.store import ObjectStore
from lochan.operations.import_inventory import Inventory, shape_inventory
from lochan.operations.import_objects import ListedObject

MOST_BYTES: Final = 1 << 30
_ROWS: Final = 20_000
_WANTED: Final = ("address", "size", "e_tag", "last_modified")
_CHANGES_FOLDER: Final = frozenset({"", ".", ".."})


def list_inventory(
    store: ObjectStore, name: str, source: str, destination: bytes
) -> Iterator[ListedObject]:
    """Give what a file of a store lists below a source, which ends with a slash.

    Raises: NotFound for the file; InvalidInput, code invalid-inventory.
    """
    if store.head(name).size > MOST_BYTES:
        message = f"the inventory {name!r} is larger than {MOST_BYTES >> 20} MiB"
        raise InvalidInput(f"{message}; import it with lochan.spark", code="invalid-inventory")
    with store.get(name) as reading:
        data = reading.read()
    scheme = source.partition("://")[0]
    table = shape_inventory(_read(data, name), Inventory((), scheme=scheme))
    for batch in table.to_batches(max_chunksize=_ROWS):
        rows = zip(*(batch[one].to_pylist() for one in _WANTED), strict=True)
        for address, size, e_tag, modified in rows:
            if None in (address, size, e_tag, modified):
                message = f"an object of {name!r} lacks one of {', '.join(_WANTED)}"
                raise InvalidInput(f"{message}; every one has these", code="invalid-inventory")
            if address.startswith(source) and address != source:
                below = address[len(source) :]
                _require_below(below, address)
                yield ListedObject(
                    destination + below.encode(), address, size, e_tag, Instant(modified)
                )


def _require_below(below: str, address: str) -> None:
    """Refuse names of files that lead out of their folder."""
    if is_file(address) and not _CHANGES_FOLDER.isdisjoint(below.split("/")):
        message = f"{address!r} has an empty, '.' or '..' segment; write the plain path"
        raise InvalidInput(message, code="invalid-address")


def _read(data: bytes, name: str) -> Any:  # noqa: ANN401 - an Arrow table
    source = pa.BufferReader(data)
    try:
        if name.endswith(".csv.gz"):
            return pyarrow.csv.read_csv(pa.CompressedInputStream(source, "gzip"))
        if name.endswith(".csv"):
            return pyarrow.csv.read_csv(source)
        return pyarrow.parquet.read_table(source)
    except (pa.ArrowInvalid, OSError) as error:
        message = f"{name!r} is neither Parquet nor CSV with a line of names"
        raise InvalidInput(f"{message}; see what it is", code="invalid-inventory") from error
