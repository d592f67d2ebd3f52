# SPDX-License-Identifier: Apache-2.0
"""The committed tree: immutable snapshots of a key space, cheap to change, compare and merge.

A snapshot is a *metarange*: a table file whose rows name *ranges*, table files that hold the
records. Files are named by their content, so that equal parts of two snapshots are the same file: a
change writes the ranges it touches and one metarange, a comparison opens only what differs. Where
ranges end depends on the records alone (`cuts`): the same records give the same ranges, whatever
the way there.

Reading order: cuts, range, metarange, memory and disk (the tiers), files (a file by its id), writer
(pieces in, metarange out), parts (many writers), then the algorithms: apply, replace, join, diff,
align, merge, cursor, listing, lookup, verify; `snapshots` is the face that the rest of Lochan uses.

Invariants: D1 a file's name is the hash of its records. D2 the ranges of a metarange are ordered
and do not overlap. D3 work is proportional to the change. D4 equal records, equal ranges. The empty
snapshot has the id "" and no file. Formats: docs/formats/metarange.md, docs/formats/ids.md.
"""

from lochan.committed.apply import Applied
from lochan.committed.cuts import Cuts
from lochan.committed.diff import Differences
from lochan.committed.disk import DiskTier
from lochan.committed.files import Files
from lochan.committed.merge import Merged
from lochan.committed.snapshots import Snapshots

__all__ = ["Applied", "Cuts", "Differences", "DiskTier", "Files", "Merged", "Snapshots"]
