# SPDX-License-Identifier: Apache-2.0
"""Where ranges end: a rule of the records alone, so that equal records give equal ranges.

A range ends after a record when FNV-1a-64(key) mod raggedness is 0 (a *hash* cut), or when the raw
size of the records since the last cut reaches the cap (a *size* cut). The last range of a snapshot
may have neither: it just *ends*, and whatever is added behind it belongs to it.

A hash cut depends on one key and nothing before it. So a change moves cuts only up to the next hash
cut that is still there, and everything behind that stays as it was.

Which cut ends a range follows from its metarange row, without opening it.
"""

from dataclasses import dataclass

from lochan.committed.range import Range
from lochan.errors import InvalidInput
from lochan.kernel.chosen import kernel
from lochan.kernel.records import Records

HASH, SIZE, END = b"hash", b"size", b"end"


@dataclass(frozen=True, slots=True)
class Cuts:
    """The two numbers behind the rule. A lake keeps them: others would cut everything anew."""

    raggedness: int = 50_000  # records a range on average, as lakeFS
    cap_bytes: int = 64 << 20

    def __post_init__(self) -> None:
        if self.raggedness < 1 or self.cap_bytes < 1:
            raise InvalidInput(f"raggedness and cap_bytes are at least 1, not {self}")

    def kind(self, max_key: bytes, raw_size: int) -> bytes:
        """Name the cut that ends a range; the file says it in its property `lochan.cut`."""
        if kernel.fnv1a64(max_key) % self.raggedness == 0:
            return HASH
        return SIZE if raw_size >= self.cap_bytes else END

    def ends(self, found: Range) -> bool:
        """Say whether a range ends by the rule, so that another may follow it."""
        return self.kind(found.max_key, found.raw_size) != END

    def points(self, records: Records, carried: int) -> memoryview:
        """Find the cuts in records that follow `carried` bytes of unfinished ones."""
        return kernel.cut_points(records, self.raggedness, self.cap_bytes, carried)
