# SPDX-License-Identifier: Apache-2.0
"""What a job takes from its attempts: rows that were written where the user's code ran (S25).

Nothing of them is believed before it was looked at:

    datum       the one that was asked for: id and hash are the plan's own
    job         this one
    key         as `Out` takes them: no empty segment, no "." and no "..", not too long
    entry       of an object below data/ in the output's own namespace, and of no blocks: what lies
                elsewhere is not the pipeline's to show, and what lies below _work/ goes
"""

from typing import Final

import msgspec

from lochan.errors import Corruption, InvalidInput, JobFailed
from lochan.model.codec import decode_entry
from lochan.model.ids import valid_object_key
from lochan.objects.address import DATA
from lochan.pipelines.model.datum import Datum, DatumRow, OutputFile

_BELOW: Final = f"{DATA}/"
_NEVER: Final = frozenset({b"", b".", b".."})


def valid_output_key(key: bytes) -> bytes:
    """Accept the key of an output file. Raises InvalidInput."""
    valid_object_key(key)
    if not _NEVER.isdisjoint(key.split(b"/")):
        message = f"{key!r} has an empty, '.' or '..' segment; leave it out"
        raise InvalidInput(message, code="invalid-object-path")
    return key


def accepted_row(row: DatumRow, datum: Datum, job: str) -> DatumRow:
    """Accept what an attempt says of a datum, under the plan's number.

    Raises JobFailed, code row-not-accepted.
    """
    if (row.id, row.hash, row.job) != (datum.id, datum.hash, job):
        raise _refused(datum, "its row is another's")
    keys = [output.key for output in row.outputs]
    if len(keys) != len(set(keys)):
        raise _refused(datum, "its row names an output twice")
    for output in row.outputs:
        _require_own(datum, output)
    return msgspec.structs.replace(row, number=datum.number)


def _require_own(datum: Datum, output: OutputFile) -> None:
    try:
        valid_output_key(output.key)
        entry = decode_entry(output.entry)
    except (InvalidInput, Corruption) as error:
        raise _refused(datum, error.message) from error
    address = entry.address
    is_inside = entry.is_relative and not entry.blocks and address.startswith(_BELOW)
    if not is_inside or ".." in address.split("/"):
        raise _refused(datum, f"{output.key!r} lies at {address!r}, not below {_BELOW}")


def _refused(datum: Datum, reason: str) -> JobFailed:
    message = f"what was written for datum {datum.id.hex()[:12]} is refused: {reason}"
    return JobFailed(message, code="row-not-accepted", datum=datum.id.hex())
