# SPDX-License-Identifier: Apache-2.0
"""Say why a plan is what it is, to people: above all why a glob matches nothing.

    input 'img': glob /*.jpg matched 0 of 812 paths; nearest level: /*/*.jpg (790 paths)

Where nothing is matched the same last step is tried at other depths, then every depth with plain
stars; of those that match something the one nearest in depth is named. A large tree is looked at by
its first paths only, and the message says so.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Final

from lochan.committed import Snapshots
from lochan.errors import InvalidInput
from lochan.model.ids import EMPTY_TREE, MetaRangeId
from lochan.pipelines.model.datum import Datum
from lochan.pipelines.specs.globs import Glob, parse_glob

LOOKED_AT: Final = 20_000  # paths, at most
_DEEPEST: Final = 12
_LARGE_SHARE: Final = 0.5


def explain_match(snapshots: Snapshots, tree: MetaRangeId, name: str, glob: str) -> str:
    """Say how many paths of a tree an input's glob matches, and what would match if none does."""
    keys = _first_keys(snapshots, tree)
    total = sum(found.count for found in snapshots.files.metarange(tree))
    shown = glob if glob.startswith("/") else f"/{glob}"
    matched = _matched(parse_glob(glob), keys)
    among = f"{total} paths" if total == len(keys) else f"the first {len(keys)} of {total} paths"
    said = f"input {name!r}: glob {shown} matched {matched} of {among}"
    if matched:
        return said
    if not total:
        return f"input {name!r}: there are no files at all, so glob {shown} matched none"
    near = _nearest(shown, keys)
    return f"{said}; nearest level: {near[0]} ({near[1]} paths)" if near else said


def explain_size(datums: Sequence[Datum]) -> str:
    """Warn of a datum that is most of the work: then there is little to share out; else say ""."""
    total = sum(datum.bytes for datum in datums)
    largest = max(datums, key=lambda datum: datum.bytes, default=None)
    if len(datums) < 2 or largest is None or largest.bytes <= _LARGE_SHARE * total:  # noqa: PLR2004 - one datum is meant
        return ""
    read = ", ".join(file.key.decode(errors="replace") for file in largest.files)
    share = round(100 * largest.bytes / total)
    return f"one datum ({read}) has {share}% of all bytes; a deeper glob would part it"


def _first_keys(snapshots: Snapshots, tree: MetaRangeId) -> list[bytes]:
    batches = snapshots.diff(EMPTY_TREE, tree)
    return list(islice((key for some in batches for key in some.right.keys), LOOKED_AT))


def _matched(glob: Glob, keys: Sequence[bytes]) -> int:
    return sum(any(True for _ in glob.parts_of(key)) for key in keys if not key.endswith(b"/"))


def _nearest(glob: str, keys: Sequence[bytes]) -> tuple[str, int] | None:
    """Find the nearest depth at which the last step, or else a plain star, matches anything."""
    steps = glob.strip("/").split("/")
    deepest = min(_DEEPEST, max(key.count(b"/") for key in keys) + 1)
    depths = sorted(range(1, deepest + 1), key=lambda depth: (abs(depth - len(steps)), depth))
    for last in dict.fromkeys((steps[-1], "*")):
        for depth in depths:
            tried = "/*" * (depth - 1) + f"/{last}"
            try:
                matched = _matched(parse_glob(tried), keys)
            except InvalidInput:  # a bracket that spans steps was torn apart
                break
            if matched:
                return tried, matched
    return None
