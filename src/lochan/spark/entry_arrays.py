# SPDX-License-Identifier: Apache-2.0
"""Rows of ranges as Arrow arrays: the kernel's columns, mostly without a copy."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from lochan.kernel.chosen import kernel
from lochan.kernel.interface import EntryColumns
from lochan.kernel.records import Column, Records
from lochan.model.entry import AddressType
from lochan.objects.namespace import Namespace

Array = Any  # pyarrow has no types
MOMENT: Final = pa.timestamp("us", tz="UTC")


class EntryArrays:
    """The columns of some entries; each is made when it is asked for."""

    def __init__(self, records: Records, namespace: str) -> None:
        """Show records, whose relative addresses are below a namespace."""
        self._records = records
        self._namespace = namespace

    def column(self, name: str) -> Array:
        """Give a column by its name."""
        return _COLUMNS[name](self)

    @cached_property
    def entries(self) -> EntryColumns:
        """The fields of the entries."""
        return kernel.decode_entries(self._records.values)

    @property
    def path(self) -> Array:
        """Keys as text."""
        return text(self._records.keys)

    @property
    def physical_address(self) -> Array:
        """Addresses in full; empty for a file of several blocks."""
        address = text(self.entries.addresses)
        kinds = numbers(self.entries.address_types)
        old = pc.and_(
            pc.equal(kinds, int(AddressType.BY_PREFIX_DEPRECATED)),
            pc.invert(pc.match_substring(address, "://")),
        )
        inside = pc.or_(old, pc.equal(kinds, int(AddressType.RELATIVE)))
        top = Namespace.parse(self._namespace).physical("")
        full = pc.binary_join_element_wise(top, address, "")
        wanted = pc.and_(inside, pc.not_equal(address, ""))
        return pc.if_else(wanted, full, address)

    @property
    def metadata(self) -> Array:
        """What users attached."""
        entries = self.entries
        return pa.MapArray.from_arrays(
            numbers(entries.metadata_offsets).cast(pa.int32()),
            text(entries.metadata_keys),
            text(entries.metadata_values),
        )


_COLUMNS: Final[dict[str, Callable[[EntryArrays], Array]]] = {
    "path": lambda shown: shown.path,
    "physical_address": lambda shown: shown.physical_address,
    "size_bytes": lambda shown: numbers(shown.entries.sizes),
    "checksum": lambda shown: text(shown.entries.e_tags),
    "mtime": lambda shown: numbers(shown.entries.last_modified, MOMENT),
    "content_type": lambda shown: text(shown.entries.content_types),
    "metadata": lambda shown: shown.metadata,
}


def text(column: Column) -> Array:
    """Show a column as text; bytes that are none are shown as replaced."""
    buffers = [None, pa.py_buffer(column.offsets), pa.py_buffer(column.data)]
    octets = pa.Array.from_buffers(pa.large_binary(), len(column), buffers)
    try:
        return octets.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([one.decode(errors="replace") for one in column], pa.string())


def numbers(view: memoryview, kind: Any = None) -> Array:  # noqa: ANN401 - pyarrow has no types
    """Show numbers, or moments, of 64 bits."""
    return pa.Array.from_buffers(kind or pa.int64(), len(view), [None, pa.py_buffer(view)])
