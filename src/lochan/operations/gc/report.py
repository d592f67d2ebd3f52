# SPDX-License-Identifier: Apache-2.0
"""What a run found and did, in numbers and examples."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from lochan.model.instant import EPOCH, Instant
from lochan.operations.gc.condemned import Dead

EXAMPLES = 10
PARTITIONS = 20


class Amount(msgspec.Struct, frozen=True):
    """So many objects, of so many bytes."""

    count: int = 0
    size: int = 0

    @classmethod
    def of(cls, dead: Iterable[Dead]) -> "Amount":
        """Add up."""
        count = size = 0
        for each in dead:
            count, size = count + 1, size + each.size
        return cls(count, size)


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """One run, or what one would do now.

    `listed` is all that is under data/; `dead` what nothing shows any more; `due` the dead whose
    grace is over, which a run moves to the trash; `waiting` the rest of the dead. `next_due` is
    when the first of these can go, 0 if none waits. `partitions` and `examples` are of the dead.
    """

    run: str
    is_plan: bool
    time: Instant
    listed: Amount
    young: int
    dead: Amount
    due: Amount
    waiting: Amount
    moved: int = 0
    next_due: Instant = EPOCH
    commits_kept: int = 0
    commits_expired: int = 0
    ranges: int = 0
    branches_removed: int = 0  # private ones that were left behind
    partitions: dict[str, Amount] = msgspec.field(default_factory=dict)
    examples: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """How much of the store a run would move: the larger of the shares by count and size."""
        by_count = self.due.count / self.listed.count if self.listed.count else 0.0
        by_size = self.due.size / self.listed.size if self.listed.size else 0.0
        return max(by_count, by_size)


def largest_partitions(dead: Iterable[Dead]) -> dict[str, Amount]:
    """Add up by partition, and give those with the most."""
    counts, sizes = Counter[str](), Counter[str]()
    for each in dead:
        partition = each.address.split("/", 2)[1]
        counts[partition] += 1
        sizes[partition] += each.size
    most = sorted(counts, key=lambda name: (-sizes[name], name))[:PARTITIONS]
    return {name: Amount(counts[name], sizes[name]) for name in most}
