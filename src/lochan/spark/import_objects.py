# SPDX-License-Identifier: Apache-2.0
"""Import a list of objects with Spark: sorted by key, written as ranges by tasks, one commit.

    1. the list is parted by ranges of keys, and each part is sorted
    2. a task turns its part into ranges and stores them; rows before its first and behind its last
       cut go to the driver, with the ids of what it stored
    3. the driver joins neighbours, and commits

The list is a DataFrame: an inventory that Spark reads, a listing, the answer to a query. A task
that is run twice stores the same files. Nothing shows before the commit.
"""

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from lochan.committed.parts import Part, write_part
from lochan.committed.range import Range
from lochan.errors import InvalidInput, NotFound
from lochan.kernel.chosen import kernel
from lochan.kernel.records import Column, Records
from lochan.model.ids import BranchName, RangeId
from lochan.model.records import Commit, Repository
from lochan.operations.advance import settle
from lochan.operations.allowed import Action, require_allowed
from lochan.operations.import_arrow import each_after_the_last, records_of
from lochan.operations.import_inventory import folder
from lochan.operations.import_objects import ImportRequest, commit_imported
from lochan.operations.lake import Lake
from lochan.spark.task_storage import TaskStorage

COLUMNS: Final = ("key", "address", "size", "e_tag", "last_modified")
PARTS_A_CORE: Final = 2
# What a task tells: rows of its head and tail, and a row for each range that it stored.
_TOLD: Final = (
    "part int, kind string, key binary, identity binary, value binary, size long, rows long"
)
_HEAD, _RANGE, _TAIL = "head", "range", "tail"
_ROWS: Final = 50_000


def import_frame(
    listed: DataFrame,
    lake: Lake,
    repository: Repository,
    branch: BranchName,
    request: ImportRequest,
    *,
    destination: str = "",
    parts: int = 0,
) -> Commit:
    """Commit entries for the objects of a DataFrame; they replace what is under the destination.

    It has the columns key (below the destination), address (in full), size, e_tag and
    last_modified (a timestamp, or nanoseconds). `lake` is opened on its stores.
    Raises: NotFound, code nothing-to-import; InvalidInput, code invalid-inventory, and what
    `records_of` raises; as `import_objects`.
    """
    if missing := [name for name in COLUMNS if name not in listed.columns]:
        message = f"the list has no column {missing[0]!r}; it needs {', '.join(COLUMNS)}"
        raise InvalidInput(message, code="invalid-inventory")
    began = lake.branches.fresh(repository, branch)
    require_allowed(began.repository, branch, Action.IMPORT, force=lake.force)
    settle(lake, repository, branch)
    snapshots = lake.storage(repository.storage_namespace).snapshots
    top = folder(destination)
    session = listed.sparkSession
    count = parts or PARTS_A_CORE * session.sparkContext.defaultParallelism
    ordered = (
        _shaped(listed, top).repartitionByRange(count, f.col("key")).sortWithinPartitions("key")
    )
    work = _WritePart(TaskStorage(repository.storage_namespace, snapshots.cuts))
    with warnings.catch_warnings():  # PySpark tells of its limits with pandas, which is not used
        warnings.simplefilter("ignore", FutureWarning)
        told = ordered.mapInArrow(work, _TOLD).toArrow()
    written = _parts(told)
    if not written:
        raise NotFound("the list is empty; see where it is", code="nothing-to-import")
    tree = snapshots.join(written)
    return commit_imported(
        lake, repository, branch, tree, replace(request, replaced=(*request.replaced, top))
    )


def _shaped(listed: DataFrame, top: bytes) -> DataFrame:
    """Bring columns to the types of `import_arrow`."""
    moment = dict(listed.dtypes)["last_modified"]
    time = f.col("last_modified")
    if moment.startswith("timestamp"):
        time = f.unix_micros(time) * 1000
    key = f.concat(f.lit(bytearray(top)), f.col("key").cast("binary"))
    return listed.select(
        key.alias("key"),
        f.col("address").cast("string").alias("address"),
        f.col("size").cast("long").alias("size"),
        f.col("e_tag").cast("string").alias("e_tag"),
        time.cast("long").alias("last_modified"),
    )


