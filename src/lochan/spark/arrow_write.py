# SPDX-License-Identifier: Apache-2.0
"""Write the rows of one task as files: Parquet or CSV, one for each partition's value.

A file is finished on the task's own disk, then stored whole under a name that no other attempt of
any task has. So failed and repeated attempts never touch each other's files; what no message names
is never linked, and collection takes it.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput
from lochan.spark.put_files import Target

FORMATS: Final = ("parquet", "csv")
_NULL: Final = "__HIVE_DEFAULT_PARTITION__"
_MOST_OPEN: Final = 64
_SAFE: Final = "-_.~ ,+"
_CHUNK: Final = 1 << 20


class WrittenFile(NamedTuple):
    """A file that a task has stored: its path below the folder, and where it is."""

    path: str
    address: str
    size: int
    checksum: str


@dataclass(frozen=True, slots=True)
class Layout:
    """How rows become files."""

    format: str = "parquet"
    partition_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what cannot be written."""
        if self.format not in FORMATS:
            message = f"files are written as {' or '.join(FORMATS)}, not as {self.format!r}"
            raise InvalidInput(message, code="unknown-format")


def write_rows(
    batches: Iterable[pa.RecordBatch], layout: Layout, target: Target
) -> list[WrittenFile]:
    """Write the rows of a task, and say which files came of it."""
    with TemporaryDirectory(prefix="lochan-write-") as folder:
        rows = _Rows(layout, target, Path(folder))
        try:
            for batch in batches:
                rows.add(batch)
            return rows.finish()
        finally:
            rows.close()


class _Rows:
    """Open files by the partitions that they are for."""

    def __init__(self, layout: Layout, target: Target, folder: Path) -> None:
        self._layout = layout
        self._target = target
        self._folder = folder
        self._name = f"part-{RealEnvironment().new_id()}"
        self._open: dict[str, tuple[Path, Any]] = {}
        self._done: list[WrittenFile] = []

    def add(self, batch: pa.RecordBatch) -> None:
        for place, rows in split(batch, self._layout.partition_by):
            if place not in self._open and len(self._open) >= _MOST_OPEN:
                self._store(next(iter(self._open)))
            if place not in self._open:
                number = len(self._done) + len(self._open)
                path = self._folder / f"{self._name}-{number}.{self._layout.format}"
                self._open[place] = path, _writer(path, self._layout.format, rows.schema)
            self._open[place][1].write_batch(rows)

    def finish(self) -> list[WrittenFile]:
        for place in list(self._open):
            self._store(place)
        return self._done

    def close(self) -> None:
        with ExitStack() as closing:
            for _, writer in self._open.values():
                closing.callback(writer.close)
        self._open.clear()

    def _store(self, place: str) -> None:
        path, writer = self._open.pop(place)
        writer.close()
        size, checksum = path.stat().st_size, _md5(path)
        logical = f"{place}{path.name}"
        address = self._target.put(logical, path, size)
        path.unlink()
        self._done.append(WrittenFile(logical, address, size, checksum))


def split(batch: pa.RecordBatch, names: Sequence[str]) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Part rows by the values of columns, which become folders: a=1/b=x/."""
    if not names:
        yield "", batch
        return
    if missing := [name for name in names if name not in batch.schema.names]:
        raise InvalidInput(f"partitionBy names {missing[0]!r}, which is no column")
    rest = [name for name in batch.schema.names if name not in names]
    if not rest:
        raise InvalidInput("partitionBy names all columns; at least one must stay in the files")
    keys = pa.table([batch.column(name) for name in names], names=list(names))
    for values in keys.group_by(list(names)).aggregate([]).to_pylist():
        mask = None
        for name, value in values.items():
            column = batch.column(name)
            same = (
                pc.is_null(column)
                if value is None
                else pc.equal(column, pa.scalar(value, column.type))
            )
            mask = same if mask is None else pc.and_kleene(mask, same)
        place = "".join(f"{_spelled(name)}={_shown(value)}/" for name, value in values.items())
        yield place, batch.filter(mask).select(rest)


def _shown(value: object) -> str:
    if value is None or value == "":
        return _NULL
    return _spelled(str(value).lower() if isinstance(value, bool) else str(value))


def _spelled(text: str) -> str:
    return quote(text, safe=_SAFE)


def _writer(path: Path, kind: str, schema: pa.Schema) -> Any:  # noqa: ANN401 - pyarrow has no types
    if kind == "csv":
        return pa.csv.CSVWriter(path, schema)
    return pa.parquet.ParquetWriter(path, schema)


def _md5(path: Path) -> str:
    found = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            found.update(chunk)
    return found.hexdigest()
