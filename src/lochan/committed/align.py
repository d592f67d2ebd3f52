# SPDX-License-Identifier: Apache-2.0
"""Cut the key space of several metaranges at points that no range of any of them crosses.

        base    [ a      ][ b    ]           [ d ]
        dest    [ a      ][ b'      ]        [ d ]
        source  [ a  ][ a'' ][ b ]   [ c  ]  [ d ]
        aligned |___________________||_____| |___|

What lies between two such points can be decided by itself, most often by the ids alone.
"""

from collections.abc import Iterator

from lochan.committed.metarange import MetaRange
from lochan.committed.range import Range

Segment = tuple[list[Range], ...]


def aligned(*metaranges: MetaRange) -> Iterator[Segment]:
    """Give the ranges of all metaranges, in key order, by segments; a side may have none in one."""
    ahead = [_Ahead(metarange) for metarange in metaranges]
    while any(side.next is not None for side in ahead):
        end = min(side.next.min_key for side in ahead if side.next is not None)
        segment: Segment = tuple([] for _ in ahead)
        grown = True
        while grown:  # a range taken in may reach into one of a side looked at before
            grown = False
            for side, taken in zip(ahead, segment, strict=True):
                while side.next is not None and side.next.min_key <= end:
                    taken.append(side.next)
                    end = max(end, side.next.max_key)
                    side.step()
                    grown = True
        yield segment


class _Ahead:
    """A metarange being read, and the range that comes next."""

    __slots__ = ("_ranges", "next")

    def __init__(self, metarange: MetaRange) -> None:
        self._ranges = iter(metarange)
        self.next: Range | None = None
        self.step()

    def step(self) -> None:
        self.next = next(self._ranges, None)