@dataclass(frozen=True, slots=True)
class _WritePart:
    """The work of a task."""

    storage: TaskStorage

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Store the ranges of one part; tell the rest."""
        storage = self.storage
        chunks = (
            records_of(batch, storage.namespace)
            for batch in each_after_the_last(_rebatched(batches))
        )
        part = write_part(storage.files(), storage.cuts, chunks)
        number = storage.task_number()
        yield from _rows_told(number, _HEAD, part.head)
        for found in part.ranges:
            yield _range_told(number, found)
        yield from _rows_told(number, _TAIL, part.tail)


def _rebatched(batches: Iterator[Any]) -> Iterator[Any]:
    """Put small batches together: a part has some ten of a tenth of the kernel's appetite."""
    waiting: list[Any] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= _ROWS:
            yield _one(waiting)
            waiting, rows = [], 0
    if waiting:
        yield _one(waiting)


def _one(batches: list[Any]) -> Any:  # noqa: ANN401 - an Arrow batch
    if len(batches) == 1:
        return batches[0]
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def _rows_told(part: int, kind: str, records: Records) -> Iterator[Any]:
    for start in range(0, len(records), _ROWS):
        rows = records.slice(start, min(start + _ROWS, len(records)))
        arrays = [_octets(rows.keys), _octets(rows.identities), _octets(rows.values)]
        yield _told(part, kind, arrays, len(rows))


def _range_told(part: int, found: Range) -> Any:  # noqa: ANN401 - an Arrow batch
    texts = (found.max_key, found.id.encode(), found.min_key)
    arrays = [pa.array([one], pa.binary()) for one in texts]
    return _told(part, _RANGE, arrays, 1, found.raw_size, found.count)


def _told(part: int, kind: str, arrays: list[Any], count: int, size: int = 0, rows: int = 0) -> Any:  # noqa: ANN401 - an Arrow batch
    return pa.RecordBatch.from_arrays(
        [
            pa.array([part] * count, pa.int32()),
            pa.array([kind] * count, pa.string()),
            *arrays,
            pa.array([size] * count, pa.int64()),
            pa.array([rows] * count, pa.int64()),
        ],
        names=["part", "kind", "key", "identity", "value", "size", "rows"],
    )


def _octets(column: Column) -> Any:  # noqa: ANN401 - an Arrow array
    buffers = [None, pa.py_buffer(column.offsets), pa.py_buffer(column.data)]
    return pa.Array.from_buffers(pa.large_binary(), len(column), buffers).cast(pa.binary())


def _parts(told: Any) -> list[Part]:  # noqa: ANN401 - an Arrow table
    """Read what all tasks told, in the order of their keys."""
    kinds: dict[tuple[int, str], list[Any]] = {}
    for batch in told.combine_chunks().to_batches():
        _sort_out(batch, kinds)
    numbers = sorted({number for number, _ in kinds})
    found = [
        Part(
            _records(kinds.get((number, _HEAD), [])),
            tuple(_ranges(kinds.get((number, _RANGE), []))),
            _records(kinds.get((number, _TAIL), [])),
        )
        for number in numbers
    ]
    return sorted(found, key=_first_key)


def _sort_out(batch: Any, kinds: dict[tuple[int, str], list[Any]]) -> None:  # noqa: ANN401
    """Cut a batch where part or kind changes: rows of one are told one after the other."""
    parts, names = batch["part"].to_pylist(), batch["kind"].to_pylist()
    start = 0
    for stop in range(1, batch.num_rows + 1):
        place = (parts[start], names[start])
        if stop == batch.num_rows or (parts[stop], names[stop]) != place:
            kinds.setdefault(place, []).append(batch.slice(start, stop - start))
            start = stop


def _records(batches: list[Any]) -> Records:
    rows = [
        Records(*(_column(batch[name]) for name in ("key", "identity", "value")))
        for batch in batches
    ]
    return kernel.concat(rows)


def _column(array: Any) -> Column:  # noqa: ANN401 - an Arrow array
    large = pa.concat_arrays([array.cast(pa.large_binary())])
    _, offsets, data = large.buffers()
    whole = memoryview(offsets).cast("B").cast("q")
    content = memoryview(data).cast("B") if data is not None else b""
    return Column(content, whole[large.offset : large.offset + len(large) + 1])


def _ranges(batches: Iterable[Any]) -> Iterator[Range]:
    for batch in batches:
        for row in batch.to_pylist():
            name = RangeId(row["identity"].decode())
            yield Range(name, row["value"], row["key"], row["size"], row["rows"])


def _first_key(part: Part) -> bytes:
    return part.head.keys[0]
