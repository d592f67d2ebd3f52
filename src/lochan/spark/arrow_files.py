# SPDX-License-Identifier: Apache-2.0
"""Files as Arrow record batches: Parquet, CSV and lines of JSON.

Which kind a file is says the option `fileFormat`, else its name. CSV has a line of names at its top
unless the option `header` says false. A name that ends in .gz, .bz2 or .zst says how CSV and JSON
are packed.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.json
import pyarrow.parquet

from lochan.errors import InvalidInput

BATCH_ROWS: Final = 1 << 16
KINDS: Final = {
    "parquet": "parquet",
    "csv": "csv",
    "json": "json",
    "jsonl": "json",
    "ndjson": "json",
}
_PACKED: Final = {"gz": "gzip", "bz2": "bz2", "zst": "zstd"}
_PARQUET: Final = pa.dataset.ParquetFileFormat()


def kind_of(path: str, options: Mapping[str, str]) -> str:
    """Say of which kind a file is. Raises InvalidInput."""
    said = options.get("fileFormat", "").lower()
    parts = path.rpartition("/")[2].lower().split(".")
    named = parts[-2] if len(parts) > 2 and parts[-1] in _PACKED else parts[-1]  # noqa: PLR2004 - name.kind.packed
    kind = KINDS.get(said or named)
    if kind is None:
        known = ", ".join(sorted(set(KINDS.values())))
        message = f"nothing says of which kind {path!r} is; give option fileFormat: {known}"
        raise InvalidInput(message, code="unknown-format")
    return kind


def arrow_schema(source: Any, path: str, options: Mapping[str, str]) -> pa.Schema:  # noqa: ANN401 - what pyarrow reads from
    """Say which columns a file has."""
    kind = kind_of(path, options)
    if kind == "parquet":
        return pa.parquet.read_schema(source)
    if kind == "csv":
        return _csv(_unpacked(source, path), options, None).schema
    return pa.json.read_json(_unpacked(source, path)).schema


def batches(
    source: Any,  # noqa: ANN401 - what pyarrow reads from
    path: str,
    options: Mapping[str, str],
    wanted: pa.Schema,
) -> Iterator[pa.RecordBatch]:
    """Give the rows of a file; of the wanted columns those that it has."""
    kind = kind_of(path, options)
    if kind == "parquet":
        yield from _parquet(source, wanted)
    elif kind == "csv":
        yield from _csv(_unpacked(source, path), options, wanted)
    else:
        yield from _json(_unpacked(source, path), wanted)


def _parquet(source: Any, wanted: pa.Schema) -> Iterator[pa.RecordBatch]:  # noqa: ANN401 - pyarrow has no types
    fragment = _PARQUET.make_fragment(source)
    has = set(fragment.physical_schema.names)
    columns = [name for name in wanted.names if name in has]
    yield from fragment.to_batches(columns=columns, batch_size=BATCH_ROWS)


def _csv(source: Any, options: Mapping[str, str], wanted: pa.Schema | None) -> Any:  # noqa: ANN401 - pyarrow has no types
    has_names = options.get("header", "true").lower() != "false"
    names = None if has_names or wanted is None else wanted.names
    return pa.csv.open_csv(
        source,
        read_options=pa.csv.ReadOptions(
            column_names=names, autogenerate_column_names=not has_names and names is None
        ),
        parse_options=pa.csv.ParseOptions(delimiter=options.get("sep", ",")),
        convert_options=pa.csv.ConvertOptions(
            column_types=None if wanted is None else dict(zip(wanted.names, wanted.types)),  # noqa: B905 - of one schema
            strings_can_be_null=True,
        ),
    )


def _json(source: Any, wanted: pa.Schema) -> Iterator[pa.RecordBatch]:  # noqa: ANN401 - pyarrow has no types
    parse = pa.json.ParseOptions(explicit_schema=wanted, unexpected_field_behavior="ignore")
    yield from pa.json.read_json(source, parse_options=parse).to_batches(BATCH_ROWS)


def _unpacked(source: Any, path: str) -> Any:  # noqa: ANN401 - what pyarrow reads from
    packed = _PACKED.get(path.rpartition(".")[2].lower())
    return source if packed is None else pa.CompressedInputStream(source, packed)
