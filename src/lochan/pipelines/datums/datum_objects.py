# SPDX-License-Identifier: Apache-2.0
"""The objects that a datum's outputs need."""

from lochan.model.codec import decode_entry
from lochan.model.entry import addresses_of
from lochan.pipelines.model.datum import DatumRow


def addresses_in(row: DatumRow) -> frozenset[str] | None:
    """Name the objects of a datum's outputs; None where one lies elsewhere, and cannot be kept."""
    entries = [decode_entry(output.entry) for output in row.outputs]
    if not all(entry.is_relative for entry in entries):
        return None
    return frozenset(address for entry in entries for address in addresses_of(entry))
